import { describe, expect, it } from 'vitest';
import { createEngine, type Encodings, type Progress, type SampleSet } from '../../bindings/js/src/index.js';
import { graphPath, graphSamples, openGraph } from './golden_models.js';
import { engine, rejection, withGraph } from './test_engine.js';

describe('calibration', () => {
  it('gives every quantized site an encoding, in site order, whatever the number of workers and chunks', async () => {
    await withGraph('g23_concat_inception', async ({ model, plan, encodings, samples }) => {
      expect(Object.keys(encodings.encodings)).toEqual(
        plan.sites.filter((site) => site.quantized).map((site) => site.tensor),
      );
      expect(encodings.samples).toBe(4);
      const single = createEngine({ workers: 1 });
      const alone = await single.open({ path: graphPath('g23_concat_inception') });
      expect(await alone.calibrate(plan, await graphSamples('g23_concat_inception', alone))).toEqual(
        encodings,
      );
      await alone.close();
      await single.close();
      expect(samples.count).toBe(4);
      await expect(model.checkPlan(plan)).resolves.toBeUndefined();
    });
  });

  it('equals the range of what run() gives', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const site = plan.sites.find(
        (candidate) => candidate.role === 'activation' && candidate.quantized && candidate.tensor !== 'x',
      )!;
      let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (let i = 0; i < samples.count; i++) {
        const values = (await model.run(await samples.load(i), { outputs: [site.tensor] }))[site.tensor]!
          .data as Float32Array;
        low = Math.min(low, ...values);
        high = Math.max(high, ...values);
      }
      const { min, max } = encodings.encodings[site.tensor]!;
      expect(Math.fround(max[0]!)).toBe(high);
      expect(Math.fround(min[0]!)).toBe(low);
    });
  });

  it('refuses NaN by tensor and sample', async () => {
    const { model, samples } = await openGraph(engine, 'g01_res_identity');
    const poisoned: SampleSet = {
      ...samples,
      count: samples.count,
      random: false,
      warnings: [],
      name: (index) => `file ${index}`,
      load: async (index) => {
        const sample = await samples.load(index);
        if (index === 2) (sample.x!.data as Float32Array)[5] = Number.NaN;
        return sample;
      },
    };
    const error = await rejection(model.calibrate(model.plan(), poisoned));
    expect(error.code).toBe('non_finite');
    expect(error.where).toBe('x');
    expect(error.message).toContain('file 2');
    expect(error.message).toContain('element 5');
    await model.close();
  });

  it('refuses samples of another model', async () => {
    const { model } = await openGraph(engine, 'g01_res_identity');
    const wrong: SampleSet = {
      count: 1,
      random: false,
      warnings: [],
      name: () => 'wrong.npy',
      load: async () => ({ x: { type: 'float32', dims: [1, 2], data: new Float32Array(2) } }),
    };
    const error = await rejection(model.calibrate(model.plan(), wrong));
    expect(error.code).toBe('invalid_sample');
    expect(error.message).toContain('wrong.npy');
    await model.close();
  });

  it('reports progress by its laws, and can be cancelled; the model works on', async () => {
    const { model, samples } = await openGraph(engine, 'g01_res_identity');
    const seen: Progress[] = [];
    const abort = new AbortController();
    const many: SampleSet = {
      count: 400,
      random: false,
      warnings: [],
      name: String,
      load: (index) => samples.load(index % 4),
    };
    const run = model.calibrate(model.plan(), many, {
      signal: abort.signal,
      onProgress: (progress) => {
        seen.push(progress);
        if (progress.done > 0) abort.abort();
      },
    });
    expect((await rejection(run)).code).toBe('cancelled');
    expect(seen.at(-1)!.done).toBeLessThan(400);
    const again: Progress[] = [];
    await model.calibrate(model.plan(), samples, { onProgress: (progress) => again.push(progress) });
    expect(again.at(-1)).toEqual({ phase: 'calibrate', done: 4, total: 4, unit: 'runs' });
    await model.close();
  });
});

describe('law 7: one job per model at a time', () => {
  it('a second calibration is refused while the first runs, and works after it', async () => {
    const { model, samples } = await openGraph(engine, 'g01_res_identity');
    const plan = await model.plan();
    const first = model.calibrate(plan, samples);
    expect((await rejection(model.calibrate(plan, samples))).code).toBe('invalid_state');
    const none: Encodings = { halftone: '', model_sha256: '', method: 'minmax', samples: 0, encodings: {} };
    expect((await rejection(model.sensitivity(plan, none, samples).results())).code).toBe('invalid_state');
    expect((await rejection(model.score(plan, none, samples))).code).toBe('invalid_state');
    await first;
    await model.calibrate(plan, samples);
    await model.close();
  });
});
