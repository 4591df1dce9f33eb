// Runs the float model: one sample, or a set of them in one session.
import type { Skeleton } from '../shared/protocol.js';
import type { Cancellable, Sample, SampleSet } from '../types.js';
import { checkSample } from './check_sample.js';
import type { Connection } from './connection.js';
import type { ModelHandle } from './model.js';
import { movable, requireSamples, SampleFeed } from './sample_feed.js';
import { buffersOf, tidy, withSession } from './session.js';

export type RunOptions = {
  outputs?: string[];
  optimization?: 'exact' | 'default' | 'disabled';
} & Cancellable;

export async function runModel(model: ModelHandle, sample: Sample, options: RunOptions): Promise<Sample> {
  const { signal } = options;
  checkSample((await model.inspect()).model.inputs, sample, 'given');
  const { wanted, skeleton, worker } = await prepare(model, options);
  const { sample: tensors, transfer } = movable(sample);
  return withSession(worker, skeleton, model.files, options.optimization ?? 'exact', signal, (session) =>
    worker.call(
      'run',
      { session, sample: { index: 0, name: 'given', tensors }, outputs: wanted },
      { signal, transfer },
    ),
  );
}

/** The outputs of each sample in turn. Ending the loop early releases the session. */
export async function* runSamples(
  model: ModelHandle,
  samples: SampleSet,
  options: RunOptions,
): AsyncGenerator<Sample, void, void> {
  requireSamples(samples);
  const { signal } = options;
  const { inputs } = (await model.inspect()).model;
  const { wanted, skeleton, worker } = await prepare(model, options);
  const { session } = await worker.call(
    'session.create',
    { model: skeleton, files: model.files, mode: options.optimization ?? 'exact' },
    { signal, transfer: buffersOf(skeleton) },
  );
  try {
    const feed = new SampleFeed(worker, samples, inputs);
    for (let index = 0; index < samples.count; index++) {
      const { sample, transfer } = await feed.once(index);
      yield await worker.call('run', { session, sample, outputs: wanted }, { signal, transfer });
    }
  } finally {
    await tidy(worker, 'session.release', { session }, signal);
  }
}

async function prepare(
  model: ModelHandle,
  options: RunOptions,
): Promise<{ wanted: string[]; skeleton: Skeleton; worker: Connection }> {
  const { signal } = options;
  const { outputs } = (await model.inspect()).model;
  const { core, model: handle } = await model.core(options);
  const wanted = options.outputs ?? outputs.map((output) => output.name);
  const skeleton = await core.call('outputs', { model: handle, tensors: wanted }, { signal });
  const { workers } = model.engine.pool.size(model.bytes, Number.POSITIVE_INFINITY);
  const worker = await model.engine.pool.leastLoaded(workers, { signal });
  return { wanted, skeleton, worker };
}
