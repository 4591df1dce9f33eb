// Linear axes: values to pixels and back, and marks at round numbers.

export interface Axis {
  /** The values at the two ends; never equal. */
  low: number;
  high: number;
  /** The pixels at the two ends. */
  from: number;
  to: number;
}

/** Around all finite values, with some air; around zero if there is none. */
export function axisOver(values: Iterable<number>, from: number, to: number): Axis {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return { low: -1, high: 1, from, to };
  const air = (high - low) * 0.05 || Math.abs(high) * 0.05 || 1;
  return { low: low - air, high: high + air, from, to };
}

export function pixelOf(axis: Axis, value: number): number {
  return axis.from + ((value - axis.low) / (axis.high - axis.low)) * (axis.to - axis.from);
}

export function valueAt(axis: Axis, pixel: number): number {
  return axis.low + ((pixel - axis.from) / (axis.to - axis.from)) * (axis.high - axis.low);
}

/** At most about `count` round values inside the axis. */
export function ticks(axis: Axis, count: number): number[] {
  const rough = (axis.high - axis.low) / count;
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const found: number[] = [];
  for (let i = Math.ceil(axis.low / step); i * step <= axis.high && found.length < 4 * count; ++i)
    found.push(Number((i * step).toPrecision(12)));
  return found;
}

/** As pixels are written: no more digits than a screen shows. */
export function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}
