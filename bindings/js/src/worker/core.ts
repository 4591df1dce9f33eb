// The core as Emscripten binds it (bindings/wasm/bindings.cc), and how its results become values or errors. A test compares
// these names with the module's own.
import { HalftoneError } from '../shared/errors.js';
import type {
  ArrayData,
  EncodeInfo,
  EncodeRequest,
  FlipFigures,
  FlipRequest,
  FormatChoice,
  MixedInfo,
  MixedRequest,
  Operations,
  RowScore,
  Shapes,
  SiteSwitch,
  Stages,
  StoredRequest,
  SweepChoice,
  SweepInfo,
  WeightsRequest,
} from '../shared/protocol.js';
import type {
  DecodedInfo,
  ErrorCode,
  ModelCost,
  ModelGraph,
  PatternMatch,
  PlanOptions,
  StorageFormat,
  Warning,
  WeightInfo,
} from '../types.js';

export type CoreResult<T> =
  | { ok: true; value: T }
  | { ok: false; code: ErrorCode; message: string; where: string; next: string };

export interface CoreModel {
  delete(): void;
  /** A view of core memory: fill it at once, before anything else is called. */
  next(wanted: number): Uint8Array;
  commit(bytes: number): CoreResult<null>;
  parse(): CoreResult<{ location: string; minBytes: number }[]>;
  beginExternal(location: string, bytes: number): CoreResult<null>;
  finish(): CoreResult<null>;
  inspect(name: string, sha256: string): CoreResult<string>;
  plan(options: object, name: string, sha256: string): CoreResult<string>;
  checkPlan(plan: string): CoreResult<null>;
  shapesToMeasure(options: PlanOptions): CoreResult<string[]>;
  previewPatterns(patterns: string[]): CoreResult<PatternMatch[]>;
  scored(choice: string): CoreResult<string[]>;
  targets(
    plan: string,
    tensors: string[],
  ): CoreResult<{ tensor: string; graphInput: boolean; bytes: number }[]>;
  outputs(tensors: string[], planJson: string): CoreResult<CoreSkeleton>;
  graph(): CoreResult<ModelGraph>;
  encodings(
    plan: string,
    tensors: string[],
    minima: number[],
    maxima: number[],
    facts: { name: string; sha256: string; method: string; samples: number },
  ): CoreResult<string>;
  statistics(tensor: string, bins: number, encoding: string): CoreResult<unknown>;
}

export interface CoreJob {
  delete(): void;
  skeleton(kind: string, index: number, cut: number): CoreResult<CoreSkeleton>;
  switched(
    groups: number[],
    stages: number[],
  ): CoreResult<CoreSkeleton & { switches: SiteSwitch[] } & Stages>;
  firstOrder(
    tensors: string[],
    shapes: Shapes,
  ): CoreResult<CoreSkeleton & { cotangent: string; effects: string }>;
  feed(index: number, values: Float32Array, other: unknown): CoreResult<unknown>;
  read(part: number, offset: number, length: number): CoreResult<Uint8Array<ArrayBuffer>>;
  result(): CoreResult<unknown>;
}

export interface CoreTensorJob {
  delete(): void;
  /** A view of core memory: fill it at once, before anything else is called. */
  next(wanted: number): Uint8Array;
  commit(bytes: number): CoreResult<null>;
  take(part: number): CoreResult<Uint8Array<ArrayBuffer>>;
  result(): CoreResult<unknown>;
}

export interface CoreTrial {
  job: CoreTensorJob;
  passes: number;
  bytes: number;
}

export interface CoreSkeleton {
  model: Uint8Array<ArrayBuffer>;
  buffers: { path: string; bytes: Uint8Array<ArrayBuffer> }[];
}

/** Files as text, which hold only what changed. */
export interface CoreChanges {
  plan: string;
  encodings: string;
  dropped: string[];
  warnings: Warning[];
}

export interface CoreMixed {
  delete(): void;
  cost(tensors: readonly string[]): CoreResult<ModelCost>;
  /** null: the float model. */
  skeleton(tensors: readonly string[] | null): CoreResult<CoreSkeleton>;
  changes(tensors: readonly string[]): CoreResult<CoreChanges>;
}

export interface Core {
  createModel(bytes: number): CoreResult<CoreModel>;
  createSweep(
    model: CoreModel,
    plan: string,
    encodings: string,
    choice: SweepChoice,
  ): CoreResult<{ job: CoreJob } & Omit<SweepInfo, 'sweep'>>;
  createExport(
    model: CoreModel,
    plan: string,
    encodings: string,
    provenance: { method: string; samples: number; random: boolean },
    externalLocation: string,
  ): CoreResult<{ job: CoreJob } & Record<string, unknown>>;
  createObservers(count: number): CoreResult<CoreJob>;
  createComparison(count: number): CoreResult<CoreJob>;
  createReport(tensor: string, min: number, max: number, bins: number, encoding: string): CoreResult<CoreJob>;
  createMixed(
    model: CoreModel,
    plan: string,
    encodings: string,
    request: MixedRequest,
    shapes: Shapes,
  ): CoreResult<{ search: CoreMixed } & Omit<MixedInfo, 'search'>>;
  shapesForCost(model: CoreModel): CoreResult<string[]>;
  modelCost(model: CoreModel, plan: string, shapes: Shapes): CoreResult<ModelCost>;
  flipRows(
    model: CoreModel,
    texts: { plan: string; encodings: string; results: string },
    request: FlipRequest,
    shapes: Shapes,
  ): CoreResult<CoreChanges & FlipFigures>;
  /** What switches an activation on, and whether it does so exactly. */
  switchOn(
    kind: string,
    values: Float32Array,
    dims: readonly number[],
    encoding: string,
  ): CoreResult<{ values: Float32Array<ArrayBuffer>; exact: boolean }>;
  metricTerms(
    metric: string,
    k: number,
    expected: Float32Array,
    actual: Float32Array,
    lastDimension: number,
  ): CoreResult<number[]>;
  /** Of terms [sample][tensor][TERMS]: the score of the worst tensor, and its interval. */
  metricScore(metric: string, k: number, terms: Float64Array, tensors: number): CoreResult<RowScore>;
  jackknife(score: number, leftOut: Float64Array): CoreResult<[number, number] | null>;
  mergeResults(texts: string[]): CoreResult<string>;
  /** As text, as all results. */
  compareResults(before: string, after: string): CoreResult<string>;
  rankResults(results: string): CoreResult<string>;
  listFormats(block: number): CoreResult<StorageFormat[]>;
  createEncoder(
    options: EncodeRequest & Pick<ArrayData, 'type' | 'dims'>,
  ): CoreResult<{ job: CoreTensorJob } & Omit<EncodeInfo, 'feed'>>;
  /** An empty type: the one that was encoded. */
  createDecoder(
    frame: Uint8Array,
    payloadBytes: number,
    type: string,
  ): CoreResult<{ job: CoreTensorJob } & DecodedInfo>;
  decodeStored(
    options: StoredRequest,
    codes: Uint8Array,
    scales: Uint8Array,
    zeroPoints: Uint8Array,
  ): CoreResult<Float32Array<ArrayBuffer>>;
  createTrial(type: string, dims: number[], choices: FormatChoice[]): CoreResult<CoreTrial>;
  createConstantTrial(model: CoreModel, tensor: string, choices: FormatChoice[]): CoreResult<CoreTrial>;
  createEncodedExport(
    model: CoreModel,
    options: WeightsRequest,
    externalLocation: string,
  ): CoreResult<{ job: CoreJob } & Omit<Operations['weights.start']['out'], 'job'>>;
  weightsOf(model: CoreModel, least: number): CoreResult<WeightInfo[]>;
  errorCodes(): string[];
  liveObjects(): number;
  /** What the instance has taken so far; memory is never given back. */
  memoryBytes(): number;
  version(): string;
  commit(): string;
  instructionSet(): string;
}

const FACTS = ['errorCodes', 'liveObjects', 'memoryBytes', 'version', 'commit', 'instructionSet'];
const LOADING = ['next', 'commit', 'parse', 'beginExternal', 'finish'];

/** Every name of each module, for the test that compares them with the binding; `Core` has those of both. */
export const MODULE_NAMES: Record<
  'core' | 'formats',
  { functions: string[]; classes: Record<string, string[]> }
> = {
  core: {
    functions: [
      'createModel',
      'createSweep',
      'createExport',
      'createObservers',
      'createComparison',
      'createReport',
      'createMixed',
      'shapesForCost',
      'modelCost',
      'flipRows',
      'switchOn',
      'metricTerms',
      'metricScore',
      'jackknife',
      'mergeResults',
      'compareResults',
      'rankResults',
      ...FACTS,
    ],
    classes: {
      Model: [
        ...LOADING,
        'inspect',
        'plan',
        'checkPlan',
        'shapesToMeasure',
        'previewPatterns',
        'scored',
        'targets',
        'outputs',
        'graph',
        'encodings',
        'statistics',
      ],
      Job: ['skeleton', 'switched', 'firstOrder', 'feed', 'read', 'result'],
      MixedSearch: ['cost', 'skeleton', 'changes'],
    },
  },
  formats: {
    functions: [
      'createModel',
      'listFormats',
      'createEncoder',
      'createDecoder',
      'decodeStored',
      'createTrial',
      'createConstantTrial',
      'weightsOf',
      'createEncodedExport',
      ...FACTS,
    ],
    classes: {
      Model: LOADING,
      Job: ['feed', 'read', 'result'],
      TensorJob: ['next', 'commit', 'take', 'result'],
    },
  },
};

/** The value, or the error as an exception; the only place where one becomes the other. */
export function unwrap<T>(result: CoreResult<T>): T {
  if (result.ok) return result.value;
  throw new HalftoneError(result.code, result.message, { where: result.where, next: result.next });
}
