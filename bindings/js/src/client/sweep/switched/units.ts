// What lanes run, and who runs it: each has a list of its own, and one that is through with it takes over what another would run
// last. Which lane runs a unit changes no number.
import type { Row } from '../rows.js';
import type { Part } from './parts.js';
import type { Share } from './shares.js';

/** Rows of one part on one sample. */
export interface Unit {
  part: Part;
  rows: Row[];
  sample: number;
}

/**
 * A lane's share, part by part, so that it needs few sessions at a time, and some rows after others, so that rows are complete long
 * before the end; where a worker has no room to keep what they need (worker/off_runs.ts), each unit costs a run with everything off.
 */
export function unitsOf(shares: readonly Share[], parts: readonly Part[]): Unit[] {
  const wanted = new Map(shares.map(({ row, samples }) => [row, new Set(samples)]));
  const samples = [...new Set(shares.flatMap((share) => share.samples))].sort((a, b) => a - b);
  const unit = (part: Part, some: readonly Row[], sample: number) => ({
    part,
    sample,
    rows: some.filter((row) => wanted.get(row)?.has(sample)),
  });
  return parts
    .flatMap((part) =>
      chunksOf(part.rows.filter((row) => wanted.has(row))).flatMap((some) =>
        samples.map((sample) => unit(part, some, sample)),
      ),
    )
    .filter(({ rows }) => rows.length > 0);
}

const ROWS_AT_ONCE = 32;

function chunksOf(rows: readonly Row[]): Row[][] {
  const count = Math.ceil(rows.length / ROWS_AT_ONCE);
  const each = Math.ceil(rows.length / count);
  return Array.from({ length: count }, (_, i) => rows.slice(i * each, (i + 1) * each));
}

export class UnitQueue {
  constructor(private readonly lists: Unit[][]) {}

  /** `has`: whether the lane has a sample; one that it has to load costs about as much as some rows. */
  take(lane: number, has: (sample: number) => boolean): Unit | null {
    return this.lists[lane]!.shift() ?? this.takeOver(has);
  }

  private takeOver(has: (sample: number) => boolean): Unit | null {
    const list = this.lists.reduce((most, one) => (runsOf(one) > runsOf(most) ? one : most), []);
    const last = list.findLastIndex((unit) => has(unit.sample));
    const at = last >= 0 ? last : list.length - 1;
    const unit = list[at];
    if (unit === undefined || (last < 0 && runsOf(list) < WORTH_LOADING)) return null;
    if (list.length > 1 || unit.rows.length < 2) return list.splice(at, 1)[0]!;
    const half = unit.rows.length >> 1;
    list[at] = { ...unit, rows: unit.rows.slice(0, half) };
    return { ...unit, rows: unit.rows.slice(half) };
  }
}

const WORTH_LOADING = 8;

function runsOf(units: readonly Unit[]): number {
  return units.reduce((sum, { rows }) => sum + rows.length, 0);
}
