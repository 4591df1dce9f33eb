import { describe, expect, it } from 'vitest';
import { rejection, withGraph } from './test_engine.js';

describe('statistics', () => {
  it('of a weight: range, histogram that sums to the count, noise of its encoding', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings }) => {
      const weight = plan.sites.find((site) => site.role === 'weight' && site.quantized)!.tensor;
      const found = await model.statistics(weight, null, {
        bins: 32,
        encoding: encodings.encodings[weight]!,
      });
      expect(found.histogram).toHaveLength(32);
      expect(found.histogram.reduce((sum, count) => sum + count, 0)).toBe(found.count);
      expect(found.clipped).toBe(0);
      expect(found.sqnr).toBeGreaterThan(30);
      expect(found.sqnr).toBeLessThan(60);
    });
  });

  it('of an activation and of a graph input, over all samples', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, samples, encodings }) => {
      const input = await model.statistics('x', samples, { bins: 10, encoding: encodings.encodings.x! });
      const perSample = (await samples.load(0)).x!.dims.reduce((a, b) => a * b, 1);
      expect(input.count).toBe(4 * perSample);
      expect(input.histogram.reduce((sum, count) => sum + count, 0)).toBe(input.count);
      expect(input.min).toBe(Math.fround(encodings.encodings.x!.min[0]!));
      const other = plan.sites.find(
        (site) => site.role === 'activation' && site.quantized && site.tensor !== 'x',
      )!.tensor;
      const inner = await model.statistics(other, samples);
      expect(inner.count).toBeGreaterThan(0);
      expect(inner.sqnr).toBeNull();
      expect((await rejection(model.statistics('no such tensor', samples))).code).toBe('invalid_policy');
    });
  });
});
