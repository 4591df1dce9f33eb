// What goes between the client and a worker: requests with ids, each ending in exactly one of ok, error or cancelled, with
// progress only before that. Types only, and the protocol's number.
import type {
  ConcatGroup,
  DecodedInfo,
  Encoding,
  Encodings,
  FloatTypeName,
  FormatFailure,
  FormatFigures,
  ModelCost,
  ModelGraph,
  ModelSummary,
  PatternMatch,
  Plan,
  PlanOptions,
  Progress,
  ResultsDifference,
  RunCosts,
  Sample,
  SensitivityResults,
  StorageFormat,
  TensorStatistics,
  Warning,
  WeightInfo,
  WeightsReport,
} from '../types.js';
import type { WireError } from './errors.js';
import type {
  ArrayData,
  EncodeInfo,
  EncodeRequest,
  FormatChoice,
  StoredRequest,
  WeightsRequest,
} from './format_protocol.js';
import type { RunMode } from './session_options.js';
import type {
  FlipChanges,
  FlipFigures,
  FlipRequest,
  MetricChoice,
  MixedInfo,
  MixedRequest,
  Reference,
  RowScore,
  Shapes,
  SiteSwitch,
  Stages,
  SweepChoice,
  SweepInfo,
  SweepModel,
} from './sweep_protocol.js';

export type * from './format_protocol.js';
export * from './sweep_protocol.js';

export const PROTOCOL = 1;

export type RunnerName = 'web' | 'node';

/** Bytes that a worker can read by itself, again and again: a Blob (never consumed), or in Node a path. */
export type WireSource = Blob | { readonly path: string };

export interface FileFacts {
  name: string;
  sha256: string;
}

export interface ExternalNeed {
  location: string;
  minBytes: number;
}

/** The files of a model; `path` is what a skeleton's references say: "model", or an external file's location. */
export interface StoredFile {
  path: string;
  source: WireSource;
}

/** A small model whose bulk tensors are references into the stored files and into `buffers`. */
export interface Skeleton {
  model: Uint8Array<ArrayBuffer>;
  buffers: { path: string; bytes: Uint8Array<ArrayBuffer> }[];
}

export interface TensorRange {
  tensor: string;
  min: number;
  max: number;
  values: number;
}

/** A sample that the worker was given before and kept, or the sample itself. */
export interface SampleRef {
  index: number;
  name: string;
  tensors?: Sample;
}

export interface CalibrationTarget {
  tensor: string;
  /** A graph input is observed as it is fed; no runtime needed. */
  graphInput: boolean;
  /** Of one sample, unknown dimensions counted as one. */
  bytes: number;
}

export interface CompareRow {
  name: string;
  psnr: number | null;
  max_abs_error: number;
  sqnr: number | null;
  mse: number | null;
  cosine: number | null;
}

export interface Operations {
  hello: {
    in: {
      protocol: number;
      core: WebAssembly.Module;
      /** Which module `core` is; default: the core. */
      module?: 'core' | 'formats';
      runtime: WireSource | null;
      runner: RunnerName;
      testHooks: boolean;
    };
    out: { version: string; commit: string; instructionSet: string; errorCodes: string[] };
  };

  // ---- the worker that holds models
  open: { in: { source: WireSource }; out: { model: number; external: ExternalNeed[]; bytes: number } };
  'open.external': { in: { model: number; location: string; source: WireSource }; out: { bytes: number } };
  'open.finish': { in: { model: number }; out: null };
  hash: { in: { source: WireSource }; out: string };
  inspect: { in: { model: number; file: FileFacts }; out: ModelSummary };
  plan: { in: { model: number; options: PlanOptions; file: FileFacts }; out: Plan };
  'plan.check': { in: { model: number; plan: Plan }; out: null };
  /** The tensors whose shapes a plan wants from a sample. */
  'plan.shapes': { in: { model: number; options: PlanOptions }; out: string[] };
  'plan.patterns': { in: { model: number; patterns: string[] }; out: PatternMatch[] };
  scored: { in: { model: number; choice: string }; out: string[] };
  targets: { in: { model: number; plan: Plan | null; tensors: string[] }; out: CalibrationTarget[] };
  /** With a plan: the model that its activations are observed on. */
  outputs: { in: { model: number; tensors: string[]; plan?: Plan }; out: Skeleton };
  encodings: {
    in: {
      model: number;
      plan: Plan;
      ranges: TensorRange[];
      method: string;
      samples: number;
      file: FileFacts;
    };
    out: Encodings;
  };
  'sweep.start': {
    in: { model: number; plan: Plan; encodings: Encodings; choice: SweepChoice };
    out: SweepInfo;
  };
  'sweep.model': { in: { sweep: number; what: SweepModel }; out: Skeleton };
  /**
   * The model with switches for the sites of these groups, and with stages that end at these cuts, so far as they can.
   */
  'sweep.switched': {
    in: { sweep: number; groups: number[]; stages: number[] };
    out: Skeleton & { switches: SiteSwitch[] } & Stages;
  };
  /**
   * What the quantizers of `sites` do to the scored tensor, to first order: one run gives them all. With the shapes of
   * the inputs it runs with these only, and is opened sooner. Fails with unsupported_op where it can't be told.
   */
  'sweep.first_order': {
    in: { sweep: number; sites: string[]; shapes: Shapes };
    out: Skeleton & { cotangent: string; effects: string };
  };
  'sweep.end': { in: { sweep: number }; out: null };
  rank: { in: { results: SensitivityResults }; out: SensitivityResults };
  /** Of results files, as text: one alone checked and read, several shards joined. */
  merge: { in: { texts: string[] }; out: SensitivityResults };
  'results.diff': { in: { a: string; b: string }; out: ResultsDifference };
  'metric.scores': { in: { metric: MetricChoice; rows: Float64Array[]; tensors: number }; out: RowScore[] };
  /** 95 %, of a score made elsewhere, from the scores without each of its samples. */
  'metric.interval': { in: { score: number; leftOut: number[] }; out: [number, number] | null };
  graph: { in: { model: number }; out: ModelGraph };
  /** The tensors whose shapes a cost wants from a sample. */
  'cost.shapes': { in: { model: number }; out: string[] };
  cost: { in: { model: number; plan: Plan; shapes: Shapes }; out: ModelCost };
  flip: {
    in: {
      model: number;
      plan: Plan;
      encodings: Encodings;
      results: SensitivityResults;
      request: FlipRequest;
      shapes: Shapes;
    };
    out: FlipFigures & { changes: FlipChanges };
  };
  'mixed.start': {
    in: { model: number; plan: Plan; encodings: Encodings; request: MixedRequest; shapes: Shapes };
    out: MixedInfo;
  };
  /** With these tensors at the higher precision. */
  'mixed.cost': { in: { search: number; tensors: string[] }; out: ModelCost };
  /** The simulated model; null: the float model. */
  'mixed.model': { in: { search: number; tensors: string[] | null }; out: Skeleton };
  'mixed.changes': { in: { search: number; tensors: string[] }; out: FlipChanges };
  'mixed.end': { in: { search: number }; out: null };
  'quantize.start': {
    in: {
      model: number;
      plan: Plan;
      encodings: Encodings;
      method: string;
      samples: number;
      random: boolean;
      external: string | null;
    };
    out: QuantizeInfo;
  };
  'quantize.read': {
    in: { job: number; part: 0 | 1; offset: number; length: number };
    out: Blob;
  };
  'quantize.end': { in: { job: number }; out: null };
  'weight.statistics': {
    in: { model: number; tensor: string; bins: number; encoding: Encoding | null };
    out: TensorStatistics;
  };
  /** All formats; bits per weight for blocks of this size, or each format's own for 0. */
  formats: { in: { block: number }; out: StorageFormat[] };
  /** The float32 weights with at least so many values. */
  weights: { in: { model: number; least: number }; out: WeightInfo[] };
  'formats.compare': {
    in: { tensor: ArrayData | { model: number; tensor: string }; choices: FormatChoice[] };
    out: (FormatFigures | FormatFailure)[];
  };
  'encode.start': { in: { array: ArrayData; request: EncodeRequest }; out: EncodeInfo };
  /** An EncodedValueProto in a file; an empty type is the one that was encoded. */
  'decode.start': {
    in: { source: WireSource; type: FloatTypeName | '' };
    out: DecodedInfo & { feed: number };
  };
  /** Goes on until a few megabytes are made: bytes by number of the part. */
  'feed.next': {
    /** `blobs`: made in the worker, since a browser's page stands still while it hands the bytes of one over. */
    in: { feed: number; blobs: boolean };
    out: { pieces: [part: number, piece: Uint8Array<ArrayBuffer> | Blob][]; read: number; done: boolean };
  };
  'feed.end': { in: { feed: number }; out: { tensorScale: number | null } | null };
  'feed.drop': { in: { feed: number }; out: null };
  /** A derived model; read and ended as a quantized one. */
  'weights.start': {
    in: { model: number; request: WeightsRequest; external: string | null };
    out: { job: number; modelBytes: number; externalBytes: number } & Omit<
      WeightsReport,
      'bytes' | 'bytesBefore'
    >;
  };
  /** Values of a format that keeps codes and scales apart. */
  'decode.stored': {
    in: { request: StoredRequest; codes: Blob; scales: Blob; zeroPoints: Blob };
    out: Float32Array<ArrayBuffer>;
  };
  close: { in: { model: number }; out: { live: number } };
  live: { in: null; out: number };
  /** Bytes that the core has taken. */
  memory: { in: null; out: number };

  // ---- the workers that run models
  'session.create': { in: { model: Skeleton; files: StoredFile[]; mode: RunMode }; out: SessionInfo };
  'session.release': { in: { session: number }; out: null };
  /** Keeps a sample until `reset`. The tensors' buffers are transferred. */
  'sample.put': { in: { index: number; tensors: Sample }; out: null };
  /** Forgets kept samples and reference outputs. */
  reset: { in: null; out: null };
  run: { in: { session: number; sample: SampleRef; outputs: string[] }; out: Sample };
  'observe.start': { in: { tensors: string[] }; out: { job: number } };
  'observe.feed': {
    in: { job: number; session: number | null; sample: SampleRef; tensors: string[] };
    out: null;
  };
  'observe.end': { in: { job: number }; out: TensorRange[] };
  /** Runs a session and keeps its outputs, as what variants are compared with, or as what a cut has to give. */
  'reference.feed': {
    in: { session: number; which: Reference; tensors: string[]; sample: SampleRef };
    out: { bytes: number };
  };
  /** Runs a session and keeps what crosses the cuts; the bytes of each. */
  'cuts.keep': {
    in: { session: number; cuts: { cut: number; tensors: string[] }[]; sample: SampleRef };
    out: { bytes: number[] };
  };
  'cuts.forget': { in: { cuts: number[] }; out: null };
  /** Whether the model behind a cut gives the kept outputs of these samples, bit for bit. */
  'cuts.prove': {
    in: SessionRequest & { cut: number; which: Reference; tensors: string[]; samples: SampleRef[] };
    out: { equal: boolean };
  };
  /**
   * A session, a run of each sample, and the metric's terms of each: one request instead of several for each sample, which
   * for a small model would cost as much as the runs. Terms are [sample][tensor][TERMS].
   */
  'score.run': {
    in: SessionRequest & {
      tensors: string[];
      samples: SampleRef[];
      cut: number | null;
      metric: MetricChoice;
    };
    out: { terms: Float64Array<ArrayBuffer>; costs: RunCosts };
  };
  /** A session of a switched part. `encodings`: of the activations with a switch, as text. */
  'switched.open': {
    in: SessionRequest & { switches: SiteSwitch[]; stages: Stages; encodings: Record<string, string> };
    out: { part: number };
  };
  /**
   * Runs each sample with everything off, then with the sites of each row on, from behind the stages that it skips. Terms are
   * [row][sample][tensor][TERMS]. `equal`: off, the part gave the kept float outputs bit for bit; if not, nothing else is known. `exact`: by row, whether
   * its values could be fed exactly.
   */
  'switched.run': {
    in: {
      part: number;
      rows: { sites: string[]; skips: number }[];
      samples: SampleRef[];
      tensors: string[];
      metric: MetricChoice;
    };
    out: {
      equal: boolean;
      exact: boolean[];
      terms: Float64Array<ArrayBuffer>;
      costs: RunCosts;
    };
  };
  /** Runs of a first-order model: what each site does to the scored tensor along each direction, for each sample. Terms are those of no error. */
  'first_order.run': {
    in: {
      session: number;
      cotangent: string;
      effects: string;
      /** Of the scored tensor's values. */
      directions: Float32Array[];
      samples: SampleRef[];
      tensor: string;
      metric: MetricChoice;
    };
    /** [sample], the effects along each [direction][site]. */
    out: { effects: Float32Array[][]; terms: Float64Array[]; costs: RunCosts };
  };
  'switched.close': { in: { part: number }; out: null };
  /** For a metric outside of the core: what the float model and the session give. */
  'score.pair': {
    in: { session: number; sample: SampleRef; tensors: string[]; cut: number | null };
    out: { expected: Sample; actual: Sample };
  };
  /** Feeds a sample to several reports at once, in one run. */
  'reports.feed': { in: { jobs: number[]; session: number | null; sample: SampleRef }; out: null };
  'histogram.start': {
    in: { tensor: string; min: number; max: number; bins: number; encoding: Encoding | null };
    out: { job: number };
  };
  'histogram.feed': {
    in: { job: number; session: number | null; sample: SampleRef; tensor: string };
    out: null;
  };
  'histogram.end': { in: { job: number }; out: TensorStatistics };
  'compare.start': { in: { tensors: string[] }; out: { job: number } };
  'compare.feed': { in: { job: number; a: number; b: number; sample: SampleRef }; out: null };
  'compare.end': { in: { job: number }; out: CompareRow[] };
  'job.drop': { in: { job: number }; out: null };

  /** Test hook: never answers. Refused unless `hello` asked for test hooks. */
  'test.hang': { in: null; out: never };
}

export interface SessionRequest {
  model: Skeleton;
  files: StoredFile[];
  mode: RunMode;
}

export interface SessionInfo {
  session: number;
  inputs: { name: string; type: string; shape: (number | string)[] }[];
  outputs: { name: string; type: string }[];
}

export interface QuantizeInfo {
  job: number;
  modelBytes: number;
  externalBytes: number;
  nodes: number;
  quantizedNodes: Record<string, number>;
  quantizedNodeNames: string[];
  concatGroups: ConcatGroup[];
  sizesByType: Record<string, number>;
  sites: { quantized: number; byRule: Record<string, number>; floatByRule: Record<string, number> };
  changes: { what: string; where: string }[];
  warnings: Warning[];
}

export type OperationName = keyof Operations;

export type Request =
  | { id: number; t: OperationName; payload: unknown }
  /** Asks that request `target` ends early. Has no answer of its own: the target's answer is it. */
  | { id: number; t: 'cancel'; target: number };

export type Response =
  | { id: number; t: 'ok'; value: unknown }
  | { id: number; t: 'error'; error: WireError }
  | { id: number; t: 'cancelled' }
  | { id: number; t: 'progress'; progress: Progress };

/** Said by a worker that can't go on; every pending request is lost. */
export interface Fatal {
  t: 'fatal';
  error: WireError;
}

export type FromWorker = Response | Fatal;
