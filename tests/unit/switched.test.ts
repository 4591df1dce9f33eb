// How a sweep by switches is divided: into parts, and among lanes.
import { describe, expect, it } from 'vitest';
import { Row } from '../../bindings/js/src/client/sweep/rows.js';
import {
  bestBorderCount,
  bestPartCount,
  partsOf,
  withFewerStages,
} from '../../bindings/js/src/client/sweep/switched/parts.js';
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

const cutsOfRows = (parts: { rows: Row[] }[], cutOf: number[]) =>
  parts.map(({ rows }) => rows.map(({ order }) => cutOf[order]));

describe('parts', () => {
  it('pay with the number of runs and of switches, and never go below one', () => {
    const prices = { create: 16, run: 2 };
    expect(bestPartCount(prices, 108, { runs: 432, samples: 0 })).toBe(3);
    expect(bestPartCount(prices, 108, { runs: 4 * 432, samples: 0 })).toBe(6);
    expect(bestPartCount(prices, 4 * 108, { runs: 432, samples: 0 })).toBe(6);
    expect(bestPartCount({ create: 0, run: 0 }, 0, { runs: 0, samples: 0 })).toBe(1);
  });

  it('are as many as cost least, with each running every sample once with everything off', () => {
    const prices = { create: 10, run: 3 };
    const cost = (parts: number) => (1728 * 200 * 0.003) / parts + parts * (10 + 16 * 3);
    const best = bestPartCount(prices, 200, { runs: 1728, samples: 16 });
    expect(best).toBeGreaterThan(1);
    for (const other of [best - 1, best + 1]) expect(cost(best)).toBeLessThanOrEqual(cost(other));
  });

  it('hold each row once, in the order of their cuts, with borders where rows begin', () => {
    const cutOf = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0].flatMap((cut) => [cut, cut, cut, cut]);
    const rows = rowsOf(40);
    for (const wanted of [1, 2, 3, 5, 10, 100]) {
      const parts = partsOf(rows, info(cutOf, 10), wanted, 100);
      const cuts = cutsOfRows(parts, cutOf);
      expect(cuts.flat()).toEqual([...cutOf].reverse());
      expect(parts.length).toBe(Math.min(wanted, 10));
      // Every cut is a border of the part whose rows lie behind it; none divides the rows of one cut.
      expect(parts.flatMap(({ stages }) => stages)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      for (const [i, { stages }] of parts.entries()) expect(new Set(stages)).toEqual(new Set(cuts[i]));
    }
  });

  it('have about as many borders as wanted, evenly over the rows', () => {
    const cutOf = Array.from({ length: 40 }, (_, i) => i >> 1);
    const [part, ...others] = partsOf(rowsOf(40), info(cutOf, 20), 1, 4);
    expect(others).toEqual([]);
    expect(part!.stages).toEqual([0, 4, 8, 12, 16]);
  });

  it('have no border for rows that need the whole model', () => {
    const cutOf = [-1, -1, 0, 1];
    expect(partsOf(rowsOf(4), info(cutOf, 2), 1, 100).map(({ stages }) => stages)).toEqual([[0, 1]]);
    expect(partsOf(rowsOf(2), info([-1, -1], 0), 1, 100).map(({ stages }) => stages)).toEqual([[]]);
  });

  it('that do not give the float outputs give up borders where most crosses, then all, then themselves', () => {
    const sweep = info([0, 1, 2], 3);
    sweep.cuts[1] = ['t1', 'mask'];
    const [part] = partsOf(rowsOf(3), sweep, 1, 100);
    const tries = [];
    for (let next = withFewerStages(part!, sweep); next !== null; next = withFewerStages(next, sweep))
      tries.push(next);
    expect(tries.map(({ stages }) => stages)).toEqual([[0, 2], []]);
    for (const { rows } of tries) expect(rows).toEqual(part!.rows);
  });
});

describe('borders', () => {
  it('are as many as cost least: each is run by half of the runs, and n leave 1 / 2n of a run for nothing', () => {
    for (const run of [0.5, 4, 70]) {
      const cost = (borders: number) => run / (2 * borders) + (borders * 0.012) / 2;
      const best = bestBorderCount({ create: 1, run });
      for (const other of [best - 1, best + 1]) expect(cost(best)).toBeLessThanOrEqual(cost(other) + 1e-9);
    }
    expect(bestBorderCount({ create: 1, run: 0 })).toBe(0);
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
      const rows = rowsOf(40);
      const all = Array.from({ length: samples }, (_, i) => i);
      const shares = sharesOf(
        rows.map((one) => ({ row: one, samples: all })),
        lanes,
        nowhere,
      );
      const runs = shares
        .flat()
        .flatMap((share) => share.samples.map((sample) => `${share.row.order}/${sample}`));
      expect(new Set(runs).size).toBe(40 * samples);
      expect(runs.length).toBe(40 * samples);
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

  it('of a sample that only one lane has stay with it unless they are many', () => {
    const home = (sample: number) => new Set(sample === 3 ? [0, 1] : [1]);
    const shares = sharesOf(
      rowsOf(3).map((one) => ({ row: one, samples: [5, 6] })),
      2,
      home,
    );
    expect(shares.map(runsOf)).toEqual([0, 6]);
    const many = sharesOf(
      rowsOf(30).map((one) => ({ row: one, samples: [5, 6] })),
      2,
      home,
    );
    expect(many.map(runsOf)).toEqual([30, 30]);
  });

  it('are shared by rows where samples do not go round and rows are many', () => {
    const shares = sharesOf(
      rowsOf(20).map((one) => ({ row: one, samples: [7] })),
      2,
      nowhere,
    );
    const even = Array.from({ length: 10 }, (_, i) => 2 * i);
    expect(shares.map((share) => share.map((one) => one.row.order))).toEqual([even, even.map((i) => i + 1)]);
    const few = sharesOf(
      rowsOf(4).map((one) => ({ row: one, samples: [7] })),
      2,
      nowhere,
    );
    expect(few.map(runsOf)).toEqual([4, 0]);
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
    3,
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

  it('of many rows complete some before others begin', () => {
    const many = rowsOf(100);
    const parted = partsOf(
      many,
      info(
        many.map(() => 0),
        1,
      ),
      1,
      0,
    );
    const units = unitsOf(
      many.map((one) => ({ row: one, samples: [0, 1] })),
      parted,
    );
    expect(units.map(({ sample, rows: some }) => [some[0]!.order, some.length, sample])).toEqual(
      [0, 25, 50, 75].flatMap((from) => [0, 1].map((sample) => [from, 25, sample])),
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
