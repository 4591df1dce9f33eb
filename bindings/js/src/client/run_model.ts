// Runs the float model once.
import type { Cancellable, Sample } from '../types.js';
import { checkSample } from './check_sample.js';
import type { ModelHandle } from './model.js';
import { movable } from './sample_feed.js';
import { withSession } from './session.js';

export type RunOptions = {
  outputs?: string[];
  optimization?: 'exact' | 'default' | 'disabled';
} & Cancellable;

export async function runModel(model: ModelHandle, sample: Sample, options: RunOptions): Promise<Sample> {
  const { signal } = options;
  const { inputs, outputs } = (await model.inspect()).model;
  checkSample(inputs, sample, 'given');
  const { core, model: handle } = await model.core(options);
  const wanted = options.outputs ?? outputs.map((output) => output.name);
  const skeleton = await core.call('outputs', { model: handle, tensors: wanted }, { signal });
  const { workers } = model.engine.pool.size(model.bytes, Number.POSITIVE_INFINITY);
  const worker = await model.engine.pool.leastLoaded(workers, { signal });
  const { sample: tensors, transfer } = movable(sample);
  return withSession(worker, skeleton, model.files, options.optimization ?? 'exact', signal, (session) =>
    worker.call(
      'run',
      { session, sample: { index: 0, name: 'given', tensors }, outputs: wanted },
      { signal, transfer },
    ),
  );
}
