// Range, histogram, clipping and noise of one tensor. A weight is read in the core; an activation is run over the samples
// twice, once for its range and once for its histogram, so memory doesn't grow with their number.
import { HalftoneError } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import type { CalibrationTarget } from '../shared/protocol.js';
import type { Cancellable, Encoding, SampleSet, TensorStatistics } from '../types.js';
import { observe } from './calibrate.js';
import type { ModelHandle } from './model.js';
import { requireSamples, SampleFeed } from './sample_feed.js';
import { withJob, withSession } from './session.js';

const DEFAULT_BINS = 128;
const MOST_BINS = 65536;

type Options = { bins?: number; encoding?: Encoding } & Cancellable;

export async function statistics(
  model: ModelHandle,
  tensor: string,
  samples: SampleSet | null,
  options: Options,
): Promise<TensorStatistics> {
  const bins = options.bins ?? DEFAULT_BINS;
  if (!Number.isInteger(bins) || bins < 1 || bins > MOST_BINS) {
    throw new HalftoneError(
      'invalid_policy',
      `The number of bins must be a whole number from 1 to ${MOST_BINS}.`,
    );
  }
  const { core, model: handle } = await model.core(options);
  if (samples === null) {
    const payload = { model: handle, tensor, bins, encoding: options.encoding ?? null };
    return core.call('weight.statistics', payload, { signal: options.signal });
  }
  requireSamples(samples);
  const [target] = await core.call(
    'targets',
    { model: handle, plan: null, tensors: [tensor] },
    { signal: options.signal },
  );
  return activationStatistics(model, target!, samples, bins, options);
}

async function activationStatistics(
  model: ModelHandle,
  target: CalibrationTarget,
  samples: SampleSet,
  bins: number,
  options: Options,
): Promise<TensorStatistics> {
  const { signal } = options;
  const progress = new ProgressReporter('samples', 'runs', 2 * samples.count, options.onProgress);
  let seen = 0;
  const [range] = await observe(model, [target], samples, {
    signal,
    onProgress: ({ done }) => {
      progress.advance(done - seen);
      seen = done;
    },
  });
  const { core, model: handle } = await model.core(options);
  const { workers } = model.engine.pool.size(model.bytes, Number.POSITIVE_INFINITY);
  const worker = await model.engine.pool.leastLoaded(workers, { signal });
  const feed = new SampleFeed(worker, samples, (await model.inspect()).model.inputs);
  const { tensor } = target;
  const fill = async (session: number | null): Promise<TensorStatistics> => {
    const start = { tensor, min: range!.min, max: range!.max, bins, encoding: options.encoding ?? null };
    const { job } = await worker.call('histogram.start', start, { signal });
    return withJob(worker, job, signal, async () => {
      for (let index = 0; index < samples.count; index++) {
        const { sample, transfer } = await feed.once(index);
        await worker.call('histogram.feed', { job, session, sample, tensor }, { signal, transfer });
        progress.advance(1);
      }
      progress.finish();
      return worker.call('histogram.end', { job }, { signal });
    });
  };
  if (target.graphInput) return fill(null);
  const skeleton = await core.call('outputs', { model: handle, tensors: [tensor] }, { signal });
  return withSession(worker, skeleton, model.files, 'exact', signal, fill);
}
