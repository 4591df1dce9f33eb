// The ranking's picture in its box: draws the bars in sight, follows the width, selects by pointer and by arrow keys.
import type { VNode } from 'preact';
import type { LossAxis } from '../pictures/loss_axis';
import { describeRanking, kAxisHeight, RankingAxis, RankingBars } from '../pictures/ranking';
import { type Entry, layoutRanking, type RankingLayout } from '../pictures/ranking_layout';
import { announce } from '../state/announce';
import { selected } from '../state/store';
import { threshold } from '../state/threshold';
import { printable } from '../text/format';
import { type BoxView, useBoxView } from './box_view';
import { dragThreshold, ThresholdHandle } from './threshold_handle';

/** Pictures up to this many bars are drawn whole. */
const kWhole = 150;
const kBeyond = 10;

function inSight(count: number, view: BoxView, layout: RankingLayout): { from: number; to: number } {
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
    `${printable(entry.name)}, ${entry.role}, ${entry.score === null ? 'not known yet' : `${layout.axis.figure(entry.score)}\u00a0${layout.axis.unit}`}`,
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

export function RankingPicture({ entries, axis }: { entries: readonly Entry[]; axis: LossAxis }): VNode {
  const { box, view, measure } = useBoxView();
  const layout = layoutRanking(entries, axis, view.width);
  const { from, to } = inSight(entries.length, view, layout);
  const onKey = (event: KeyboardEvent): void => {
    const by = kMoves[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    moveSelection(entries, by, box.current, layout);
  };
  const line = threshold.value;
  const onPointer = (event: PointerEvent): void => {
    const svg =
      event.target instanceof Element ? event.target.closest('.threshold-line')?.closest('svg') : null;
    if (svg != null) dragThreshold(event, svg, layout);
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
      onScroll={measure}
      onKeyDown={onKey}
      onClick={onClick}
      onPointerDown={onPointer}
    >
      <div class="bars-axis">
        <svg width={view.width} height={kAxisHeight} aria-hidden="true">
          <RankingAxis layout={layout} />
        </svg>
        {line !== null && <ThresholdHandle layout={layout} threshold={line} />}
      </div>
      <svg
        class="bars"
        width={view.width}
        height={layout.height}
        role="img"
        aria-labelledby="bars-title bars-desc"
      >
        <title id="bars-title">Quantizers and what each costs</title>
        <desc id="bars-desc">{describeRanking(entries, axis)}</desc>
        <RankingBars {...{ entries, layout, from, to }} chosen={selected.value} threshold={line} />
      </svg>
    </section>
  );
}
