// Where the bars of a ranking go. Pure numbers, the same for the page and for the SVG that is saved.
import type { SensitivityRow, Site } from '../package';
import type { Order } from '../state/address';
import type { Measure } from '../state/sweep';
import { type LossAxis, lossAxis } from './loss_axis';

/** A quantizer or a group in the picture; its score is null until it is known. */
export interface Entry {
  name: string;
  role: 'activation' | 'weight' | 'group';
  order: number;
  score: number | null;
  /** 95 %, from sample to sample. */
  interval: readonly [number, number] | null;
  /** Samples that the score is of so far. */
  samples: number;
  sites: readonly string[];
}

/** What has a row or will have one, in the order of the graph. Groups are known once their rows come. */
export function entriesInGraph(
  sites: readonly Site[] | null,
  rows: Iterable<SensitivityRow>,
): readonly Entry[] {
  const entries = new Map<string, Entry>();
  for (const [order, { tensor, role }] of (sites ?? []).entries()) {
    const known = { name: tensor, role: role === 'weight' ? role : 'activation', order } as const;
    entries.set(tensor, { ...known, score: null, interval: null, samples: 0, sites: [tensor] });
  }
  for (const { name, role, order, score, interval, samples, sites: own } of rows) {
    const place = entries.get(name);
    const what = place?.role ?? role ?? 'group';
    entries.set(name, {
      name,
      role: what,
      order: place?.order ?? order,
      score,
      interval,
      samples,
      sites: own,
    });
  }
  return [...entries.values()].sort((a, b) => a.order - b.order);
}

/** Ties keep the order of the graph, whichever end is first. */
export function ordered(entries: readonly Entry[], order: Order, higherIsWorse: boolean): readonly Entry[] {
  if (order === 'graph') return entries;
  return entries
    .slice()
    .sort((a, b) => badness(b, higherIsWorse) - badness(a, higherIsWorse) || a.order - b.order);
}

/** Larger is worse. Unknown last; a score that is no number counts as the worst. */
export function badness({ score }: Pick<Entry, 'score'>, higherIsWorse: boolean): number {
  if (score === null) return -Number.MAX_VALUE;
  if (Number.isNaN(score)) return Number.MAX_VALUE;
  return higherIsWorse ? score : -score;
}

export interface RankingLayout {
  width: number;
  height: number;
  rowHeight: number;
  /** Baseline of the bars: no loss. */
  zero: number;
  right: number;
  labelWidth: number;
  /** True where the name stands above its bar, on narrow screens. */
  stacked: boolean;
  ticks: { value: number; x: number }[];
  axis: LossAxis;
  /** Length of the bar of a score. */
  length(score: number): number;
}

const kNarrow = 560;
const kValueWidth = 68;
const kTickRoom = 56;

export function layoutRanking(entries: readonly Entry[], axis: LossAxis, width: number): RankingLayout {
  const stacked = width < kNarrow;
  const labelWidth = stacked ? 0 : Math.round(Math.min(260, width * 0.34));
  const zero = stacked ? 14 : labelWidth + 22;
  const right = Math.max(zero + 40, width - kValueWidth);
  const rowHeight = stacked ? 38 : 22;
  const length = (score: number): number => axis.share(score) * (right - zero);
  const values = axis.ticks(Math.max(2, Math.floor((right - zero) / kTickRoom)));
  return {
    width,
    height: entries.length * rowHeight,
    rowHeight,
    zero,
    right,
    labelWidth,
    stacked,
    ticks: values.map((value) => ({ value, x: zero + length(value) })),
    axis,
    length,
  };
}

export function axisOf(measure: Measure, entries: readonly Entry[]): LossAxis {
  return lossAxis(
    measure,
    entries.map(({ score }) => score),
  );
}
