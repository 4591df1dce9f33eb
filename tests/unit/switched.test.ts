// How a sweep by switches is divided: into parts, and among lanes.
import { describe, expect, it } from 'vitest';
import { Row } from '../../bindings/js/src/client/sweep/rows.js';
import { bestPartCount, partsOf } from '../../bindings/js/src/client/sweep/switched/parts.js';
import { sharesOf } from '../../bindings/js/src/client/sweep/switched/shares.js';
import type { SweepInfo } from '../../bindings/js/src/shared/protocol.js';

const row = (order: number) =>
  new Row({ key: `q${order}`, sites: [`q${order}`], detail: '' }, order, undefined);
const rowsOf = (count: number) => Array.from({ length: count }, (_, i) => row(i));

/** `cutOf` by row; cut 0 is at the input "x", the others at "t1", "t2", … */
function info(cutOf: number[], cuts: number): SweepInfo {
  return {
    sweep: 1,
    scored: ['y'],
    unsaturated: [],
    activations: [],
    skipped: [],
    groups: [],
    cuts: Array.from({ length: cuts }, (_, i) => [i === 0 ? 'x' : `t${i}`]),
    cutOf,
    switchable: cutOf.map(() => true),
  };
}

describe('parts', () => {
  it('pay with the number of runs, and never go below one', () => {
    expect(bestPartCount({ createMs: 16, runMs: 2 }, 432)).toBe(5);
    expect(bestPartCount({ createMs: 16, runMs: 2 }, 4 * 432)).toBe(10);
    expect(bestPartCount({ createMs: 100, runMs: 1 }, 8)).toBe(1);
    expect(bestPartCount({ createMs: 0, runMs: 0 }, 0)).toBe(1);
  });

  it('hold each row once, behind the last of their cuts in front of it', () => {
    const rows = rowsOf(40);
    const cutOf = rows.map((_, i) => Math.floor(i / 4));
    for (const wanted of [1, 2, 3, 5, 10, 100]) {
      const parts = partsOf(rows, info(cutOf, 10), wanted, new Set(['x']));
      expect(parts.flatMap((part) => part.rows)).toEqual(rows);
      expect(parts.length).toBe(Math.min(wanted, 10));
      for (const [i, part] of parts.entries()) {
        expect(part.front).toBe(i === 0);
        for (const { order } of part.rows) expect(cutOf[order]).toBeGreaterThanOrEqual(part.cut!);
      }
    }
  });

  it('begin at the front even where no row is there, since the first hands on what crosses cuts', () => {
    const rows = rowsOf(4);
    const parts = partsOf(rows, info([3, 3, 3, 3], 4), 2, new Set(['x']));
    expect(parts.map(({ cut, front, rows: some }) => [cut, front, some.length])).toEqual([
      [0, true, 0],
      [3, false, 4],
    ]);
  });

  it('take the whole model where the first cut is not at its inputs', () => {
    const parts = partsOf(rowsOf(2), info([-1, 0], 1), 1, new Set(['other']));
    expect(parts.map(({ cut, rows }) => [cut, rows.length])).toEqual([[null, 2]]);
  });
});

describe('shares', () => {
  const nowhere = () => new Set<number>();
  const runsOf = (shares: { samples: number[] }[]) =>
    shares.reduce((sum, share) => sum + share.samples.length, 0);

  it.each([
    [1, 8],
    [2, 8],
    [2, 5],
    [3, 8],
    [3, 1],
    [4, 2],
  ])(
    'are the tasks, each run once, about equally many for each of %i lanes with %i samples',
    (lanes, samples) => {
      const rows = rowsOf(11);
      const all = Array.from({ length: samples }, (_, i) => i);
      const shares = sharesOf(
        rows.map((one) => ({ row: one, samples: all })),
        lanes,
        nowhere,
      );
      const runs = shares
        .flat()
        .flatMap((share) => share.samples.map((sample) => `${share.row.order}/${sample}`));
      expect(new Set(runs).size).toBe(11 * samples);
      expect(runs.length).toBe(11 * samples);
      const counts = shares.map(runsOf);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(samples);
    },
  );

  it('go to the lane that has the sample', () => {
    const home = (sample: number) => new Set([sample < 2 ? 1 : 0]);
    const shares = sharesOf([{ row: row(0), samples: [0, 1, 2, 3] }], 2, home);
    expect(shares.map((share) => share[0]!.samples)).toEqual([
      [2, 3],
      [0, 1],
    ]);
  });

  it('are shared by rows where samples do not go round', () => {
    const shares = sharesOf(
      rowsOf(4).map((one) => ({ row: one, samples: [7] })),
      2,
      nowhere,
    );
    expect(shares.map((share) => share.map((one) => one.row.order))).toEqual([
      [0, 2],
      [1, 3],
    ]);
  });
});
