// One engine for the tests of a file, ended after them; no test may leave an object alive in it. Importing this is enough.
import { afterAll, afterEach, expect } from 'vitest';
import {
  createEngine,
  type Encodings,
  type Engine,
  HalftoneError,
  type Model,
  type Plan,
  type SampleSet,
} from '../../bindings/js/src/index.js';
import { openGraph } from './golden_models.js';

export const engine: Engine = createEngine({ workers: 2, testHooks: true });

afterAll(() => engine.close());

afterEach(async () => {
  expect(await engine.liveObjects()).toBe(0);
});

export async function rejection(promise: Promise<unknown>): Promise<HalftoneError> {
  const error = await promise.then(
    () => null,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(HalftoneError);
  return error as HalftoneError;
}

export async function withGraph(
  name: string,
  work: (graph: { model: Model; samples: SampleSet; plan: Plan; encodings: Encodings }) => Promise<void>,
  on: Engine = engine,
): Promise<void> {
  const { model, samples } = await openGraph(on, name);
  try {
    const plan = await model.plan();
    await work({ model, samples, plan, encodings: await model.calibrate(plan, samples) });
  } finally {
    await model.close();
  }
}
