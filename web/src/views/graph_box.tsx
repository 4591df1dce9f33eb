// The graph in its box: moved by pointer and keys, chosen box by box along its lines, drawn only where it is in sight.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { chooseBox, openBlock } from '../actions/graph';
import type { Box } from '../graph/fold';
import { type BoxLoss, GraphPicture } from '../pictures/graph';
import { kPagePalette } from '../pictures/palette';
import { announce } from '../state/announce';
import { chosenBox, graphAxis, type LaidOut, lossOf, lossSpan, net } from '../state/graph';
import { isBeyond } from '../state/threshold';
import { boxWords, linkWords } from '../text/graph_words';
import { useBoxView } from './box_view';
import { type PanZoom, usePanZoom } from './pan_zoom';

/** What the pointer is on, in words. */
export const hovered = signal<string | null>(null);

/** For the buttons beside the picture. */
export const panning = signal<PanZoom | null>(null);

export function wordsOf(box: Box): string {
  return boxWords(box, net.value, lossOf(box.nodes), graphAxis.value);
}

export function boxLoss(box: Box): BoxLoss {
  const axis = graphAxis.value;
  const { weight, activation } = lossOf(box.nodes);
  const [least, most] = lossSpan.value;
  const share = (row: typeof weight): number | null =>
    row === null || axis === null ? null : Math.max(0, axis.share(row.score) - least) / (most - least);
  const worse = axis?.higherIsWorse ?? false;
  return {
    weight: share(weight),
    activation: share(activation),
    beyond: [weight, activation].some((row) => row !== null && isBeyond(row.score, worse)),
    title: boxWords(box, net.value, { weight, activation }, axis),
  };
}

/** The tensor of a box that the inspector should show: its worst quantizer, or what it makes. */
function tensorOf(box: Box): string | null {
  const { weight, activation } = lossOf(box.nodes);
  const axis = graphAxis.value;
  const share = (row: typeof weight): number => (row === null || axis === null ? -1 : axis.share(row.score));
  const worst = share(weight) >= share(activation) ? weight : activation;
  const first = net.value.nodes[box.nodes[0] ?? 0];
  return worst?.sites[0] ?? worst?.name ?? first?.makes[0] ?? first?.reads[0]?.tensor ?? null;
}

export function choose(box: Box): void {
  chooseBox(box.id, tensorOf(box));
  announce(wordsOf(box));
}

/** The box that a key leads to: along the lines up and down, in the order of the graph left and right. */
function nextBox({ folded: { boxes, links } }: LaidOut, key: string): number | null {
  const now = boxes.findIndex(({ id }) => id === chosenBox.value);
  if (now < 0 && key !== 'End') return boxes.length > 0 ? 0 : null;
  switch (key) {
    case 'ArrowDown':
      return links.find(({ from }) => from === now)?.to ?? null;
    case 'ArrowUp':
      return links.find(({ to }) => to === now)?.from ?? null;
    case 'ArrowRight':
      return now + 1 < boxes.length ? now + 1 : null;
    case 'ArrowLeft':
      return now > 0 ? now - 1 : null;
    case 'Home':
      return 0;
    case 'End':
      return boxes.length - 1;
    default:
      return null;
  }
}

/** What is chosen stays where it is while everything around it grows or shrinks. */
export function zoomAtChosen({ folded, layout }: LaidOut, pan: PanZoom, factor: number): void {
  const at = folded.boxes.findIndex(({ id }) => id === chosenBox.value);
  pan.zoomBy(factor, pan.onScreen(layout.places[at]));
}

function onKey(event: KeyboardEvent, made: LaidOut, pan: PanZoom): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { boxes } = made.folded;
  const { key } = event;
  if (key === '+' || key === '=') zoomAtChosen(made, pan, 1.3);
  else if (key === '-') zoomAtChosen(made, pan, 1 / 1.3);
  else if (key === '0') pan.fit(made.layout);
  else if (key === 'Enter') {
    const block = boxes.find(({ id }) => id === chosenBox.value)?.block ?? null;
    if (block !== null) openBlock(block);
  } else if (/^(Arrow(Up|Down|Left|Right)|Home|End)$/.test(key)) {
    const next = nextBox(made, key);
    const box = next === null ? undefined : boxes[next];
    if (next !== null && box !== undefined) {
      choose(box);
      pan.reveal(made.layout.places[next] ?? [0, 0]);
    }
  } else return;
  event.preventDefault();
}

/** A layout of other boxes: what was chosen stays in sight at the same size, otherwise all of it is. */
function useFraming(made: LaidOut, pan: PanZoom, ready: boolean): void {
  const framed = useRef<LaidOut['layout'] | null>(null);
  useLayoutEffect(() => {
    if (!ready || framed.current === made.layout) return;
    const at = made.folded.boxes.findIndex(({ id }) => id === chosenBox.value);
    const place = made.layout.places[at];
    if (framed.current !== null && place !== undefined) pan.reveal(place, true);
    else pan.fit(made.layout);
    framed.current = made.layout;
  });
}

export function GraphBox({ made }: { made: LaidOut }): VNode {
  const { box: sized, view } = useBoxView();
  const { box, group, pan, drawn } = usePanZoom(view);
  panning.value = pan;
  useFraming(made, pan, sized.current !== null);
  const { folded, layout } = made;
  const boxAt = (target: EventTarget | null): Box | undefined => {
    const at = target instanceof Element ? target.closest('[data-box]')?.getAttribute('data-box') : null;
    return at == null ? undefined : folded.boxes[Number(at)];
  };
  const onHover = ({ target }: Event): void => {
    const found = boxAt(target);
    const line = target instanceof Element ? target.getAttribute('data-link') : null;
    const link = line === null ? undefined : folded.links[Number(line)];
    hovered.value = found !== undefined ? wordsOf(found) : link !== undefined ? linkWords(link) : null;
  };
  return (
    <section
      class="bars-box graph-box"
      ref={(element) => {
        sized.current = element;
        box.current = element;
      }}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: takes arrow keys, and has its table
      tabIndex={0}
      aria-label="Graph. Up and down follow the lines, left and right the order, Enter opens a block, plus and minus zoom; the table has the same numbers."
      onKeyDown={(event) => onKey(event, made, pan)}
      onPointerOver={onHover}
      onPointerLeave={() => {
        hovered.value = null;
      }}
      onClick={({ target }) => {
        const found = pan.dragged ? undefined : boxAt(target);
        if (found !== undefined) choose(found);
      }}
      onDblClick={({ target }) => {
        const block = boxAt(target)?.block;
        if (block != null) openBlock(block);
      }}
    >
      <svg
        class="graph"
        width="100%"
        height="100%"
        role="img"
        aria-label={`${folded.boxes.length} boxes and ${folded.links.length} lines`}
      >
        <g ref={group}>
          {drawn !== null && (
            <GraphPicture
              {...{ folded, layout }}
              {...drawn}
              lossOf={boxLoss}
              chosen={chosenBox.value}
              palette={kPagePalette}
            />
          )}
        </g>
      </svg>
    </section>
  );
}
