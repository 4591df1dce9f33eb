// Two models on the same samples, output by output.
import { HalftoneError } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import type { CompareOptions, Comparison, Model, SampleSet } from '../types.js';
import { ModelHandle } from './model.js';
import { requireSamples, SampleFeed } from './sample_feed.js';
import { sampleWarnings } from './sample_warnings.js';
import { withJob, withSession } from './session.js';

/** Compares `b` with `a`, which is taken as the truth. Both have to be open in the same engine. */
export async function compare(
  a: Model,
  b: Model,
  samples: SampleSet,
  options: CompareOptions = {},
): Promise<Comparison> {
  if (!(a instanceof ModelHandle) || !(b instanceof ModelHandle) || a.engine !== b.engine) {
    throw new HalftoneError('invalid_state', 'Only models of the same engine can be compared.', {
      next: 'Open both with the same engine.',
    });
  }
  requireSamples(samples);
  const { signal } = options;
  const mode = options.optimization ?? 'default';
  const tensors = options.outputs ?? (await commonOutputs(a, b));
  const { inputs } = (await a.inspect()).model;
  const progress = new ProgressReporter('score', 'runs', samples.count, options.onProgress);
  const skeletonOf = async (model: ModelHandle) => {
    const { core, model: handle } = await model.core(options);
    return core.call('outputs', { model: handle, tensors }, { signal });
  };
  let outputs: Comparison['outputs'] = [];
  await a.engine.pool.run(1, signal, async (worker, laneSignal) => {
    const feed = new SampleFeed(worker, samples, inputs);
    const both = (sessionA: number) => async (sessionB: number) => {
      const { job } = await worker.call('compare.start', { tensors }, { signal: laneSignal });
      outputs = await withJob(worker, job, laneSignal, async () => {
        for (let index = 0; index < samples.count; index++) {
          const { sample, transfer } = await feed.once(index);
          await worker.call(
            'compare.feed',
            { job, a: sessionA, b: sessionB, sample },
            { signal: laneSignal, transfer },
          );
          progress.advance(1);
        }
        return worker.call('compare.end', { job }, { signal: laneSignal });
      });
    };
    await withSession(worker, await skeletonOf(a), a.files, mode, laneSignal, async (sessionA) =>
      withSession(worker, await skeletonOf(b), b.files, mode, laneSignal, both(sessionA)),
    );
  });
  progress.finish();
  return { outputs, samples: samples.count, runner: a.engine.runner, warnings: sampleWarnings(samples) };
}

async function commonOutputs(a: ModelHandle, b: ModelHandle): Promise<string[]> {
  const [left, right] = await Promise.all([a.inspect(), b.inspect()]);
  const theirs = new Map(right.model.outputs.map((output) => [output.name, output]));
  const common = left.model.outputs.filter(
    (output) => output.type === 'float32' && theirs.get(output.name)?.type === 'float32',
  );
  if (common.length > 0) return common.map((output) => output.name);
  throw new HalftoneError('invalid_graph', 'The models have no float output in common.', {
    where: left.model.outputs.map((output) => output.name).join(', '),
    next: 'Compare a model with its own quantized version, or name the tensors.',
  });
}
