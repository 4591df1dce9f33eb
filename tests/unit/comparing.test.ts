import { describe, expect, it } from 'vitest';
import { compare, createEngine } from '../../bindings/js/src/index.js';
import { graphPath, openGraph } from './golden_models.js';
import { engine, rejection, withGraph } from './test_engine.js';

describe('comparing', () => {
  it('a model with itself: no error at all', async () => {
    const { model, samples } = await openGraph(engine, 'g51_outputs_conv');
    const same = await compare(model, model, samples);
    expect(same.samples).toBe(4);
    expect(same.outputs.map((output) => output.name)).toEqual(
      (await model.inspect()).model.outputs.map((output) => output.name),
    );
    for (const output of same.outputs) {
      expect(output).toMatchObject({ psnr: 100, max_abs_error: 0, sqnr: null });
      expect(output.cosine).toBeCloseTo(1, 12);
    }
    await model.close();
  });

  it('with its quantized version, under exact options: what score() calls simulated', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const { model: blob } = await model.quantize(plan, encodings);
      const written = await engine.open(blob);
      const { outputs } = await compare(model, written, samples, { optimization: 'exact' });
      const { simulated } = await model.score(plan, encodings, samples);
      expect(outputs.map((output) => output.name)).toEqual(['y']);
      expect(outputs[0]!.psnr).toBeCloseTo(simulated, 6);
      expect(outputs[0]!.max_abs_error).toBeGreaterThan(0);
      expect(outputs[0]!.cosine).toBeGreaterThan(0.99);
      await written.close();
    });
  });

  it('refuses models of different engines and models without a common output', async () => {
    const { model, samples } = await openGraph(engine, 'g01_res_identity');
    const other = createEngine({ workers: 1 });
    const stranger = await other.open({ path: graphPath('g01_res_identity') });
    expect((await rejection(compare(model, stranger, samples))).code).toBe('invalid_state');
    await stranger.close();
    await other.close();
    const different = await engine.open({ path: graphPath('g51_outputs_conv') });
    expect((await rejection(compare(different, model, samples))).code).toMatch(/invalid_(graph|sample)/);
    await different.close();
    await model.close();
  });
});

describe('the runner "node"', () => {
  it('gives the same ranges but for the last bits, without optimization, and scores close by', async () => {
    const native = createEngine({ runner: 'node', workers: 2 });
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const open = await openGraph(native, 'g01_res_identity');
      const ranges = await open.model.calibrate(plan, open.samples, { optimization: 'disabled' });
      for (const [tensor, { scale, zero_point }] of Object.entries(ranges.encodings)) {
        expect(zero_point).toEqual(encodings.encodings[tensor]!.zero_point);
        for (const [i, value] of scale.entries()) {
          expect(value / encodings.encodings[tensor]!.scale[i]!).toBeCloseTo(1, 5);
        }
      }
      const { simulated } = await open.model.score(plan, encodings, open.samples);
      expect(simulated).toBeCloseTo((await model.score(plan, encodings, samples)).simulated, 0);
      await open.model.close();
    });
    expect(await native.liveObjects()).toBe(0);
    await native.close();
  });
});
