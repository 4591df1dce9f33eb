// A search whose samples don't fit into a worker at once runs them in blocks, and finds the same.
import { expect, it, vi } from 'vitest';
import type { ParetoPoint } from '../../bindings/js/src/index.js';
import { withGraph } from './test_engine.js';

const room = vi.hoisted(() => ({ samples: Number.POSITIVE_INFINITY }));

vi.mock('../../bindings/js/src/client/sweep/block.js', async (original) => ({
  ...(await original<object>()),
  roomFor: () => room.samples,
}));

it('samples in blocks give the scores of all at once', async () => {
  await withGraph('g05_bottleneck_identity', async ({ model, samples, plan, encodings }) => {
    const options = { to: { weights: 'int16', activations: 'uint16' }, maxBitOps: 2, most: 16 };
    const searches: ParetoPoint[][] = [];
    for (const fits of [Number.POSITIVE_INFINITY, 3, 1]) {
      room.samples = fits;
      searches.push(await model.pareto(plan, encodings, null, samples, options));
    }
    const figures = searches.map((points) => points.map(({ flipped, score }) => [flipped, score]));
    expect(figures[0]!.length).toBeGreaterThan(8);
    expect(figures[1]).toEqual(figures[0]);
    expect(figures[2]).toEqual(figures[0]);

    const stop = new AbortController();
    const search = model.pareto(plan, encodings, null, samples, {
      ...options,
      signal: stop.signal,
      onPoint: () => stop.abort(),
    });
    await expect(search).rejects.toMatchObject({ code: 'cancelled' });
  });
});
