// An engine: one worker that holds models, a pool of workers that run them, and the package's files they need.
import { loadCore, loadRuntime, loadWorkerScript } from '../platform/assets.js';
import { hardwareThreads, machineMemory } from '../platform/platform.js';
import { startWorker, type WorkerScript } from '../platform/start_worker.js';
import { cancelled, HalftoneError } from '../shared/errors.js';
import { PROTOCOL, type RunnerName, type WireSource } from '../shared/protocol.js';
import type {
  ByteSource,
  Cancellable,
  CompareFormatsOptions,
  DecodedTensor,
  DecodeOptions,
  EncodedTensor,
  EncodeOptions,
  Model,
  ResultsDifference,
  SensitivityResults,
  StorageFormat,
  TensorComparison,
  TensorSource,
  WeightRef,
} from '../types.js';
import { type CallOptions, Connection } from './connection.js';
import type { Engine, EngineInfo, EngineOptions, OpenOptions } from './engine_types.js';
import {
  compareFormats,
  decodeParts,
  decodeTensor,
  encodeTensor,
  formatChoices,
  formats,
} from './formats.js';
import type { ModelHandle } from './model.js';
import { openAgain, openModel } from './open.js';
import { Pool } from './pool.js';
import { compareResults, mergeResults, readResults } from './results_files.js';

interface Greeting {
  version: string;
  commit: string;
  instructionSet: string;
}

/** A cancel that the worker with the models doesn't answer for this long costs the worker (models are opened again by need). */
const CORE_GRACE_MS = 2000;
/** A run that takes longer than this after a cancel is ended with its worker: early enough for an answer within 250 ms. */
const POOL_GRACE_MS = 150;
const DEFAULT_MEMORY_SHARE = 0.5;

export class HalftoneEngine implements Engine {
  readonly runner: RunnerName;
  readonly pool: Pool;
  private readonly core: Connection;
  private coreReady: Promise<Greeting> | null = null;
  private files: Promise<{ script: WorkerScript; core: WebAssembly.Module }> | null = null;
  private script: WorkerScript = { text: '' };
  private runtime: Promise<WireSource> | null = null;
  private ofFormats: HalftoneEngine | null = null;
  private closed = false;
  /** Rises each time the worker with the models was lost: handles from before are void. */
  generation = 0;

  constructor(
    private readonly options: EngineOptions,
    /** What its workers' instances are made from. */
    private readonly module: 'core' | 'formats' = 'core',
  ) {
    this.runner = options.runner ?? 'web';
    this.core = new Connection(() => startWorker(this.script), {
      cancelGraceMs: CORE_GRACE_MS,
      onLost: () => {
        this.coreReady = null;
        this.generation++;
      },
    });
    this.pool = new Pool({
      wanted: options.workers ?? hardwareThreads(),
      memoryBudget: options.memoryBudget ?? machineMemory() * DEFAULT_MEMORY_SHARE,
      create: (onLost) =>
        new Connection(() => startWorker(this.script), {
          cancelGraceMs: POOL_GRACE_MS,
          onLost: () => onLost(),
        }),
      greet: (connection, options) => this.greetPoolWorker(connection, options),
    });
  }

  /** With the module of number formats in its worker, which is started when it is first used. */
  formatsEngine(): HalftoneEngine {
    if (this.module === 'formats') return this;
    this.ofFormats ??= new HalftoneEngine({ ...this.options, workers: 1 }, 'formats');
    return this.ofFormats;
  }

  open(source: ByteSource, options: OpenOptions = {}): Promise<Model> {
    return openModel(this, source, options);
  }

  /** The files of a model that another engine has open. */
  openAgain(model: ModelHandle, options: Cancellable): Promise<ModelHandle> {
    return openAgain(this, model, options);
  }

  /** The worker that holds models, started when it isn't running. */
  async models(): Promise<Connection> {
    if (this.closed)
      throw new HalftoneError('invalid_state', 'The engine is closed.', { next: 'Make a new one.' });
    await this.greeting();
    return this.core;
  }

  async info(): Promise<EngineInfo> {
    const { version, commit, instructionSet } = await this.greeting();
    return { version, commit, instructionSet, runner: this.runner, workers: this.pool.wanted };
  }

  async prepare(): Promise<void> {
    await this.greeting();
    await this.pool.worker(0);
  }

  async readResults(text: string): Promise<SensitivityResults> {
    return readResults(await this.models(), text);
  }

  async mergeResults(texts: readonly string[]): Promise<SensitivityResults> {
    return mergeResults(await this.models(), texts);
  }

  async compareResults(a: SensitivityResults, b: SensitivityResults): Promise<ResultsDifference> {
    return compareResults(await this.models(), a, b);
  }

  async formats(block = 0): Promise<StorageFormat[]> {
    return formats(await this.formatsModels(), block);
  }

  async encodeTensor(source: TensorSource, options: EncodeOptions): Promise<EncodedTensor> {
    return encodeTensor(await this.formatsModels(), source, options);
  }

  async decodeTensor(source: ByteSource, options: DecodeOptions = {}): Promise<DecodedTensor> {
    return decodeTensor(await this.formatsModels(), source, options);
  }

  async decodeParts(encoded: EncodedTensor, options: Cancellable = {}): Promise<Float32Array<ArrayBuffer>> {
    return decodeParts(await this.formatsModels(), encoded, options);
  }

  async compareFormats(
    tensors: readonly (TensorSource | WeightRef)[],
    names: readonly string[],
    blocks: readonly number[] = [],
    options: CompareFormatsOptions = {},
  ): Promise<TensorComparison[]> {
    const core = await this.formatsModels();
    return compareFormats(core, tensors, formatChoices(await formats(core), names, blocks), options);
  }

  private formatsModels(): Promise<Connection> {
    if (this.closed) return this.models();
    return this.formatsEngine().models();
  }

  async memory(): Promise<number> {
    const own = this.core.connected ? await this.core.call('memory', null) : 0;
    return own + ((await this.ofFormats?.memory()) ?? 0);
  }

  async liveObjects(): Promise<number> {
    const core = this.core.connected ? await this.core.call('live', null) : 0;
    const formats = (await this.ofFormats?.liveObjects()) ?? 0;
    return core + formats + (await this.pool.liveObjects());
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.ofFormats?.close();
    this.pool.close();
    this.core.terminate(cancelled());
  }

  hang(which: 'core' | 'pool'): void {
    if (this.options.testHooks !== true) {
      throw new HalftoneError('invalid_state', 'The engine was made without test hooks.');
    }
    const target = which === 'core' ? this.core : this.pool.anyConnection();
    target?.call('test.hang', null).catch(() => {});
  }

  private greeting(): Promise<Greeting> {
    this.coreReady ??= this.greetCore().catch((error) => {
      this.coreReady = null;
      throw error;
    });
    return this.coreReady;
  }

  private async greetCore(): Promise<Greeting> {
    const { script, core } = await this.loadFiles();
    this.script = script;
    if (!this.core.connected) this.core.connect();
    return this.core.call('hello', {
      protocol: PROTOCOL,
      core,
      module: this.module,
      runtime: null,
      runner: this.runner,
      testHooks: this.options.testHooks === true,
    });
  }

  private async greetPoolWorker(connection: Connection, options: CallOptions): Promise<void> {
    const { script, core } = await this.loadFiles();
    const runtime = this.runner === 'web' ? await this.loadRuntime() : null;
    this.script = script;
    connection.connect();
    await connection.call(
      'hello',
      { protocol: PROTOCOL, core, runtime, runner: this.runner, testHooks: this.options.testHooks === true },
      options,
    );
  }

  private loadFiles(): Promise<{ script: WorkerScript; core: WebAssembly.Module }> {
    const { worker, ...modules } = this.options.assets ?? {};
    const { module } = this;
    this.files ??= Promise.all([loadWorkerScript(worker), loadCore(modules[module], module)]).then(
      ([script, core]) => ({ script, core }),
      (error) => {
        this.files = null;
        throw error;
      },
    );
    return this.files;
  }

  private loadRuntime(): Promise<WireSource> {
    this.runtime ??= loadRuntime(this.options.assets?.runtime).catch((error) => {
      this.runtime = null;
      throw error;
    });
    return this.runtime;
  }
}

export function createEngine(options: EngineOptions = {}): Engine {
  return new HalftoneEngine(options);
}

let shared: HalftoneEngine | null = null;

/** Opens a model in the engine that all models of the program share, or in the one that is given. */
export function open(source: ByteSource, options: OpenOptions = {}): Promise<Model> {
  if (options.engine !== undefined) return options.engine.open(source, options);
  shared ??= new HalftoneEngine({});
  return shared.open(source, options);
}
