// Where a histogram's bars, the chosen range and the grid of codes go. Pure numbers.
import type { Encoding, TensorStatistics } from '../package';
import { linear } from './scale';

export interface HistogramInput {
  statistics: Pick<TensorStatistics, 'min' | 'max' | 'histogram'>;
  encoding: Pick<Encoding, 'min' | 'max' | 'scale' | 'format'> | null;
  width: number;
  height: number;
  logarithmic: boolean;
}

export interface HistogramBar {
  x: number;
  width: number;
  height: number;
  count: number;
  from: number;
  to: number;
  /** Outside the chosen range as a whole. */
  clipped: boolean;
}

export interface HistogramLayout {
  bars: HistogramBar[];
  /** The chosen range in pixels, null without an encoding. */
  range: { from: number; to: number; min: number; max: number } | null;
  /** Where codes are; thinned to every `everyCode`-th so that ticks stay apart. */
  codes: number[];
  everyCode: number;
  ticks: { x: number; value: number }[];
}

const kLeastTickDistance = 4;
const kMostCodes = 1 << 16;

/** Levels of a format; null for one that has none to draw. */
function levels(format: string): number | null {
  const bits = /^u?int(\d+)$/.exec(format)?.[1];
  return bits === undefined || Number(bits) > 16 ? null : 2 ** Number(bits);
}

function finiteSpan(values: readonly number[]): [number, number] | null {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

export function layoutHistogram(input: HistogramInput): HistogramLayout {
  const { statistics, encoding, width, height } = input;
  const chosen = encoding === null ? null : finiteSpan([...encoding.min, ...encoding.max]);
  const domain = finiteSpan([statistics.min, statistics.max, ...(chosen ?? [])]) ?? [0, 1];
  if (domain[0] === domain[1]) [domain[0], domain[1]] = [domain[0] - 0.5, domain[1] + 0.5];
  const x = linear(domain, [0, width]);
  const range =
    chosen === null ? null : { from: x(chosen[0]), to: x(chosen[1]), min: chosen[0], max: chosen[1] };
  return {
    bars: barsOf(input, x, chosen),
    range,
    ...codesOf(input, x, chosen),
    ticks: x.ticks(Math.max(2, Math.floor(width / 70))).map((value) => ({ value, x: x(value) })),
  };

  function barsOf(
    { logarithmic }: HistogramInput,
    place: (value: number) => number,
    span: [number, number] | null,
  ): HistogramBar[] {
    const counts = statistics.histogram;
    const tone = (count: number): number => (logarithmic ? Math.log1p(count) : count);
    const most = Math.max(1e-9, ...counts.map(tone));
    const step = (statistics.max - statistics.min) / Math.max(1, counts.length);
    return counts.map((count, index) => {
      const from = statistics.min + index * step;
      const to = index === counts.length - 1 ? statistics.max : from + step;
      const clipped = span !== null && (to < span[0] || from > span[1]);
      const wide = step > 0 ? place(to) - place(from) : 3;
      return { x: place(from), width: wide, height: (tone(count) / most) * height, count, from, to, clipped };
    });
  }
}

/** Codes are drawn for one scale; per channel the grids differ, and none is drawn. */
function codesOf(
  { encoding }: HistogramInput,
  place: (value: number) => number,
  span: [number, number] | null,
): { codes: number[]; everyCode: number } {
  const scale = encoding?.scale.length === 1 ? (encoding.scale[0] ?? 0) : 0;
  const all = encoding === null ? null : levels(encoding.format);
  if (span === null || all === null || !(scale > 0)) return { codes: [], everyCode: 1 };
  const distance = Math.abs(place(scale) - place(0));
  let everyCode = 1;
  while (distance * everyCode < kLeastTickDistance && everyCode < kMostCodes) everyCode *= 2;
  const codes: number[] = [];
  // A multiple of the scale is a code whatever the zero point, since zero itself is one.
  const first = Math.ceil(span[0] / scale / everyCode - 1e-6);
  for (
    let code = first;
    code * everyCode * scale <= span[1] * (1 + 1e-6) + scale * 1e-3 && codes.length < all;
    ++code
  ) {
    codes.push(place(code * everyCode * scale));
  }
  return { codes, everyCode };
}
