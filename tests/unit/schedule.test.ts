// Which rows are measured on which samples.
import { describe, expect, it } from 'vitest';
import { Row } from '../../bindings/js/src/client/sweep/rows.js';
import { FullSchedule, type Schedule, TopSchedule } from '../../bindings/js/src/client/sweep/schedule.js';

const kSamples = 8;

function rows(count: number): Row[] {
  return Array.from(
    { length: count },
    (_, order) => new Row({ key: `row${order}`, sites: [`row${order}`], detail: '' }, order, undefined),
  );
}

/** Runs a schedule over one block; `score(row, samples)` is what a row has after so many samples. */
async function play(schedule: Schedule, score: (order: number, samples: number) => number): Promise<number> {
  let runs = 0;
  for (;;) {
    const tasks = await schedule.next({ from: 0, to: kSamples });
    if (tasks.length === 0) return runs;
    for (const { row, range } of tasks) {
      expect(range.from).toBe(row.samples);
      row.add(new Float64Array(), range.to - range.from);
      row.result = { score: score(row.order, row.samples), interval: null };
      runs += range.to - range.from;
    }
  }
}

function top(all: Row[], count: number, confidence = 0.95): TopSchedule {
  return new TopSchedule(all, kSamples, {
    count,
    confidence,
    sensitivity: (row) => -(row.result.score ?? Number.NEGATIVE_INFINITY),
    // Close to Student's t for the degrees that occur here.
    student: async (_confidence, degrees) => 1.64 + 2 / degrees,
  });
}

describe('the full schedule', () => {
  it('measures every row on every sample, once', async () => {
    const all = rows(5);
    expect(await play(new FullSchedule(all), () => 1)).toBe(5 * kSamples);
    expect(all.every((row) => row.samples === kSamples)).toBe(true);
  });
});

describe('the schedule for the top', () => {
  it('finds the worst when scores hardly move, with a fraction of the runs', async () => {
    const all = rows(100);
    const wobble = (order: number, samples: number) => 0.1 * Math.sin(order * 7 + samples);
    const runs = await play(top(all, 5), (order, samples) => 30 + order + wobble(order, samples));
    const complete = all.filter((row) => row.samples === kSamples).map((row) => row.order);
    expect(complete).toEqual(expect.arrayContaining([0, 1, 2, 3, 4]));
    expect(runs).toBeLessThan(0.3 * 100 * kSamples);
  });

  it('goes on with every row that might still get there when scores move a lot', async () => {
    const all = rows(40);
    // Row 30 looks harmless after one sample, and is the worst of all after eight; others move as much.
    const late = (order: number, samples: number) =>
      order === 30 && samples === kSamples
        ? 1
        : 30 + order / 4 + (samples === kSamples ? 20 * Math.sin(order) : 0);
    await play(top(all, 3), late);
    expect(all[30]!.samples).toBe(kSamples);
  });

  it('measures all rows if fewer are there than wanted', async () => {
    const all = rows(4);
    await play(top(all, 10), (order) => order);
    expect(all.every((row) => row.samples === kSamples)).toBe(true);
  });

  it('gives nothing up before it has seen three rows both ways', async () => {
    const all = rows(3);
    await play(top(all, 1), (order) => 10 * order);
    expect(all.every((row) => row.samples === kSamples)).toBe(true);
  });

  it('is the same whatever order its tasks end in', async () => {
    const given = async (reverse: boolean) => {
      const all = rows(30);
      const schedule = top(all, 4);
      const rounds: string[][] = [];
      for (;;) {
        const tasks = await schedule.next({ from: 0, to: kSamples });
        if (tasks.length === 0) return rounds;
        rounds.push(tasks.map(({ row, range }) => `${row.order}:${range.from}-${range.to}`));
        for (const { row, range } of reverse ? [...tasks].reverse() : tasks) {
          row.add(new Float64Array(), range.to - range.from);
          row.result = { score: 20 + ((row.order * 13) % 30) + row.samples / 100, interval: null };
        }
      }
    };
    expect(await given(true)).toEqual(await given(false));
  });
});
