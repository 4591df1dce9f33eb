import { describe, expect, it } from 'vitest';
import {
  createEngine,
  type Encodings,
  openPaths,
  readSamples,
  type SampleSet,
  type SensitivityResults,
} from '../../bindings/js/src/index.js';
import { modelPath } from '../../web/samples/copy.mjs';
import bundled from '../../web/samples/samples.json' with { type: 'json' };
import { engine, rejection, withGraph } from './test_engine.js';

describe('sensitivity', () => {
  let results: SensitivityResults;

  it('gives a row for each weight and activation quantizer, worst first, streamed before the end', async () => {
    await withGraph('g23_concat_inception', async ({ model, plan, encodings, samples }) => {
      const run = model.sensitivity(plan, encodings, samples);
      const streamed = [];
      for await (const row of run) streamed.push(row);
      results = await run.results();
      const expected = plan.sites
        .filter((site) => site.quantized && site.role !== 'bias')
        .map((site) => site.tensor);
      expect(results.ranking.map((row) => row.name).sort()).toEqual([...expected].sort());
      expect(streamed).toHaveLength(expected.length);
      const scores = results.ranking.map((row) => row.score!);
      expect(scores).toEqual([...scores].sort((a, b) => a - b));
      expect(results.ranking.map((row) => row.rank)).toEqual(scores.map((_, i) => i + 1));
      for (const score of scores) {
        expect(score).toBeGreaterThan(10);
        expect(score).toBeLessThan(100);
      }
      expect(results.halftone.samples).toBe(4);
    });
  });

  it('does not depend on the number of workers, to the last bit', async () => {
    const single = createEngine({ workers: 1 });
    await withGraph(
      'g23_concat_inception',
      async ({ model, plan, encodings, samples }) => {
        expect(await model.sensitivity(plan, encodings, samples).results()).toEqual(results);
      },
      single,
    );
    expect(await single.liveObjects()).toBe(0);
    await single.close();
  });

  // Variants come one by one; quantizers that are switched come in groups, on a small graph all at once.
  it.each([
    ['disable', 1],
    ['enable', 0],
  ] as const)('a cancel keeps what is done, by %s', async (sweep, missing) => {
    await withGraph('g23_concat_inception', async ({ model, plan, encodings, samples }) => {
      const all = await model.sensitivity(plan, encodings, samples, { sweep }).results();
      const abort = new AbortController();
      const run = model.sensitivity(plan, encodings, samples, { sweep, signal: abort.signal });
      const rows: string[] = [];
      const error = await rejection(
        (async () => {
          for await (const row of run) {
            rows.push(row.name);
            abort.abort();
          }
        })(),
      );
      expect(error.code).toBe('cancelled');
      expect((await rejection(run.results())).code).toBe('cancelled');
      const partial = await run.partial();
      expect(partial.ranking.length).toBeGreaterThan(0);
      expect(partial.ranking.length).toBeLessThanOrEqual(all.ranking.length - missing);
      for (const row of partial.ranking) {
        expect(row.score).toBe(all.ranking.find((full) => full.name === row.name)!.score);
      }
    });
  });

  it.each([
    [{ method: undefined }, 'The encodings have no text in "method".'],
    [{ method: 7 }, 'The encodings have no text in "method".'],
    [{ samples: '<b>' }, 'The encodings have no count in "samples".'],
    [{ samples: 1e300 }, 'The encodings have no count in "samples".'],
    [{ samples: -4 }, 'The encodings have no count in "samples".'],
  ])('encodings from a file with %j are refused before anything runs', async (wrong, message) => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const edited = { ...encodings, ...wrong } as Encodings;
      for (const refused of [
        model.quantize(plan, edited),
        model.sensitivity(plan, edited, samples).results(),
      ]) {
        expect(await rejection(refused)).toMatchObject({ code: 'invalid_policy', message });
      }
    });
  });

  it('says in the result that samples are random', async () => {
    await withGraph('g29_gemm_transb1', async ({ model, plan, encodings, samples }) => {
      const random: SampleSet = {
        count: 2,
        random: true,
        warnings: [],
        name: String,
        load: (index) => samples.load(index),
      };
      const { halftone } = await model.sensitivity(plan, encodings, random).results();
      expect(halftone.warnings.map((warning) => warning.code)).toContain('random_data');
    });
  });
});

describe('scores at the limit', () => {
  it('are said, with the tensor that tells more: behind a Softmax that saturates nothing is left to see', async () => {
    const model = await engine.open({ path: modelPath(bundled.samples[0]!.model) });
    const { inputs } = (await model.inspect()).model;
    const samples = await readSamples(openPaths(['tests/golden/samples/ocr_cls']), inputs);
    const whole = await model.plan();
    const labels = whole.inputs.filter((input) => input.op === 'Conv').map((input) => input.node);
    const plan = await model.plan({ include: [...new Set(labels)].slice(0, 2) });
    const encodings = await model.calibrate(plan, samples);
    const { halftone, ranking } = await model
      .sensitivity(plan, encodings, samples, { score: 'output' })
      .results();
    expect(halftone.scored).toEqual(['softmax_0.tmp_0']);
    expect(ranking.map((row) => row.score)).toEqual(ranking.map(() => 100));
    expect(ranking.length).toBe(4);
    const told = halftone.warnings.find((warning) => warning.code === 'scores_clipped')!;
    expect(told.message).toContain('4 of 4');
    expect(told.message).toContain('p2o.Add.87');
    const better = await model.sensitivity(plan, encodings, samples).results();
    expect(better.halftone.scored).toEqual(['p2o.Add.87']);
    expect(better.halftone.warnings).toEqual([]);
    await model.close();
  });
});
