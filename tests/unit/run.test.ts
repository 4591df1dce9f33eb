// Running many samples: the same as one by one, in one session, which is gone afterwards.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEngine, type Engine, type SampleSet } from '../../bindings/js/src/index.js';
import { openGraph } from './golden_models.js';

let engine: Engine;

beforeAll(() => {
  engine = createEngine({ workers: 2 });
});

afterAll(() => engine.close());

it('gives for each sample what running it alone gives', async () => {
  const { model, samples } = await openGraph(engine, 'g01_res_identity');
  const each: number[][] = [];
  for await (const { y } of model.runEach(samples)) each.push([...(y!.data as Float32Array)]);
  expect(each).toHaveLength(samples.count);
  for (const [index, values] of each.entries()) {
    const { y } = await model.run(await samples.load(index));
    expect(values).toEqual([...(y!.data as Float32Array)]);
  }
  await model.close();
  expect(await engine.liveObjects()).toBe(0);
});

it('releases its session when the loop ends early or a sample fails', async () => {
  const { model, samples } = await openGraph(engine, 'g01_res_identity');
  for await (const { y } of model.runEach(samples)) {
    expect(y!.data.byteLength).toBeGreaterThan(0);
    break;
  }
  const broken: SampleSet = {
    ...samples,
    count: 2,
    name: (index) => `sample ${index}`,
    load: async (index) => {
      if (index === 0) return samples.load(0);
      return { x: { type: 'float32', dims: [1], data: new Float32Array(1) } };
    },
  };
  const running = async () => {
    for await (const _ of model.runEach(broken)) {
      // every output is dropped
    }
  };
  await expect(running()).rejects.toMatchObject({ code: 'invalid_sample' });
  await model.close();
  expect(await engine.liveObjects()).toBe(0);
});
