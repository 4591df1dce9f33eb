// Measured mixed-precision models: score against weight bytes.
import { decibels, sizeText } from '../shared/printable.js';
import type { ParetoPoint } from '../types.js';
import { axisOver, pixelOf, px, ticks } from './axis.js';
import { dataTable, escapeHtml } from './markup.js';
import type { ReportData } from './report_data.js';

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [1000, 320, 70, 40, 30, 40];
const MAX_NAMES = 5;

export function paretoSection({ pareto }: ReportData): string {
  if (pareto === undefined || pareto.length === 0) return '';
  const table = dataTable(
    'pareto',
    'Mixed-precision models, each measured end to end',
    [
      { title: 'PSNR', number: true },
      { title: 'weight bytes', number: true },
      { title: 'bit operations', number: true },
      { title: 'multiply-accumulates', number: true },
      { title: 'front' },
      { title: 'raised', number: true },
      { title: 'names' },
    ],
    pareto.map((point) => [
      { text: decibels(point.score), value: point.score },
      { text: sizeText(point.cost.weight_bytes), value: point.cost.weight_bytes },
      { text: point.cost.bit_ops.toExponential(3), value: point.cost.bit_ops },
      { text: point.cost.macs.toExponential(3), value: point.cost.macs },
      point.front ? 'yes' : '',
      { text: String(point.flipped.length), value: point.flipped.length },
      nameList(point),
    ]),
  );
  return `<h2 id="mixed">Mixed precision</h2>
<p>Filled points are on the front: no other is better in score and no worse in both costs.</p>
<div class="scroll">${scatter(pareto)}</div>
${table}`;
}

function nameList({ flipped }: ParetoPoint): string {
  const more = flipped.length - MAX_NAMES;
  return `${flipped.slice(0, MAX_NAMES).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

function scatter(points: readonly ParetoPoint[]): string {
  const across = axisOver(
    points.map(({ cost }) => cost.weight_bytes),
    LEFT,
    WIDTH - RIGHT,
  );
  const up = axisOver(
    points.map(({ score }) => score),
    HEIGHT - BOTTOM,
    TOP,
  );
  const marks = points.map((point) => {
    const title = `${decibels(point.score)}, ${sizeText(point.cost.weight_bytes)}, ${point.flipped.length} raised`;
    const [x, y] = [px(pixelOf(across, point.cost.weight_bytes)), px(pixelOf(up, point.score))];
    return `<circle class="${point.front ? 'weight' : 'activation'}" cx="${x}" cy="${y}" r="5"><title>${escapeHtml(title)}</title></circle>`;
  });
  const rows = ticks(up, 5).map((value) => {
    const y = px(pixelOf(up, value));
    return `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/><text x="${LEFT - 8}" y="${y}" dy="4" text-anchor="end">${value}</text>`;
  });
  const columns = ticks(across, 6).map((value) => {
    const x = px(pixelOf(across, value));
    return `<text x="${x}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${escapeHtml(sizeText(Math.max(0, value)))}</text>`;
  });
  return `<svg role="img" aria-label="PSNR against weight bytes, ${points.length} models" viewBox="0 0 ${WIDTH} ${HEIGHT}">
<text x="${LEFT}" y="16">PSNR in dB, higher is better ↑; weight bytes →</text>
${rows.join('\n')}
${columns.join('\n')}
${marks.join('\n')}</svg>`;
}
