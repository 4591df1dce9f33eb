// The range of every quantizer on one scale, and its channels one by one.
import type { Encoding } from '../types.js';
import { px } from './axis.js';
import { type Cell, dataTable } from './markup.js';
import type { ReportData } from './report_data.js';
import { type Symlog, symlogOver, symlogShare } from './symlog.js';

const WIDTH = 220;
const HEIGHT = 14;

export interface RangeRow {
  tensor: string;
  role: string;
  encoding: Encoding;
  /** Over all channels. */
  min: number;
  max: number;
}

/** In site order where a plan tells it, then whatever else has an encoding. */
export function rangeRows({ encodings, plan }: Pick<ReportData, 'encodings' | 'plan'>): RangeRow[] {
  const all = new Map(Object.entries(encodings?.encodings ?? {}));
  const roles = new Map(plan?.sites.map(({ tensor, role }) => [tensor, role]));
  const ordered = [...roles.keys()].filter((tensor) => all.has(tensor));
  const names = new Set([...ordered, ...all.keys()]);
  return [...names].map((tensor) => {
    const encoding = all.get(tensor)!;
    return {
      tensor,
      role: roles.get(tensor) ?? '',
      encoding,
      min: encoding.min.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY),
      max: encoding.max.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY),
    };
  });
}

export function rangesSection(data: ReportData): string {
  const rows = rangeRows(data).filter((row) => row.min <= row.max);
  if (rows.length === 0) return '';
  const scale = symlogOver(rows.flatMap((row) => [row.min, row.max]));
  const table = dataTable(
    'ranges',
    `Ranges by ${data.encodings?.method ?? ''} over ${data.encodings?.samples ?? 0} samples`,
    [
      { title: 'tensor' },
      { title: 'role' },
      { title: 'format' },
      { title: 'channels', number: true },
      { title: 'smallest scale', number: true },
      { title: 'largest scale', number: true },
      { title: 'min', number: true },
      { title: 'max', number: true },
      { title: `−${digits(scale.largest)} to ${digits(scale.largest)}, logarithmic around 0` },
    ],
    rows.map((row) => rangeCells(row, scale)),
  );
  return `<h2 id="range">Ranges</h2>
<p>What each quantizer can hold.<span class="unscripted"> Single channels are in this file, and shown when scripts may run.</span></p>
${table}
<div id="channels" hidden></div>`;
}

function rangeCells({ tensor, role, encoding, min, max }: RangeRow, scale: Symlog): Cell[] {
  const scales = encoding.scale;
  const smallest = scales.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const largest = scales.reduce((a, b) => Math.max(a, b), 0);
  const number = (value: number): Cell => ({
    text: digits(value),
    value: Number.isFinite(value) ? value : null,
  });
  return [
    tensor,
    role,
    encoding.format,
    { text: String(encoding.min.length), value: encoding.min.length },
    number(smallest),
    number(largest),
    number(min),
    number(max),
    { html: rangeBar(min, max, scale) },
  ];
}

export function digits(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(5))) : 'n/a';
}

function rangeBar(min: number, max: number, scale: Symlog): string {
  const x = (value: number) => (WIDTH / 2) * (1 + symlogShare(scale, value));
  const length = Math.max(1, x(max) - x(min));
  return `<svg class="bar" aria-hidden="true" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}"><line class="grid" x1="${WIDTH / 2}" x2="${WIDTH / 2}" y1="0" y2="${HEIGHT}"/><rect class="range" x="${px(x(min))}" y="4" width="${px(length)}" height="6"/></svg>`;
}
