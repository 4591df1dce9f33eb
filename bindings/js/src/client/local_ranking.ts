// A first ranking after one pass over the samples, without any variant: the noise that each quantizer makes in its own tensor.
import { HalftoneError } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import type { Cancellable, Encodings, LocalNoise, Plan, SampleSet } from '../types.js';
import type { Connection } from './connection.js';
import type { ModelHandle } from './model.js';
import { requireSamples, SampleFeed } from './sample_feed.js';
import { tidy, withSession } from './session.js';

/** Of one session: its outputs for a sample are in memory together. */
const TENSORS_AT_ONCE = 256;

type Noise = Map<string, number | null>;

export async function localRanking(
  model: ModelHandle,
  plan: Plan,
  { encodings }: Encodings,
  samples: SampleSet,
  options: Cancellable,
): Promise<LocalNoise[]> {
  requireSamples(samples);
  const sites = plan.sites.filter(
    (site) => site.quantized && site.role !== 'bias' && Object.hasOwn(encodings, site.tensor),
  );
  if (sites.length === 0) {
    throw new HalftoneError('invalid_state', 'The plan has no quantizer with an encoding.', {
      next: 'Quantize at least one weight or activation, and calibrate.',
    });
  }
  const noise: Noise = new Map();
  const activations = sites.filter((site) => site.role === 'activation').map((site) => site.tensor);
  await watchActivations(model, activations, encodings, samples, options, noise);
  const { core, model: handle } = await model.core(options);
  for (const { tensor, role } of sites) {
    if (role !== 'weight') continue;
    const request = { model: handle, tensor, bins: 1, encoding: encodings[tensor]! };
    noise.set(tensor, (await core.call('weight.statistics', request, { signal: options.signal })).sqnr);
  }
  const rows = sites.map(({ tensor, role }) => ({
    name: tensor,
    role: role as 'activation' | 'weight',
    sqnr: noise.get(tensor) ?? null,
  }));
  // A tensor without noise has no ratio, and comes last.
  return rows.sort((a, b) => (a.sqnr ?? Number.MAX_VALUE) - (b.sqnr ?? Number.MAX_VALUE));
}

async function watchActivations(
  model: ModelHandle,
  tensors: string[],
  encodings: Encodings['encodings'],
  samples: SampleSet,
  options: Cancellable,
  noise: Noise,
): Promise<void> {
  const chunks = Array.from({ length: Math.ceil(tensors.length / TENSORS_AT_ONCE) }, (_, i) =>
    tensors.slice(i * TENSORS_AT_ONCE, (i + 1) * TENSORS_AT_ONCE),
  );
  const progress = new ProgressReporter('score', 'runs', chunks.length * samples.count, options.onProgress);
  for (const chunk of chunks) {
    await model.engine.pool.run(1, options.signal, async (worker, signal) => {
      const jobs: number[] = [];
      try {
        for (const tensor of chunk) jobs.push(await startReport(worker, tensor, encodings[tensor]!, signal));
        await feedReports(model, worker, chunk, jobs, samples, signal, () => progress.advance(1));
        for (const [i, job] of jobs.entries()) {
          const { sqnr } = await worker.call('histogram.end', { job }, { signal });
          noise.set(chunk[i]!, sqnr);
        }
      } finally {
        for (const job of jobs) await tidy(worker, 'job.drop', { job }, signal);
      }
    });
  }
  progress.finish();
}

async function feedReports(
  model: ModelHandle,
  worker: Connection,
  tensors: string[],
  jobs: number[],
  samples: SampleSet,
  signal: AbortSignal,
  tick: () => void,
): Promise<void> {
  const { inputs } = (await model.inspect()).model;
  const { core, model: handle } = await model.core({ signal });
  const feed = new SampleFeed(worker, samples, inputs);
  const skeleton = await core.call('outputs', { model: handle, tensors }, { signal });
  await withSession(worker, skeleton, model.files, 'exact', signal, async (session) => {
    for (let index = 0; index < samples.count; index++) {
      const { sample, transfer } = await feed.once(index);
      await worker.call('reports.feed', { jobs, session, sample }, { signal, transfer });
      tick();
    }
  });
}

async function startReport(
  worker: Connection,
  tensor: string,
  encoding: Encodings['encodings'][string],
  signal: AbortSignal,
): Promise<number> {
  const range = { min: encoding.min[0] ?? 0, max: encoding.max[0] ?? 0 };
  const request = { tensor, ...range, bins: 1, encoding };
  return (await worker.call('histogram.start', request, { signal })).job;
}
