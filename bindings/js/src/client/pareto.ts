// Mixed-precision models found by measuring them: score against bytes and bit-operations.
import { cancelled, HalftoneError } from '../shared/errors.js';
import { withFront } from '../shared/pareto_front.js';
import { ProgressReporter } from '../shared/progress.js';
import type { MixedInfo } from '../shared/protocol.js';
import type {
  Encodings,
  ModelCost,
  ParetoOptions,
  ParetoPoint,
  Plan,
  SampleSet,
  SensitivityResults,
} from '../types.js';
import type { Connection } from './connection.js';
import { flipped, precisionOf } from './flip.js';
import type { ModelHandle } from './model.js';
import { Measuring, MixedModels } from './pareto/measuring.js';
import { noiseOf, search } from './pareto/search.js';
import { requireSamples } from './sample_feed.js';
import { costShapes } from './sample_shapes.js';
import type { LaneJob } from './sweep/score_lane.js';
import { scoreChoice } from './sweep/sweep_options.js';

const MAX_WEIGHT_BYTES = 1.15;
const MAX_BIT_OPS = 1.5;

export async function pareto(
  model: ModelHandle,
  plan: Plan,
  encodings: Encodings,
  results: SensitivityResults | null,
  samples: SampleSet,
  options: ParetoOptions,
): Promise<ParetoPoint[]> {
  requireSamples(samples);
  const limits = {
    weightBytes: factor('maxWeightBytes', options.maxWeightBytes ?? MAX_WEIGHT_BYTES),
    bitOps: factor('maxBitOps', options.maxBitOps ?? MAX_BIT_OPS),
  };
  const request = { ...precisionOf(options.to), score: scoreChoice(options.score) };
  const shapes = await costShapes(model, samples, options);
  const { core, model: handle } = await model.core(options);
  const started = await core.call(
    'mixed.start',
    { model: handle, plan, encodings, request, shapes },
    { signal: options.signal },
  );
  try {
    if (started.candidates.length === 0) {
      throw new HalftoneError('invalid_policy', 'No quantizer of the plan can be raised to this precision.', {
        next: 'Choose a higher precision, or another role.',
      });
    }
    return await new Pareto(model, core, started, { plan, encodings }, options).run(samples, limits, results);
  } finally {
    if (core.connected) await core.call('mixed.end', { search: started.search }).catch(() => {});
  }
}

class Pareto {
  private readonly points: ParetoPoint[] = [];
  private readonly known = new Map<string, ParetoPoint>();
  private readonly costs = new Map<string, ModelCost>();

  constructor(
    private readonly model: ModelHandle,
    private readonly core: Connection,
    private readonly started: MixedInfo,
    private readonly base: { plan: Plan; encodings: Encodings },
    private readonly options: ParetoOptions,
  ) {}

  async run(
    samples: SampleSet,
    limits: { weightBytes: number; bitOps: number },
    results: SensitivityResults | null,
  ): Promise<ParetoPoint[]> {
    const { signal, onProgress } = this.options;
    const { candidates, search: number, scored } = this.started;
    const { inputs } = (await this.model.inspect()).model;
    const base = await this.cost([]);
    const most = mostMeasured(this.options.most, candidates.length);
    const progress = new ProgressReporter('pareto', 'runs', most * samples.count, onProgress);
    const job: LaneJob = {
      model: this.model,
      samples,
      inputs,
      models: new MixedModels(this.model, number),
      scored,
      cuts: [],
      base: 'float',
      seen: async () => {},
    };
    const { workers } = this.model.engine.pool.size(this.model.bytes, candidates.length);
    const measuring = new Measuring(job, this.core, workers, signal, (runs) => progress.advance(runs));
    await measuring.during(() =>
      search({
        count: candidates.length,
        limits: {
          weightBytes: limits.weightBytes * base.weight_bytes,
          bitOps: limits.bitOps * base.bit_ops,
        },
        noise: this.noise(results),
        cost: (set) => this.cost(set),
        measure: (sets) => this.measure(sets, measuring),
        most,
        measured: () => this.points.length,
      }),
    );
    if (signal?.aborted) throw cancelled();
    progress.finish();
    return withFront(this.points);
  }

  /** What each candidate adds by itself, if the ranking tells it of every one. */
  private noise(results: SensitivityResults | null): number[] | null {
    if (results === null) return null;
    const { by, metric, sweep } = results.halftone;
    if (by !== 'quantizer' || metric !== 'psnr' || sweep === 'disable') return null;
    const scores = new Map(results.ranking.map(({ name, score }) => [name, score]));
    const noise = this.started.candidates.map((tensors) =>
      tensors.reduce((sum, tensor) => sum + noiseOf(scores.get(tensor) ?? Number.NaN), 0),
    );
    return noise.every(Number.isFinite) ? noise : null;
  }

  private tensors(set: readonly number[]): string[] {
    return set.flatMap((candidate) => this.started.candidates[candidate]!);
  }

  private async cost(set: readonly number[]): Promise<ModelCost> {
    const key = set.join();
    const known = this.costs.get(key);
    if (known !== undefined) return known;
    const request = { search: this.started.search, tensors: this.tensors(set) };
    const cost = await this.core.call('mixed.cost', request, { signal: this.options.signal });
    this.costs.set(key, cost);
    return cost;
  }

  private async measure(sets: readonly (readonly number[])[], measuring: Measuring): Promise<number[]> {
    const fresh = [...new Map(sets.map((set) => [set.join(), set])).values()].filter(
      (set) => !this.known.has(set.join()),
    );
    if (fresh.length > 0) {
      const scores = await measuring.measure(fresh.map((set) => this.tensors(set)));
      for (const [i, set] of fresh.entries()) await this.add(set, scores[i]!);
    }
    return sets.map((set) => this.known.get(set.join())!.score);
  }

  private async add(set: readonly number[], score: number): Promise<void> {
    const tensors = this.tensors(set);
    const request = { search: this.started.search, tensors };
    const changes = await this.core.call('mixed.changes', request, { signal: this.options.signal });
    const point: ParetoPoint = {
      flipped: tensors,
      ...flipped(this.base, changes),
      score,
      cost: await this.cost(set),
      front: false,
    };
    this.points.push(point);
    this.known.set(set.join(), point);
    this.options.onPoint?.(withFront(this.points).at(-1)!);
  }
}

function mostMeasured(most: number | undefined, candidates: number): number {
  // Each alone, first steps, seeds, and room to climb.
  if (most === undefined) return 2 * candidates + 96;
  if (Number.isSafeInteger(most) && most >= 1) return most;
  throw new HalftoneError('invalid_policy', `most has to be a whole number from 1, not ${String(most)}.`, {
    where: 'most',
  });
}

function factor(name: string, value: number): number {
  if (typeof value === 'number' && value >= 1 && Number.isFinite(value)) return value;
  throw new HalftoneError('invalid_policy', `${name} has to be a factor from 1, not ${String(value)}.`, {
    where: name,
    next: 'It is in units of what the plan costs as it is.',
  });
}
