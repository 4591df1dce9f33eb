import { describe, expect, it } from 'vitest';
import type { SampleSet } from '../../bindings/js/src/index.js';
import { graphPath, openGraph } from './golden_models.js';
import { engine, rejection, withGraph } from './test_engine.js';

describe('a worker that hangs', () => {
  it('in the pool: a cancelled job ends, and the next one runs on a new worker', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const many: SampleSet = {
        count: 400,
        random: false,
        warnings: [],
        name: String,
        load: (index) => samples.load(index % 4),
      };
      const abort = new AbortController();
      const run = model.calibrate(plan, many, {
        signal: abort.signal,
        onProgress: ({ done }) => {
          if (done === 0 || abort.signal.aborted) return;
          engine.hang('pool');
          abort.abort();
        },
      });
      expect((await rejection(run)).code).toBe('cancelled');
      expect(await model.calibrate(plan, samples)).toEqual(encodings);
    });
  });

  it('the one that holds models: it is ended, and the model is opened again by itself', async () => {
    const { model } = await openGraph(engine, 'g01_res_identity');
    const summary = await model.inspect();
    engine.hang('core');
    const abort = new AbortController();
    const opening = engine.open({ path: graphPath('g23_concat_inception') }, { signal: abort.signal });
    setImmediate(() => abort.abort());
    expect((await rejection(opening)).code).toBe('cancelled');
    expect((await model.plan()).model_sha256).toBe(summary.model.sha256);
    await model.close();
  });
});
