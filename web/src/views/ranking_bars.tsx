// The ranking's picture in its box: draws the bars in sight, follows the width, selects by pointer and by arrow keys.
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { describeRanking, kAxisHeight, RankingAxis, RankingBars } from '../pictures/ranking';
import { type Entry, layoutRanking, type RankingLayout } from '../pictures/ranking_layout';
import { announce } from '../state/announce';
import { selected } from '../state/store';
import { decibel, printable } from '../text/format';

/** Pictures up to this many bars are drawn whole. */
const kWhole = 150;
const kBeyond = 10;

interface View {
  width: number;
  top: number;
  height: number;
}

function useView(): { box: { current: HTMLElement | null }; view: View; onScroll: () => void } {
  const box = useRef<HTMLElement>(null);
  const [view, setView] = useState<View>({ width: 640, top: 0, height: 800 });
  const measure = (): void => {
    const element = box.current;
    if (element === null) return;
    const next = { width: element.clientWidth, top: element.scrollTop, height: element.clientHeight };
    setView((old) =>
      old.width === next.width && old.top === next.top && old.height === next.height ? old : next,
    );
  };
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current !== null) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  return { box, view, onScroll: measure };
}

function inSight(count: number, view: View, layout: RankingLayout): { from: number; to: number } {
  if (count <= kWhole) return { from: 0, to: count };
  const from = Math.max(0, Math.floor(view.top / layout.rowHeight) - kBeyond);
  return { from, to: Math.min(count, Math.ceil((view.top + view.height) / layout.rowHeight) + kBeyond) };
}

/** Selects the entry `by` places away and keeps it in sight. */
function moveSelection(
  entries: readonly Entry[],
  by: number,
  box: HTMLElement | null,
  layout: RankingLayout,
): void {
  const now = entries.findIndex((entry) => entry.name === selected.value);
  const index = Math.min(entries.length - 1, Math.max(0, now < 0 ? 0 : now + by));
  const entry = entries[index];
  if (entry === undefined) return;
  selected.value = entry.name;
  announce(
    `${printable(entry.name)}, ${entry.role}, ${entry.score === null ? 'not known yet' : decibel(entry.score)}`,
  );
  if (box === null) return;
  const y = index * layout.rowHeight;
  if (y < box.scrollTop) box.scrollTop = y;
  const room = box.clientHeight - kAxisHeight - layout.rowHeight;
  if (y > box.scrollTop + room) box.scrollTop = y - room;
}

const kMoves: Record<string, number> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

export function RankingPicture({ entries }: { entries: readonly Entry[] }): VNode {
  const { box, view, onScroll } = useView();
  const layout = layoutRanking(entries, view.width);
  const { from, to } = inSight(entries.length, view, layout);
  const onKey = (event: KeyboardEvent): void => {
    const by = kMoves[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moveSelection(entries, by, box.current, layout);
  };
  const onClick = (event: MouseEvent): void => {
    const bar = event.target instanceof Element ? event.target.closest('[data-name]') : null;
    const name = bar?.getAttribute('data-name');
    if (name !== null && name !== undefined) selected.value = name;
  };
  return (
    <section
      class="bars-box"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls and takes arrow keys has to be reachable
      tabIndex={0}
      aria-label="Ranking as bars. Arrow keys select a quantizer; the table has the same numbers."
      onScroll={onScroll}
      onKeyDown={onKey}
      onClick={onClick}
    >
      <div class="bars-axis">
        <svg width={view.width} height={kAxisHeight} aria-hidden="true">
          <RankingAxis layout={layout} />
        </svg>
      </div>
      <svg
        class="bars"
        width={view.width}
        height={layout.height}
        role="img"
        aria-labelledby="bars-title bars-desc"
      >
        <title id="bars-title">Quantizers and what each costs</title>
        <desc id="bars-desc">{describeRanking(entries)}</desc>
        <RankingBars entries={entries} layout={layout} from={from} to={to} chosen={selected.value} />
      </svg>
    </section>
  );
}
