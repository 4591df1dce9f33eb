// A straight scale from values to pixels, and round values along it.

/** The largest of 1, 2 and 5 times a power of ten that cuts the span into at least `count` parts, or nearly so. */
export function tickStep(span: number, count: number): number {
  const rough = Math.abs(span) / Math.max(1, count);
  if (!(rough > 0 && Number.isFinite(rough))) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const rest = rough / power;
  // Where a step of the next size is nearer in proportion.
  const round = rest >= Math.sqrt(50) ? 10 : rest >= Math.sqrt(10) ? 5 : rest >= Math.SQRT2 ? 2 : 1;
  return round * power;
}

/** Multiples of a round step from the lower to the upper end, about `count` of them. */
export function ticks(from: number, to: number, count: number): number[] {
  const step = tickStep(to - from, count);
  const [first, last] = [Math.ceil(from / step - 1e-9), Math.floor(to / step + 1e-9)];
  if (!(last - first < 10_000)) return [];
  // A step below one is exact as a divisor: 0.3 is 3 / 10, not 3 * 0.1.
  const inverse = Math.round(1 / step);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) =>
    step < 1 ? (first + at) / inverse : (first + at) * step,
  );
}

export interface Scale {
  (value: number): number;
  ticks(count: number): number[];
}

/** Equal ends of the domain give the start of the range for every value. */
export function linear(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
): Scale {
  const slope = to === from ? 0 : (end - start) / (to - from);
  const place = (value: number): number => start + (value - from) * slope;
  return Object.assign(place, { ticks: (count: number) => ticks(from, to, count) });
}
