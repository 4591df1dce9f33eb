// Where the bars of a ranking go. Pure numbers, the same for the page and for the SVG that is saved.
import { scaleLinear } from 'd3-scale';
import type { SensitivityRow, Site } from '../package';
import type { Order } from '../state/address';

/** A quantizer in the picture; its score is null until it is known. */
export interface Entry {
  name: string;
  role: 'activation' | 'weight';
  order: number;
  score: number | null;
}

/** Scores are clipped here; nothing was lost that double precision could show. */
export const kLossless = 100;

/** Every quantizer that has or will have a row, known ones first where the order is by score. Ties keep site order. */
export function entriesOf(sites: readonly Site[], rows: readonly SensitivityRow[], order: Order): Entry[] {
  const scores = new Map(rows.map((row) => [row.name, row.score]));
  const entries = sites.map((site, index): Entry => {
    const role = site.role === 'weight' ? 'weight' : 'activation';
    return { name: site.tensor, role, order: index, score: scores.get(site.tensor) ?? null };
  });
  if (order === 'graph') return entries;
  return entries.sort((a, b) => rankOf(a) - rankOf(b) || a.order - b.order);
}

/** Unknown last; a score that is no number counts as the worst. */
function rankOf(entry: Entry): number {
  if (entry.score === null) return Number.POSITIVE_INFINITY;
  return Number.isNaN(entry.score) ? Number.NEGATIVE_INFINITY : entry.score;
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
  /** Length of the bar of a score. */
  length(score: number): number;
}

const kNarrow = 560;
const kValueWidth = 62;
const kTickSteps = [5, 10, 20, 50, 100];

/** The axis ends at a round figure below the worst score, in steps of 10 dB, so that it seldom moves while rows come in. */
export function axisEnd(entries: readonly Entry[]): number {
  let worst = kLossless;
  for (const entry of entries) if (entry.score !== null && entry.score < worst) worst = entry.score;
  return Math.max(-kLossless, Math.min(40, Math.floor(worst / 10) * 10));
}

export function layoutRanking(entries: readonly Entry[], width: number): RankingLayout {
  const stacked = width < kNarrow;
  const labelWidth = stacked ? 0 : Math.round(Math.min(260, width * 0.34));
  const zero = stacked ? 14 : labelWidth + 22;
  const right = Math.max(zero + 40, width - kValueWidth);
  const rowHeight = stacked ? 38 : 22;
  const end = axisEnd(entries);
  const scale = scaleLinear()
    .domain([kLossless, end])
    .range([0, right - zero]);
  const step = kTickSteps.find((size) => (kLossless - end) / size <= (right - zero) / 56) ?? 100;
  const ticks = [];
  for (let value = kLossless; value >= end; value -= step) ticks.push({ value, x: zero + scale(value) });
  return {
    width,
    height: entries.length * rowHeight,
    rowHeight,
    zero,
    right,
    labelWidth,
    stacked,
    ticks,
    length: (score) =>
      Math.max(0, scale(Number.isNaN(score) ? end : Math.max(end, Math.min(kLossless, score)))),
  };
}
