// How a sweep by switches is divided: into parts, and among lanes.
import { describe, expect, it } from 'vitest';
import { Row } from '../../bindings/js/src/client/sweep/rows.js';
import { bestPartCount, partsOf } from '../../bindings/js/src/client/sweep/switched/parts.js';
import { sharesOf } from '../../bindings/js/src/client/sweep/switched/shares.js';
import { type Unit, UnitQueue, unitsOf } from '../../bindings/js/src/client/sweep/switched/units.js';
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
    expect(bestPartCount({ createMs: 16, runMs: 2 }, 432, 0)).toBe(5);
    expect(bestPartCount({ createMs: 16, runMs: 2 }, 4 * 432, 0)).toBe(10);
    expect(bestPartCount({ createMs: 100, runMs: 1 }, 8, 8)).toBe(1);
    expect(bestPartCount({ createMs: 0, runMs: 0 }, 0, 0)).toBe(1);
  });

  it('are fewer where each runs many samples once more with everything off', () => {
    const prices = { createMs: 10, runMs: 3 };
    const cost = (parts: number) => (160 + parts * 4) * (1 / 2 + 1 / (2 * parts)) * 3 + parts * 10;
    const best = bestPartCount(prices, 160, 4);
    expect(best).toBeLessThan(bestPartCount(prices, 160, 0));
    for (const other of [best - 1, best + 1]) expect(cost(best)).toBeLessThanOrEqual(cost(other));
  });

  it('are not cut where more tensors cross than may', () => {
    const rows = rowsOf(12);
    const sweep = info(
      rows.map((_, i) => Math.floor(i / 2)),
      6,
    );
    sweep.cuts[2] = ['t2', 'mask'];
    sweep.cuts[3] = ['t3', 'mask', 'shape'];
    const cutsOf = (most: number) =>
      partsOf(rows, sweep, 6, new Set(['x']), most).map(({ cut, rows: some }) => [cut, some.length]);
    const all = [0, 1, 2, 3, 4, 5].map((cut) => [cut, 2]);
    expect(cutsOf(Number.POSITIVE_INFINITY)).toEqual(all);
    expect(cutsOf(2).map(([cut]) => cut)).toEqual([0, 1, 2, 4, 5]);
    expect(cutsOf(1).map(([cut]) => cut)).toEqual([0, 1, 4, 5]);
    expect(cutsOf(0)).toEqual([[0, 12]]);
    // Where the first cut is not at the inputs, even that one is too much.
    const whole = partsOf(rows, sweep, 6, new Set(['other']), 0);
    expect(whole.map(({ cut, front, rows: some }) => [cut, front, some.length])).toEqual([[null, true, 12]]);
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

describe('units', () => {
  const parts = partsOf(
    rowsOf(12),
    info(
      [...rowsOf(12).keys()].map((i) => Math.floor(i / 4)),
      3,
    ),
    3,
    new Set(['x']),
  );
  const everything = parts.flatMap((part) => part.rows).map((one) => ({ row: one, samples: [0, 1, 2, 3] }));
  const names = (units: (Unit | null)[]) =>
    units.flatMap((unit) => unit!.rows.map(({ order }) => `${order}/${unit!.sample}`));
  /** What each lane runs, if lane 0 takes `pace` units for each one of the others. */
  function run(lists: Unit[][], pace: number): Unit[][] {
    const queue = new UnitQueue(lists.map((list) => [...list]));
    const ran: Unit[][] = lists.map(() => []);
    for (let moved = true; moved; ) {
      moved = false;
      for (const lane of lists.keys())
        for (let i = 0; i < (lane === 0 ? pace : 1); i++) {
          const unit = queue.take(lane, (sample) => ran[lane]!.some((one) => one.sample === sample));
          if (unit !== null) ran[lane]!.push(unit);
          moved ||= unit !== null;
        }
    }
    return ran;
  }

  it('go part by part, with the rows that are wanted of a sample', () => {
    const wanted = everything.filter(({ row: one }) => one.order % 2 === 0);
    const units = unitsOf([...wanted, { row: row(99), samples: [7] }], parts);
    expect(units.map(({ part }) => parts.indexOf(part))).toEqual([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    expect(names(units).length).toBe(6 * 4);
    expect(new Set(names(units))).toEqual(
      new Set(wanted.flatMap(({ row: one, samples }) => samples.map((sample) => `${one.order}/${sample}`))),
    );
  });

  it.each([1, 2, 5, 100])('are all run once, whoever is %i times as fast', (pace) => {
    const lists = sharesOf(everything, 3, () => new Set()).map((share) => unitsOf(share, parts));
    const ran = run(lists, pace);
    const all = ran.flatMap(names);
    expect(all.length).toBe(12 * 4);
    expect(new Set(all).size).toBe(12 * 4);
  });

  it('of a slow lane are taken over from the end, those of one sample together, the last one by halves', () => {
    const list = unitsOf(everything, parts);
    const queue = new UnitQueue([[], list]);
    const first = queue.take(0, () => false)!;
    expect([parts.indexOf(first.part), first.sample]).toEqual([2, 3]);
    const second = queue.take(0, (sample) => sample === 3)!;
    expect([parts.indexOf(second.part), second.sample]).toEqual([1, 3]);
    const lonely = unitsOf(everything.slice(0, 4), parts).slice(0, 1);
    const halves = new UnitQueue([[], lonely]);
    expect(names([halves.take(0, () => true)])).toEqual(['2/0', '3/0']);
    expect(names([halves.take(1, () => true)])).toEqual(['0/0', '1/0']);
  });

  it('that cost less than loading their sample stay where they are', () => {
    const list = unitsOf(everything.slice(0, 4), parts).slice(0, 1);
    const queue = new UnitQueue([[], list]);
    expect(queue.take(0, () => false)).toBeNull();
    expect(names([queue.take(1, () => false)]).length).toBe(4);
    expect(queue.take(1, () => true)).toBeNull();
  });
});
