// Values in the order of the graph: where their columns and the ticks beside them go. Pure numbers.
import { ticks } from './scale';

export interface Item {
  key: string;
  /** Equal ends are a point. Null: nothing is known, and the place stays empty. */
  low: number | null;
  high: number | null;
  solid: boolean;
  title: string;
}

export interface ColumnsLayout {
  width: number;
  height: number;
  /** Room at the left for the ticks. */
  left: number;
  pitch: number;
  ticks: { value: number; y: number }[];
  x(index: number): number;
  y(value: number): number;
}

export type Spread = 'even' | 'powers' | 'both signs';

export const kLeft = 58;
const kTop = 12;
const kBottom = 14;
const kLeastPitch = 4;
const kMostPitch = 36;
const kTickRoom = 44;

/** Values between the largest and a ten-thousandth of it are apart by their powers of ten; smaller ones meet at zero. */
const kPowersShown = 1e-4;

function finite(items: readonly Item[]): number[] {
  return items.flatMap(({ low, high }) => [low, high]).filter((end): end is number => Number.isFinite(end));
}

interface Bend {
  bend(value: number): number;
  ticks(count: number): number[];
  from: number;
  to: number;
}

function even(values: readonly number[]): Bend {
  let from = values.reduce((a, b) => Math.min(a, b), values[0] ?? 0);
  let to = values.reduce((a, b) => Math.max(a, b), values[0] ?? 1);
  const room = (to - from || Math.abs(to) || 1) * 0.04;
  [from, to] = [from - room, to + room];
  return { bend: (value) => value, ticks: (count) => ticks(from, to, count), from, to };
}

function powers(values: readonly number[]): Bend {
  const positive = values.filter((value) => value > 0);
  const most = positive.reduce((a, b) => Math.max(a, b), 1e-9);
  const low = Math.floor(Math.log10(positive.reduce((a, b) => Math.min(a, b), most)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(most)));
  return {
    bend: (value) => Math.max(low, Math.log10(Math.max(value, Number.MIN_VALUE))),
    ticks: (count) => decades(low, high, count),
    from: low,
    to: high,
  };
}

function decades(low: number, high: number, count: number): number[] {
  const step = Math.max(1, Math.ceil((high - low + 1) / count));
  return Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, at) => 10 ** (high - at * step));
}

function bothSigns(values: readonly number[]): Bend {
  const most = values.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-30);
  const unit = most * kPowersShown;
  const bend = (value: number): number => Math.sign(value) * Math.log10(1 + Math.abs(value) / unit);
  const ends = values.map(bend);
  const top = Math.floor(Math.log10(most));
  const from = ends.reduce((a, b) => Math.min(a, b), 0);
  const to = ends.reduce((a, b) => Math.max(a, b), 0);
  const within = (value: number): boolean => bend(value) >= from && bend(value) <= to;
  return {
    bend,
    ticks: (count) => {
      const plus = decades(top - 2, top, Math.max(1, count / 2));
      return [...plus, 0, ...plus.map((value) => -value)].filter(within);
    },
    from,
    to: to === from ? from + 1 : to,
  };
}

const kBends = { even, powers, 'both signs': bothSigns };

export function layoutColumns(
  items: readonly Item[],
  box: { width: number; height: number },
  spread: Spread,
): ColumnsLayout {
  const { bend, from, to, ticks: ticksOf } = kBends[spread](finite(items));
  const room = Math.max(1, box.width - kLeft - 8);
  const pitch = Math.min(kMostPitch, Math.max(kLeastPitch, room / Math.max(1, items.length)));
  const high = Math.max(80, box.height) - kTop - kBottom;
  const y = (value: number): number => kTop + high * (1 - (bend(value) - from) / (to - from));
  return {
    width: Math.max(box.width, Math.ceil(kLeft + pitch * items.length + 8)),
    height: high + kTop + kBottom,
    left: kLeft,
    pitch,
    ticks: ticksOf(Math.max(2, high / kTickRoom)).map((value) => ({ value, y: y(value) })),
    x: (index) => kLeft + (index + 0.5) * pitch,
    y,
  };
}
