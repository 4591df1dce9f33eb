// Sweeps for the worst few of a real model whose scored tensor has two values: predicted, measured, and nothing missed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createEngine,
  type Encodings,
  type Engine,
  type ImageOptions,
  type Model,
  openPaths,
  type Plan,
  readSamples,
  type SampleSet,
  type SensitivityOptions,
} from '../../bindings/js/src/index.js';
import { modelPath } from '../../web/samples/copy.mjs';
import list from '../../web/samples/samples.json' with { type: 'json' };

const TOP = 10;
const SAMPLE = 'text_direction';

let engine: Engine;
let model: Model;
let samples: SampleSet;
let plan: Plan;
let encodings: Encodings;

beforeAll(async () => {
  engine = createEngine({ workers: 2 });
  const sample = list.samples.find(({ folder }) => folder === SAMPLE)!;
  model = await engine.open({ path: modelPath(sample.model) });
  const { inputs } = (await model.inspect()).model;
  const images = sample.images as ImageOptions | null;
  samples = await readSamples(openPaths([`web/samples/${sample.folder}`]), inputs, images ?? undefined);
  plan = await model.plan();
  encodings = await model.calibrate(plan, samples);
});

afterAll(() => engine.close());

async function worst(options: SensitivityOptions) {
  const run = model.sensitivity(plan, encodings, samples, options);
  const { ranking } = await run.results();
  return { rows: ranking.slice(0, TOP).map(({ name, score }) => ({ name, score })), runs: run.costs().runs };
}

describe('the worst ten of a model with two outputs', () => {
  it.each(['psnr', 'mse', 'sqnr'] as const)(
    'are those of the whole ranking by %s, for a fifth of its runs',
    async (metric) => {
      const all = await worst({ metric });
      const few = await worst({ metric, top: TOP });
      expect(few.rows).toEqual(all.rows);
      expect(few.runs).toBeLessThan(all.runs / 5);
    },
  );

  it('are the same for any number of workers', async () => {
    const two = await worst({ top: TOP });
    const alone = createEngine({ workers: 1 });
    try {
      const other = await alone.open({
        path: modelPath(list.samples.find(({ folder }) => folder === SAMPLE)!.model),
      });
      const run = other.sensitivity(plan, encodings, samples, { top: TOP });
      const { ranking } = await run.results();
      expect(ranking.slice(0, TOP).map(({ name, score }) => ({ name, score }))).toEqual(two.rows);
    } finally {
      await alone.close();
    }
  });

  it('are measured, and lead by the same row, where the metric is no squared error and nothing is predicted', async () => {
    const scoresOf = async (options: SensitivityOptions) => {
      const { ranking } = await model
        .sensitivity(plan, encodings, samples, { metric: 'kl', ...options })
        .results();
      return ranking.map(({ name, score }) => [name, score] as const);
    };
    const few = (await scoresOf({ top: TOP })).slice(0, TOP);
    const all = new Map(await scoresOf({}));
    expect(few.length).toBe(TOP);
    expect(few).toEqual(few.map(([name]) => [name, all.get(name)]));
    expect(few[0]![0]).toBe([...all.keys()][0]);
  });
});
