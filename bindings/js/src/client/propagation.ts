// Where error grows: every activation of the fully quantized model against the float model's, in one pass over the samples.
import { ProgressReporter } from '../shared/progress.js';
import type { CompareRow, SweepInfo } from '../shared/protocol.js';
import type { Cancellable, Encodings, Plan, PropagationRow, SampleSet } from '../types.js';
import type { ModelHandle } from './model.js';
import { requireSamples, SampleFeed } from './sample_feed.js';
import { withJob, withSession } from './session.js';
import { SweepModels } from './sweep/sweep_models.js';
import { NO_GROUPS } from './sweep/sweep_options.js';

/** Tensors are compared behind their own quantizers, as the nodes that read them see them. */
export async function propagation(
  model: ModelHandle,
  plan: Plan,
  encodings: Encodings,
  samples: SampleSet,
  options: Cancellable,
): Promise<PropagationRow[]> {
  requireSamples(samples);
  const { signal } = options;
  const { core, model: handle } = await model.core(options);
  const started = await core.call(
    'sweep.start',
    { model: handle, plan, encodings, choice: NO_GROUPS },
    { signal },
  );
  try {
    const compared = await compareAll(model, started, samples, options);
    return compared.map(({ psnr, sqnr, mse }, i) => ({ ...started.activations[i]!, psnr, sqnr, mse }));
  } finally {
    if (core.connected) await core.call('sweep.end', { sweep: started.sweep }).catch(() => {});
  }
}

async function compareAll(
  model: ModelHandle,
  { sweep, activations }: SweepInfo,
  samples: SampleSet,
  options: Cancellable,
): Promise<CompareRow[]> {
  const models = new SweepModels(model, sweep);
  const tensors = activations.map(({ tensor }) => tensor);
  const { inputs } = (await model.inspect()).model;
  const progress = new ProgressReporter('score', 'runs', samples.count, options.onProgress);
  let rows: CompareRow[] = [];
  await model.engine.pool.run(1, options.signal, async (worker, signal) => {
    const feed = new SampleFeed(worker, samples, inputs);
    const all = (a: number) => async (b: number) => {
      const { job } = await worker.call('compare.start', { tensors }, { signal });
      rows = await withJob(worker, job, signal, async () => {
        for (let index = 0; index < samples.count; index++) {
          const { sample, transfer } = await feed.once(index);
          await worker.call('compare.feed', { job, a, b, sample }, { signal, transfer });
          progress.advance(1);
        }
        return worker.call('compare.end', { job }, { signal });
      });
    };
    const { files } = model;
    const float = await models.take({ kind: 'float_tensors' }, signal);
    await withSession(worker, float, files, 'exact', signal, async (a) => {
      const simulated = await models.take({ kind: 'simulated_tensors' }, signal);
      await withSession(worker, simulated, files, 'exact', signal, all(a));
    });
  });
  progress.finish();
  return rows;
}
