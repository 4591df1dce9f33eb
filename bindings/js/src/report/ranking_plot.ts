// The picture of a ranking: a mark for each row, in ranking or in graph order, with its interval. Where each mark stands is
// computed here for the file and for its script.
import { inDecibels, scoreText } from '../shared/metric_text.js';
import type { SensitivityResults } from '../types.js';
import { type Axis, axisOver, pixelOf, px, ticks } from './axis.js';
import { escapeHtml } from './markup.js';
import { higherIsWorse, metricOf, type RankingRow, scoreTitle } from './ranking_rows.js';

export const PLOT = { width: 1000, height: 380, left: 70, right: 20, top: 30, bottom: 40 } as const;

/** Over the scores; up is always the larger one. Intervals of few samples would leave no room for anything else: they are cut. */
export function plotAxis(rows: readonly RankingRow[]): Axis {
  const scores = rows.flatMap(({ score }) => (score === null ? [] : [score]));
  return axisOver(scores, PLOT.height - PLOT.bottom, PLOT.top);
}

/** A score that is no number stands at the bad end. */
export function markY(axis: Axis, score: number | null, worseIsHigher: boolean): number {
  if (score !== null) return pixelOf(axis, score);
  return worseIsHigher ? axis.to : axis.from;
}

/** `position` from 0 among `count`. */
export function markX(position: number, count: number): number {
  const space = PLOT.width - PLOT.left - PLOT.right;
  return PLOT.left + ((position + 0.5) / Math.max(1, count)) * space;
}

/** Positions of rows by the orders they know; null unless every row knows its place in the graph. */
export function graphPositions(rows: readonly RankingRow[]): number[] | null {
  if (rows.some((row) => row.order === null)) return null;
  const inOrder = rows.map((_, i) => i).sort((a, b) => rows[a]!.order! - rows[b]!.order!);
  const positions = new Array<number>(rows.length);
  inOrder.forEach((row, position) => {
    positions[row] = position;
  });
  return positions;
}

/** Full digits and what the mark stands for; also the lines of the script's tooltip. */
export function rowFacts(row: RankingRow, results: SensitivityResults): [string, string][] {
  const metric = metricOf(results);
  const score = row.score === null ? 'not a number' : `${row.score}${inDecibels(metric) ? ' dB' : ''}`;
  const lines: [string, string][] = [
    ['rank', String(row.rank)],
    ['name', row.name],
    [scoreTitle(results), score],
  ];
  if (row.interval !== null)
    lines.push(['95 % interval', row.interval.map((end) => scoreText(metric, end)).join(' to ')]);
  if (row.role !== '') lines.push(['role', row.role]);
  if (row.samples !== null) lines.push(['samples', String(row.samples)]);
  if (row.detail !== '') lines.push(['detail', row.detail]);
  return lines;
}

export function rankingPlot(rows: readonly RankingRow[], results: SensitivityResults): string {
  const axis = plotAxis(rows);
  const worseIsHigher = higherIsWorse(results);
  const marks = rows.map((row, i) => mark(row, i, rows.length, axis, worseIsHigher, results));
  const unit = inDecibels(metricOf(results)) ? ' in dB' : '';
  const direction = worseIsHigher ? 'higher is worse ↑' : 'lower is worse ↓';
  const label = `${scoreTitle(results)}${unit}, ${direction}`;
  return `<svg id="plot" role="img" aria-label="${escapeHtml(label)}, ${rows.length} rows" viewBox="0 0 ${PLOT.width} ${PLOT.height}">
<text x="${PLOT.left}" y="16">${escapeHtml(label)}</text>
${gridLines(axis)}
<text id="plot-order" x="${PLOT.width - PLOT.right}" y="${PLOT.height - 8}" text-anchor="end">worst first</text>
<g id="marks">
${marks.join('\n')}
</g>
<g id="threshold" hidden><line class="guide" x1="${PLOT.left}" x2="${PLOT.width - PLOT.right}" y1="0" y2="0"/><rect class="grip" x="${PLOT.left}" y="-9" width="${PLOT.width - PLOT.left - PLOT.right}" height="18"/><circle class="knob" cx="${PLOT.width - PLOT.right}" cy="0" r="6"/></g>
</svg>`;
}

function gridLines(axis: Axis): string {
  return ticks(axis, 6)
    .map((value) => {
      const y = px(pixelOf(axis, value));
      return `<line class="grid" x1="${PLOT.left}" x2="${PLOT.width - PLOT.right}" y1="${y}" y2="${y}"/><text x="${PLOT.left - 8}" y="${y}" dy="4" text-anchor="end">${value}</text>`;
    })
    .join('\n');
}

function mark(
  row: RankingRow,
  i: number,
  count: number,
  axis: Axis,
  worseIsHigher: boolean,
  results: SensitivityResults,
): string {
  const y = markY(axis, row.score, worseIsHigher);
  const title = rowFacts(row, results).map(([name, value]) => `${name}: ${value}`);
  return `<g class="mark" data-row="${i}" transform="translate(${px(markX(i, count))})"><title>${escapeHtml(title.join(', '))}</title>${whisker(row, axis)}${shape(row, y)}</g>`;
}

function whisker({ interval }: RankingRow, axis: Axis): string {
  if (interval === null) return '';
  const inside = (value: number) => Math.min(Math.max(value, axis.low), axis.high);
  const [low, high] = interval.map((end) => px(pixelOf(axis, inside(end))));
  return `<path class="whisker" d="M-3 ${low}h6M0 ${low}V${high}M-3 ${high}h6"/>`;
}

/** Weights are filled squares, everything else circles; a cross where the score is no number. */
function shape({ role, score }: RankingRow, y: number): string {
  if (score === null) return `<path class="bad" d="M-4 ${px(y - 4)}l8 8m0 -8l-8 8"/>`;
  if (role === 'weight') return `<rect class="weight" x="-3.5" y="${px(y - 3.5)}" width="7" height="7"/>`;
  return `<circle class="${role === 'activation' ? 'activation' : 'group'}" cy="${px(y)}" r="3.5"/>`;
}
