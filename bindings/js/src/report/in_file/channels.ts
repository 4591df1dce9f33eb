// The channels of one tensor: a row of the table of ranges opens them as a picture and as numbers.
import { axisOver, pixelOf, px, ticks } from '../axis.js';
import type { Embedded } from '../embedded.js';
import { digits, type RangeRow, rangeRows } from '../ranges_section.js';
import { byId, element, svgElement } from './elements.js';
import { rowsByNumber } from './tables.js';

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [1000, 240, 80, 10, 20];
/** More numbers than this would only slow the table down; all are in the CSV of ranges. */
const MAX_LINES = 4096;

export function showChannels(data: Embedded): void {
  const table = document.getElementById('ranges') as HTMLTableElement | null;
  if (table === null) return;
  const ranges = rangeRows(data).filter((row) => row.min <= row.max);
  const panel = byId<HTMLElement>('channels');
  for (const [i, line] of rowsByNumber(table).entries()) {
    line.tabIndex = 0;
    const open = () => {
      for (const other of table.querySelectorAll('tr.chosen')) other.classList.remove('chosen');
      line.classList.add('chosen');
      panel.replaceChildren(...channelView(ranges[i]!));
      panel.hidden = false;
    };
    line.addEventListener('click', open);
    line.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') open();
    });
  }
}

function channelView(range: RangeRow): Element[] {
  const { encoding } = range;
  const along =
    encoding.axis === null ? 'one range' : `${encoding.min.length} channels along axis ${encoding.axis}`;
  return [element('h3', `${range.tensor}: ${along}`), picture(range), table(range)];
}

function picture({ encoding, tensor }: RangeRow): Element {
  const axis = axisOver([...encoding.min, ...encoding.max, 0], HEIGHT - BOTTOM, TOP);
  const svg = svgElement('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    'aria-label': `Range of each channel of ${tensor}`,
  });
  for (const value of ticks(axis, 5)) {
    const y = px(pixelOf(axis, value));
    svg.append(
      svgElement('line', { class: 'grid', x1: LEFT, x2: WIDTH, y1: y, y2: y }),
      svgElement('text', { x: LEFT - 8, y, dy: 4, 'text-anchor': 'end' }, String(value)),
    );
  }
  const step = (WIDTH - LEFT) / encoding.min.length;
  encoding.min.forEach((min, i) => {
    const [low, high] = [pixelOf(axis, min), pixelOf(axis, encoding.max[i] ?? min)];
    const bar = svgElement('rect', {
      class: 'range',
      x: px(LEFT + (i + 0.1) * step),
      width: Math.max(0.5, Math.min(20, step * 0.8)),
      y: px(Math.min(low, high)),
      height: Math.max(1, Math.abs(low - high)),
    });
    bar.append(svgElement('title', {}, `${i}: ${digits(min)} to ${digits(encoding.max[i] ?? min)}`));
    svg.append(bar);
  });
  const box = element('div', '', { class: 'scroll' });
  box.append(svg);
  return box;
}

function table({ encoding }: RangeRow): Element {
  const made = element('table', '', { class: 'data' });
  const head = made.createTHead().insertRow();
  for (const title of ['channel', 'min', 'max', 'scale', 'zero point'])
    head.append(element('th', title, { scope: 'col', class: 'number' }));
  const body = made.createTBody();
  encoding.min.slice(0, MAX_LINES).forEach((min, i) => {
    const line = body.insertRow();
    const values = [i, min, encoding.max[i], encoding.scale[i], encoding.zero_point[i]];
    for (const value of values) line.append(element('td', String(value ?? ''), { class: 'number' }));
  });
  const box = element('div', '', { class: 'scroll' });
  box.append(made);
  const more = encoding.min.length - MAX_LINES;
  if (more > 0) box.append(element('p', `${more} more channels are in the CSV of ranges.`));
  return box;
}
