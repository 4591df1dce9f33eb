// A model as the program sees it. The model itself is in a worker; this knows its number there, and its files.
import { HalftoneError } from '../shared/errors.js';
import type { FileFacts, StoredFile, WireSource } from '../shared/protocol.js';
import type {
  CalibrateOptions,
  Cancellable,
  ConvertedModel,
  EncodeWeightsOptions,
  Encoding,
  Encodings,
  Flip,
  FlipOptions,
  LocalNoise,
  Model,
  ModelCost,
  ModelGraph,
  ModelScore,
  ModelSummary,
  ParetoOptions,
  ParetoPoint,
  PatternMatch,
  Plan,
  PlanOptions,
  PropagationRow,
  QuantizedModel,
  QuantizeOptions,
  Sample,
  SampleSet,
  ScoreOptions,
  SensitivityOptions,
  SensitivityResults,
  SensitivityRun,
  StandardOptions,
  TensorStatistics,
  WeightInfo,
} from '../types.js';
import { calibrate } from './calibrate.js';
import type { Connection } from './connection.js';
import { decodeWeights, encodeWeights, toStandard } from './encoded_weights.js';
import type { HalftoneEngine } from './engine.js';
import { cost, flip } from './flip.js';
import { JobLock } from './job_lock.js';
import { localRanking } from './local_ranking.js';
import type { OpenedModel, Reopen } from './open.js';
import { pareto } from './pareto.js';
import { checkPlanOptions } from './plan_options.js';
import { propagation } from './propagation.js';
import { quantize } from './quantize.js';
import { type RunOptions, runModel, runSamples } from './run_model.js';
import { withSampleShapes } from './sample_shapes.js';
import { score } from './score.js';
import { sensitivity } from './sensitivity.js';
import { statistics } from './statistics.js';

export class ModelHandle implements Model {
  readonly lock = new JobLock();
  private sha256: Promise<string> | null = null;
  private summary: Promise<ModelSummary> | null = null;
  private closed = false;
  private reopening: Promise<OpenedModel> | null = null;
  private twin: Promise<ModelHandle> | null = null;

  constructor(
    readonly engine: HalftoneEngine,
    readonly name: string,
    private readonly source: WireSource,
    private opened: OpenedModel,
    private readonly reopen: Reopen,
  ) {}

  get bytes(): number {
    return this.opened.bytes;
  }

  get files(): StoredFile[] {
    return this.opened.files;
  }

  /** The worker and the model's number in it; opens the model again if its worker was lost. */
  async core(options: Cancellable = {}): Promise<{ core: Connection; model: number }> {
    if (this.closed) {
      throw new HalftoneError('invalid_state', 'The model is closed.', {
        where: this.name,
        next: 'Open it again.',
      });
    }
    const core = await this.engine.models();
    if (this.opened.generation !== this.engine.generation) {
      this.reopening ??= this.reopen({ signal: options.signal }).finally(() => {
        this.reopening = null;
      });
      this.opened = await this.reopening;
    }
    return { core, model: this.opened.handle };
  }

  /** The same model in the worker of number formats. */
  inFormats(options: Cancellable = {}): Promise<ModelHandle> {
    const engine = this.engine.formatsEngine();
    if (engine === this.engine) return Promise.resolve(this);
    this.twin ??= this.core(options)
      .then(() => engine.openAgain(this, options))
      .catch((error) => {
        this.twin = null;
        throw error;
      });
    return this.twin;
  }

  async facts(options: Cancellable = {}): Promise<FileFacts> {
    const { core } = await this.core(options);
    this.sha256 ??= core.call('hash', { source: this.source }, { signal: options.signal }).catch((error) => {
      this.sha256 = null;
      throw error;
    });
    return { name: this.name, sha256: await this.sha256 };
  }

  inspect(): Promise<ModelSummary> {
    this.summary ??= this.readSummary().catch((error) => {
      this.summary = null;
      throw error;
    });
    return this.summary;
  }

  async plan(options: PlanOptions = {}, samples?: SampleSet): Promise<Plan> {
    checkPlanOptions(options);
    const known = samples === undefined ? options : await withSampleShapes(this, options, samples);
    const { core, model } = await this.core();
    return core.call('plan', { model, options: known, file: await this.facts() });
  }

  async previewPatterns(patterns: string[]): Promise<PatternMatch[]> {
    const { core, model } = await this.core();
    return core.call('plan.patterns', { model, patterns });
  }

  async checkPlan(plan: Plan): Promise<void> {
    const { core, model } = await this.core();
    await core.call('plan.check', { model, plan });
  }

  async calibrate(
    plan: Plan | Promise<Plan>,
    samples: SampleSet,
    options: CalibrateOptions = {},
  ): Promise<Encodings> {
    const release = this.lock.take('a calibration');
    try {
      return await calibrate(this, await plan, samples, options);
    } finally {
      release();
    }
  }

  sensitivity(
    plan: Plan | Promise<Plan>,
    encodings: Encodings,
    samples: SampleSet,
    options: SensitivityOptions = {},
  ): SensitivityRun {
    return sensitivity(this, plan, encodings, samples, options);
  }

  async quantize(
    plan: Plan | Promise<Plan>,
    encodings: Encodings,
    options: QuantizeOptions = {},
  ): Promise<QuantizedModel> {
    return quantize(this, await plan, encodings, options);
  }

  async score(
    plan: Plan | Promise<Plan>,
    encodings: Encodings,
    samples: SampleSet,
    options: ScoreOptions = {},
  ): Promise<ModelScore> {
    const release = this.lock.take('scoring');
    try {
      return await score(this, await plan, encodings, samples, options);
    } finally {
      release();
    }
  }

  async graph(): Promise<ModelGraph> {
    const { core, model } = await this.core();
    return core.call('graph', { model });
  }

  async propagation(
    plan: Plan | Promise<Plan>,
    encodings: Encodings,
    samples: SampleSet,
    options: Cancellable = {},
  ): Promise<PropagationRow[]> {
    const release = this.lock.take('a comparison tensor by tensor');
    try {
      return await propagation(this, await plan, encodings, samples, options);
    } finally {
      release();
    }
  }

  async localRanking(
    plan: Plan | Promise<Plan>,
    encodings: Encodings,
    samples: SampleSet,
    options: Cancellable = {},
  ): Promise<LocalNoise[]> {
    const release = this.lock.take('a first ranking');
    try {
      return await localRanking(this, await plan, encodings, samples, options);
    } finally {
      release();
    }
  }

  cost(plan: Plan, samples?: SampleSet): Promise<ModelCost> {
    return cost(this, plan, samples);
  }

  flip(plan: Plan, encodings: Encodings, results: SensitivityResults, options: FlipOptions): Promise<Flip> {
    return flip(this, plan, encodings, results, options);
  }

  async pareto(
    plan: Plan,
    encodings: Encodings,
    results: SensitivityResults | null,
    samples: SampleSet,
    options: ParetoOptions,
  ): Promise<ParetoPoint[]> {
    const release = this.lock.take('a search');
    try {
      return await pareto(this, plan, encodings, results, samples, options);
    } finally {
      release();
    }
  }

  run(sample: Sample, options: RunOptions = {}): Promise<Sample> {
    return runModel(this, sample, options);
  }

  runEach(samples: SampleSet, options: RunOptions = {}): AsyncIterable<Sample> {
    return runSamples(this, samples, options);
  }

  statistics(
    tensor: string,
    samples: SampleSet | null,
    options: { bins?: number; encoding?: Encoding } & Cancellable = {},
  ): Promise<TensorStatistics> {
    return statistics(this, tensor, samples, options);
  }

  async weights(least = 1): Promise<WeightInfo[]> {
    const { core, model } = await (await this.inFormats()).core();
    return core.call('weights', { model, least });
  }

  encodeWeights(options: EncodeWeightsOptions): Promise<ConvertedModel> {
    return encodeWeights(this, options);
  }

  decodeWeights(options: { externalData?: string } & Cancellable = {}): Promise<ConvertedModel> {
    return decodeWeights(this, options);
  }

  toStandard(options: StandardOptions = {}): Promise<ConvertedModel> {
    return toStandard(this, options);
  }

  async close(): Promise<void> {
    if (this.closed) return;
    const current = this.opened;
    this.closed = true;
    // What failed there was told to who asked.
    await (await this.twin?.catch(() => null))?.close();
    if (current.generation !== this.engine.generation) return;
    const core = await this.engine.models();
    await core.call('close', { model: current.handle });
  }

  private async readSummary(): Promise<ModelSummary> {
    const { core, model } = await this.core();
    return core.call('inspect', { model, file: await this.facts() });
  }
}
