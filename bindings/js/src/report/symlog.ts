// A scale for ranges of very different sizes: logarithmic on both sides of zero, linear near it.

export interface Symlog {
  /** Below this size the scale is linear. */
  linear: number;
  largest: number;
}

const DECADES = 6;

/** Over all values; at most six decades below the largest stay logarithmic. */
export function symlogOver(values: Iterable<number>): Symlog {
  let largest = 0;
  let smallest = Number.POSITIVE_INFINITY;
  for (const value of values) {
    const size = Math.abs(value);
    if (!Number.isFinite(size) || size === 0) continue;
    largest = Math.max(largest, size);
    smallest = Math.min(smallest, size);
  }
  if (largest === 0) return { linear: 1, largest: 1 };
  return { linear: Math.max(smallest, largest / 10 ** DECADES, Number.MIN_VALUE), largest };
}

/** -1 for minus the largest, 0 for zero, 1 for the largest. */
export function symlogShare({ linear, largest }: Symlog, value: number): number {
  const bend = (size: number) => Math.log1p(size / linear);
  const share = bend(Math.min(Math.abs(value), largest)) / bend(largest);
  return value < 0 ? -share : share;
}
