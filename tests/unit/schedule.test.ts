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

function sumOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** Runs a schedule over one block; a row's score is the sum of what `score` gives for each sample, and higher is worse. */
async function play(schedule: Schedule, score: (order: number, sample: number) => number): Promise<number> {
  let runs = 0;
  for (;;) {
    const tasks = await schedule.next({ from: 0, to: kSamples });
    if (tasks.length === 0) return runs;
    for (const { row, samples } of tasks) {
      expect(samples.some((sample) => row.has(sample))).toBe(false);
      row.add(
        samples,
        Float64Array.from(samples, (sample) => score(row.order, sample)),
      );
      row.result = { score: sumOf(row.values()), interval: null };
      runs += samples.length;
    }
  }
}

function top(all: Row[], count: number, confidence = 0.95): TopSchedule {
  return new TopSchedule(all, {
    count,
    confidence,
    sensitivity: (row) => row.result.score ?? Number.POSITIVE_INFINITY,
    sensitivities: async (values) => values.map(sumOf),
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
  it('finds the worst with a fraction of the runs where few samples make the score', async () => {
    const all = rows(200);
    // Two hard samples; the others add a little that depends on the row.
    const hard = (order: number, sample: number) =>
      sample === 2 || sample === 5 ? 1000 / (1 + order) : 0.1 + 0.1 * Math.sin(order * 7 + sample);
    const runs = await play(top(all, 5), hard);
    const complete = all.filter((row) => row.samples === kSamples).map((row) => row.order);
    expect(complete).toEqual(expect.arrayContaining([0, 1, 2, 3, 4]));
    expect(runs).toBeLessThan(0.4 * 200 * kSamples);
    // Every row was seen on the hard samples first.
    expect(all.every((row) => row.has(2) && row.has(5))).toBe(true);
  });

  it('goes on with every row that might still get there when rows differ in which samples are hard', async () => {
    const all = rows(120);
    // What tells rows apart is in sample 3; beside it each row has one hard sample of its own.
    const own = (order: number, sample: number) =>
      (sample === order % kSamples ? 100 : 0) + (sample === 3 ? 50 + ((order * 37) % 120) : 0);
    await play(top(all, 3), own);
    const worst = [...all].sort((a, b) => ((b.order * 37) % 120) - ((a.order * 37) % 120)).slice(0, 3);
    expect(worst.map((row) => row.samples)).toEqual([kSamples, kSamples, kSamples]);
  });

  it('measures all rows if fewer are there than pilots', async () => {
    const all = rows(12);
    await play(top(all, 10), (order) => order);
    expect(all.every((row) => row.samples === kSamples)).toBe(true);
  });

  it('gives nothing up where the pilots are too few for the confidence', async () => {
    const all = rows(60);
    await play(top(all, 1, 0.99), (order) => 10 * order);
    expect(all.every((row) => row.samples === kSamples)).toBe(true);
  });

  it('is the same whatever order its tasks end in', async () => {
    const given = async (reverse: boolean) => {
      const all = rows(60);
      const schedule = top(all, 4, 0.9);
      const rounds: string[][] = [];
      for (;;) {
        const tasks = await schedule.next({ from: 0, to: kSamples });
        if (tasks.length === 0) return rounds;
        rounds.push(tasks.map(({ row, samples }) => `${row.order}:${samples}`));
        for (const { row, samples } of reverse ? [...tasks].reverse() : tasks) {
          row.add(
            samples,
            Float64Array.from(samples, (sample) => ((row.order * 13) % 30) + sample / 100),
          );
          row.result = { score: sumOf(row.values()), interval: null };
        }
      }
    };
    expect(await given(true)).toEqual(await given(false));
  });
});
