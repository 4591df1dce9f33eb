// How far each tensor of the quantized model is from the float model's, in graph order: where errors come in, and where they fade.
import { decibels } from '../shared/printable.js';
import type { PropagationRow } from '../types.js';
import { axisOver, pixelOf, px, ticks } from './axis.js';
import { type Cell, dataTable, escapeHtml } from './markup.js';
import { digits } from './ranges_section.js';
import type { ReportData } from './report_data.js';

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [1000, 280, 70, 20, 30, 20];

export function propagationSection({ propagation }: ReportData): string {
  if (propagation === undefined || propagation.length === 0) return '';
  const number = (text: string, value: number | null): Cell => ({ text, value });
  const table = dataTable(
    'propagation',
    'Float against quantized, all quantizers on, in graph order',
    [
      { title: 'tensor' },
      { title: 'node' },
      { title: 'operator' },
      { title: 'PSNR', number: true },
      { title: 'SQNR', number: true },
      { title: 'MSE', number: true },
    ],
    propagation.map(({ tensor, node, op, psnr, sqnr, mse }) => [
      tensor,
      node,
      op,
      number(decibels(psnr), psnr),
      number(decibels(sqnr), sqnr),
      number(mse === null ? 'n/a' : digits(mse), mse),
    ]),
  );
  return `<h2 id="error">Error, tensor by tensor</h2>
<div class="scroll">${line(propagation)}</div>
<details><summary>As a table</summary>${table}</details>`;
}

function line(rows: readonly PropagationRow[]): string {
  const axis = axisOver(
    rows.flatMap(({ psnr }) => (psnr === null ? [] : [psnr])),
    HEIGHT - BOTTOM,
    TOP,
  );
  const x = (i: number) => px(LEFT + ((i + 0.5) / rows.length) * (WIDTH - LEFT - RIGHT));
  const points = rows.flatMap(({ psnr }, i) => (psnr === null ? [] : [`${x(i)},${px(pixelOf(axis, psnr))}`]));
  const marks = rows.map((row, i) => {
    const title = `${row.tensor} (${row.op}): ${decibels(row.psnr)}`;
    const y = px(row.psnr === null ? axis.from : pixelOf(axis, row.psnr));
    return `<circle class="${row.psnr === null ? 'bad' : 'activation'}" cx="${x(i)}" cy="${y}" r="3"><title>${escapeHtml(title)}</title></circle>`;
  });
  const grid = ticks(axis, 5).map((value) => {
    const y = px(pixelOf(axis, value));
    return `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y}" y2="${y}"/><text x="${LEFT - 8}" y="${y}" dy="4" text-anchor="end">${value}</text>`;
  });
  return `<svg role="img" aria-label="PSNR of ${rows.length} tensors in graph order" viewBox="0 0 ${WIDTH} ${HEIGHT}">
<text x="${LEFT}" y="16">PSNR in dB, lower is worse ↓, tensors in graph order →</text>
${grid.join('\n')}
<polyline class="curve" points="${points.join(' ')}"/>
${marks.join('\n')}</svg>`;
}
