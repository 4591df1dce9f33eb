// How a round of tasks is shared by lanes: by samples as far as they go round, because a lane then needs only those; what is
// left over by rows, if they are many. What one has left when others are through is taken over (units.ts).
import type { Row } from '../rows.js';
import type { Task } from '../schedule.js';

export interface Share {
  row: Row;
  samples: number[];
}

/** In rows, which run about half of a model: of a sample that it hasn't, a lane runs the float model, and a part with everything off. */
const LOADING = 4;
const WORTH_SPLITTING = 4 * LOADING;

/** `home`: the lanes that have a sample already. One list for each lane; together they are the tasks. */
export function sharesOf(
  tasks: readonly Task[],
  lanes: number,
  home: (sample: number) => ReadonlySet<number>,
): Share[][] {
  const wanted = new Map<number, Row[]>();
  for (const { row, samples } of tasks)
    for (const sample of samples) wanted.set(sample, [...(wanted.get(sample) ?? []), row]);
  // The most wanted first: lanes then get about the same number of runs.
  const order = [...wanted.keys()].sort((a, b) => wanted.get(b)!.length - wanted.get(a)!.length || a - b);
  const whole = order.length - (order.length % lanes);
  const bySample: Map<number, Row[]>[] = Array.from({ length: lanes }, () => new Map());
  const taken = new Array<number>(lanes).fill(0);
  for (const [at, sample] of order.entries()) {
    const rows = wanted.get(sample)!;
    if (at >= whole && rows.length >= WORTH_SPLITTING) {
      for (const [i, row] of rows.entries()) {
        const list = bySample[i % lanes]!;
        list.set(sample, [...(list.get(sample) ?? []), row]);
      }
      continue;
    }
    const known = home(sample);
    const done = taken.map((before, lane) => before + rows.length + (known.has(lane) ? 0 : LOADING));
    const lane = done.indexOf(Math.min(...done));
    taken[lane] = done[lane]!;
    bySample[lane]!.set(sample, rows);
  }
  return bySample.map(byRow);
}

function byRow(samples: Map<number, Row[]>): Share[] {
  const shares = new Map<Row, number[]>();
  for (const [sample, rows] of samples)
    for (const row of rows) shares.set(row, [...(shares.get(row) ?? []), sample]);
  return [...shares].map(([row, of]) => ({ row, samples: of.sort((a, b) => a - b) }));
}
