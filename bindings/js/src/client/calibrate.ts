// Calibration: every quantized activation is watched over all samples, by as many workers as there are.
//
// The outcome doesn't depend on the number of workers: which tensors share a session is decided before, each sample is run by
// itself, and merging ranges is the same in any order.
import { HalftoneError } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import type { CalibrationTarget, Skeleton, TensorRange } from '../shared/protocol.js';
import type { CalibrateOptions, Encodings, Plan, SampleSet } from '../types.js';
import type { Connection } from './connection.js';
import type { ModelHandle } from './model.js';
import { requireSamples, SampleFeed } from './sample_feed.js';
import { withJob, withSession } from './session.js';

/** Outputs of one session together, for one sample. */
const CHUNK_BYTES = 128 * 2 ** 20;
const CHUNK_TENSORS = 256;

export async function calibrate(
  model: ModelHandle,
  plan: Plan,
  samples: SampleSet,
  options: CalibrateOptions,
): Promise<Encodings> {
  if (options.method !== undefined && options.method !== 'minmax') {
    throw new HalftoneError('invalid_policy', `There is no calibration method "${String(options.method)}".`, {
      next: 'Use minmax.',
    });
  }
  requireSamples(samples);
  const { core, model: handle } = await model.core(options);
  const call = { signal: options.signal };
  const targets = await core.call('targets', { model: handle, plan, tensors: options.tensors ?? [] }, call);
  const ranges = await observe(model, targets, samples, options, plan);
  return core.call(
    'encodings',
    {
      model: handle,
      plan,
      ranges,
      method: options.method ?? 'minmax',
      samples: samples.count,
      file: await model.facts(options),
    },
    call,
  );
}

/**
 * The range of each target over all samples, in the order of the targets. With a plan for target `aimet` its weights are
 * quantized meanwhile, as in AIMET.
 */
export async function observe(
  model: ModelHandle,
  targets: CalibrationTarget[],
  samples: SampleSet,
  options: CalibrateOptions,
  plan?: Plan,
): Promise<TensorRange[]> {
  const chunks = chunked(targets);
  const progress = new ProgressReporter(
    'calibrate',
    'runs',
    chunks.length * samples.count,
    options.onProgress,
  );
  const merged = new Map<string, TensorRange>();
  for (const chunk of chunks) {
    const tick = () => progress.advance(1);
    for (const range of await observeChunk(model, chunk, samples, options, tick, plan)) merge(merged, range);
  }
  progress.finish();
  return targets.flatMap(({ tensor }) => merged.get(tensor) ?? []);
}

/** Tensors that are watched in one session, so that the values of one sample fit CHUNK_BYTES. Inputs cost nothing there. */
export function chunked(targets: CalibrationTarget[]): CalibrationTarget[][] {
  const chunks: CalibrationTarget[][] = [];
  let bytes = 0;
  for (const target of targets) {
    const size = target.graphInput ? 0 : target.bytes;
    const current = chunks.at(-1);
    if (current === undefined || bytes + size > CHUNK_BYTES || current.length >= CHUNK_TENSORS) {
      chunks.push([target]);
      bytes = size;
    } else {
      current.push(target);
      bytes += size;
    }
  }
  return chunks;
}

async function observeChunk(
  model: ModelHandle,
  chunk: CalibrationTarget[],
  samples: SampleSet,
  options: CalibrateOptions,
  tick: () => void,
  plan?: Plan,
): Promise<TensorRange[]> {
  const fetched = chunk.filter((target) => !target.graphInput).map((target) => target.tensor);
  const { inputs } = (await model.inspect()).model;
  const { workers } = model.engine.pool.size(model.bytes, samples.count);
  const ranges: TensorRange[] = [];
  let next = 0;
  await model.engine.pool.run(workers, options.signal, async (worker, signal) => {
    const feed = new SampleFeed(worker, samples, inputs);
    const watch = (session: number | null) =>
      watchSamples(worker, chunk, signal, async (job) => {
        while (next < samples.count && !signal.aborted) {
          const { sample, transfer } = await feed.once(next++);
          await worker.call(
            'observe.feed',
            { job, session, sample, tensors: chunk.map((target) => target.tensor) },
            { signal, transfer },
          );
          tick();
        }
      });
    if (fetched.length === 0) {
      ranges.push(...(await watch(null)));
      return;
    }
    const skeleton = await observedSkeleton(model, fetched, signal, plan);
    ranges.push(
      ...(await withSession(
        worker,
        skeleton,
        model.files,
        options.optimization ?? 'exact',
        signal,
        (session) => watch(session),
      )),
    );
  });
  return ranges;
}

async function watchSamples(
  worker: Connection,
  chunk: CalibrationTarget[],
  signal: AbortSignal,
  feedAll: (job: number) => Promise<void>,
): Promise<TensorRange[]> {
  const { job } = await worker.call(
    'observe.start',
    { tensors: chunk.map((target) => target.tensor) },
    { signal },
  );
  return withJob(worker, job, signal, async () => {
    await feedAll(job);
    return worker.call('observe.end', { job }, { signal });
  });
}

async function observedSkeleton(
  model: ModelHandle,
  tensors: string[],
  signal: AbortSignal,
  plan?: Plan,
): Promise<Skeleton> {
  const { core, model: handle } = await model.core({ signal });
  const simulated = plan?.target === 'aimet' ? { plan } : {};
  return core.call('outputs', { model: handle, tensors, ...simulated }, { signal });
}

function merge(into: Map<string, TensorRange>, range: TensorRange): void {
  const known = into.get(range.tensor);
  if (known === undefined) {
    into.set(range.tensor, { ...range });
    return;
  }
  known.min = Math.min(known.min, range.min);
  known.max = Math.max(known.max, range.max);
  known.values += range.values;
}
