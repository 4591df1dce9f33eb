// Faults of the peer that show in the package, not in the placement: what it does silently is refused or said here.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine, type Engine, randomSamples, type SampleSet } from '../../bindings/js/src/index.js';
import { openGraph } from './golden_models.js';

let engine: Engine;

beforeAll(() => {
  engine = createEngine({ workers: 1 });
});

afterAll(() => engine.close());

describe('Q11: an unknown calibration method', () => {
  it.each(['maximum', 'entropy', 'Minmax', ''])(
    '"%s" is refused instead of taken for max',
    async (method) => {
      const { model, samples } = await openGraph(engine, 'g01_res_identity');
      const plan = await model.plan({ target: 'tensorrt' });
      const calibrating = model.calibrate(plan, samples, { method: method as 'minmax' });
      await expect(calibrating).rejects.toMatchObject({ code: 'invalid_policy', next: 'Use minmax.' });
      await model.close();
    },
  );
});

describe('Q22: a model in which nothing is quantized', () => {
  it('is written as the float model, and that is said first', async () => {
    const { model, samples } = await openGraph(engine, 'g01_res_identity');
    const plan = await model.plan({ target: 'tensorrt', exclude: ['op:Conv', 'op:Add', 'op:Relu'] });
    const encodings = await model.calibrate(plan, samples);
    const { report } = await model.quantize(plan, encodings);
    expect(report.sites.quantized).toBe(0);
    expect(report.quantized_node_names).toEqual([]);
    expect(Object.values(report.sites.float_by_rule).reduce((sum, n) => sum + n, 0)).toBe(plan.sites.length);
    expect(report.warnings[0]).toMatchObject({ code: 'nothing_quantized' });
    await model.close();
  });
});

describe('Q23: random calibration data', () => {
  it('is never made up: without samples there is no calibration', async () => {
    const { model } = await openGraph(engine, 'g01_res_identity');
    const plan = await model.plan({ target: 'tensorrt' });
    const none: SampleSet = { count: 0, warnings: [], random: false, name: () => '', load: async () => ({}) };
    await expect(model.calibrate(plan, none)).rejects.toMatchObject({ code: 'invalid_sample' });
    await model.close();
  });

  it('is a choice that every written model warns about', async () => {
    const { model } = await openGraph(engine, 'g01_res_identity');
    const { inputs } = (await model.inspect()).model;
    const samples = randomSamples(inputs, { count: 2, seed: 7 });
    const plan = await model.plan({ target: 'tensorrt' });
    const encodings = await model.calibrate(plan, samples);
    const { report } = await model.quantize(plan, encodings, { random: samples.random });
    expect(samples.random).toBe(true);
    expect(report.warnings.map(({ code }) => code)).toContain('random_data');
    await model.close();
  });
});
