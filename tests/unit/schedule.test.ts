// Which rows are measured on which samples.
import { describe, expect, it } from 'vitest';
import { PredictedSchedule } from '../../bindings/js/src/client/sweep/predicted_schedule.js';
import { isPredictable, Predictions } from '../../bindings/js/src/client/sweep/predictions.js';
import { Row } from '../../bindings/js/src/client/sweep/rows.js';
import {
  FullSchedule,
  type Schedule,
  type Top,
  TopSchedule,
} from '../../bindings/js/src/client/sweep/schedule.js';

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

function wantedOf(count: number, confidence: number): Top {
  return {
    count,
    confidence,
    sensitivity: (row) => row.result.score ?? Number.POSITIVE_INFINITY,
    sensitivities: async (values) => values.map(sumOf),
  };
}

function top(all: Row[], count: number, confidence = 0.95): TopSchedule {
  return new TopSchedule(all, wantedOf(count, confidence));
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

  it('sees rows first on the sample that tells most, which is not always the hardest', async () => {
    const all = rows(200);
    // Samples 5 to 7 are the hardest for nearly all rows, but say nothing of the worst ones, which suffer on sample 1.
    const score = (order: number, sample: number) => {
      if (sample === 1) return 300 / (1 + order);
      return sample >= 5 ? 5 + Math.sin(order * 7) : 0.01;
    };
    const runs = await play(top(all, 5), score);
    const complete = all.filter((row) => row.samples === kSamples).map((row) => row.order);
    expect(complete).toEqual(expect.arrayContaining([0, 1, 2, 3, 4]));
    expect(all.every((row) => row.has(1))).toBe(true);
    expect(runs).toBeLessThan(0.45 * 200 * kSamples);
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

/** Predicted: what `expected` gives; the terms of a row and sample are one number here. */
function predictedSchedule(
  all: Row[],
  count: number,
  expected: ((order: number, sample: number) => number) | null,
): PredictedSchedule {
  const wanted = wantedOf(count, 0.95);
  const known = {
    terms: (row: Row, sample: number) => Float64Array.of(expected!(row.order, sample)),
  } as Predictions;
  return new PredictedSchedule(all, wanted, async () => (expected === null ? null : known));
}

describe('the schedule by predictions', () => {
  /** Single samples make the score: which one depends on the row. */
  const heavy = (order: number, sample: number) =>
    sample === (order * 5) % kSamples ? 100 * 2 ** (-order / 6) : 0.001 * order;
  const worst = (all: Row[], count: number) =>
    [...all]
      .sort((a, b) => b.result.score! - a.result.score!)
      .slice(0, count)
      .map(({ order }) => order);

  it('measures the worst rows completely, and of the others pilots on one sample', async () => {
    const all = rows(100);
    const runs = await play(predictedSchedule(all, 10, heavy), heavy);
    expect(worst(all, 10)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const complete = all.filter((row) => row.samples === kSamples);
    expect(complete.length).toBeLessThan(20);
    expect(all.filter((row) => row.samples === 1).length).toBeGreaterThan(10);
    expect(runs).toBeLessThan(0.25 * 100 * kSamples);
  });

  it('goes on as long as predictions are as wrong as that, whatever their sign', async () => {
    // By a factor of up to 3, which for the last of the wanted is a place 18 rows further.
    const wrong = (order: number, sample: number) => heavy(order, sample) * 3 ** Math.sin(order * 2.3 + 1);
    const all = rows(100);
    await play(predictedSchedule(all, 10, wrong), heavy);
    expect(worst(all, 10)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('hears from its pilots that low predictions are too low', async () => {
    // Every row beyond the tenth is predicted to be harmless; a third of them is the worst of all.
    const hidden = (order: number, sample: number) =>
      order >= 10 && order % 3 === 0 ? 1000 + order + sample : heavy(order, sample);
    const all = rows(100);
    await play(predictedSchedule(all, 10, heavy), hidden);
    expect(worst(all, 10)).toEqual([99, 96, 93, 90, 87, 84, 81, 78, 75, 72]);
  });

  it('is the one for the top where nothing can be predicted', async () => {
    const score = (order: number, sample: number) => 100 / (1 + order) + Math.sin(order * 7 + sample);
    const [one, other] = [rows(60), rows(60)];
    const runs = await play(predictedSchedule(one, 5, null), score);
    expect(runs).toBe(await play(top(other, 5), score));
    expect(one.map((row) => row.samples)).toEqual(other.map((row) => row.samples));
  });

  it('asks for predictions once, and leaves later blocks to rows that are complete so far', async () => {
    const all = rows(50);
    let asked = 0;
    const known = { terms: (row: Row, sample: number) => Float64Array.of(heavy(row.order, sample)) };
    const schedule = new PredictedSchedule(all, wantedOf(5, 0.95), async () => {
      asked++;
      return known as Predictions;
    });
    await play(schedule, heavy);
    expect(asked).toBe(1);
    const later = await schedule.next({ from: kSamples, to: 2 * kSamples });
    const complete = all.filter((row) => row.samples === kSamples);
    expect(later.map(({ row }) => row)).toEqual(complete);
    expect(asked).toBe(1);
  });

  it('leaves rows of earlier results alone, and counts them', async () => {
    const all = rows(60);
    for (const row of all.slice(0, 3)) {
      row.resumed = kSamples;
      row.result = { score: heavy(row.order, (row.order * 5) % kSamples), interval: null };
    }
    await play(predictedSchedule(all, 10, heavy), heavy);
    expect(worst(all, 10)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(all.filter((row) => row.samples === kSamples).length).toBeLessThan(20);
  });

  it('measures everything where fewer rows are complete than are wanted', async () => {
    const all = rows(4);
    expect(await play(predictedSchedule(all, 10, heavy), heavy)).toBe(4 * kSamples);
  });
});

describe('predictions', () => {
  const row = (sites: string[]) => new Row({ key: 'r', sites, detail: '' }, 0, undefined);
  const known = new Predictions(
    ['a', 'b'],
    new Map([
      [
        3,
        {
          effects: [Float32Array.of(1, 2), Float32Array.of(-3, 0.5)],
          terms: Float64Array.of(2, 0, 0, -1, 1, 0),
        },
      ],
    ]),
  );

  it('square what the sites of a row do together to each value, in the terms of no error', () => {
    expect([...known.terms(row(['a']), 3)]).toEqual([2, 0, 10, -1, 1, 0]);
    expect([...known.terms(row(['a', 'b']), 3)]).toEqual([2, 0, 9 + 6.25, -1, 1, 0]);
    expect([...known.terms(row(['b']), 3)]).toEqual([2, 0, 4.25, -1, 1, 0]);
  });

  it('are for one scored tensor of few values, and for metrics of its squared error', () => {
    expect(isPredictable({ name: 'psnr', k: 1 }, ['y'], 2)).toBe(true);
    expect(isPredictable({ name: 'mse', k: 1 }, ['y'], 4)).toBe(true);
    expect(isPredictable({ name: 'psnr', k: 1 }, ['y'], 5)).toBe(false);
    expect(isPredictable({ name: 'psnr', k: 1 }, ['y'], 0)).toBe(false);
    expect(isPredictable({ name: 'psnr', k: 1 }, ['y', 'z'], 2)).toBe(false);
    expect(isPredictable({ name: 'kl', k: 1 }, ['y'], 2)).toBe(false);
    expect(isPredictable({ name: 'topk-psnr', k: 1 }, ['y'], 2)).toBe(false);
  });
});
