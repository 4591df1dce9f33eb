// What goes between the client and a worker: requests with ids, each ending in exactly one of ok, error or cancelled, with
// progress only before that. Types only, and the protocol's number.
import type {
  ConcatGroup,
  Encoding,
  Encodings,
  ModelSummary,
  PatternMatch,
  Plan,
  PlanOptions,
  Progress,
  Sample,
  SensitivityResults,
  TensorStatistics,
  Warning,
} from '../types.js';
import type { WireError } from './errors.js';
import type { RunMode } from './session_options.js';

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
  cosine: number | null;
}

export interface Operations {
  hello: {
    in: {
      protocol: number;
      core: WebAssembly.Module;
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
  outputs: { in: { model: number; tensors: string[] }; out: Skeleton };
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
  'sweep.start': { in: { model: number; plan: Plan; encodings: Encodings; score: string }; out: SweepInfo };
  'sweep.model': { in: { sweep: number; what: SweepModel }; out: Skeleton };
  'sweep.end': { in: { sweep: number }; out: null };
  rank: { in: { results: RankInput; file: FileFacts }; out: SensitivityResults };
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
    out: Uint8Array<ArrayBuffer>;
  };
  'quantize.end': { in: { job: number }; out: null };
  'weight.statistics': {
    in: { model: number; tensor: string; bins: number; encoding: Encoding | null };
    out: TensorStatistics;
  };
  close: { in: { model: number }; out: { live: number } };
  live: { in: null; out: number };

  // ---- the workers that run models
  'session.create': { in: { model: Skeleton; files: StoredFile[]; mode: RunMode }; out: SessionInfo };
  'session.release': { in: { session: number }; out: null };
  /** Keeps a sample if it fits the worker's budget. The tensors' buffers are transferred. */
  'sample.put': { in: { index: number; tensors: Sample }; out: { kept: boolean } };
  /** Forgets kept samples and reference outputs. */
  reset: { in: null; out: null };
  run: { in: { session: number; sample: SampleRef; outputs: string[] }; out: Sample };
  'observe.start': { in: { tensors: string[] }; out: { job: number } };
  'observe.feed': {
    in: { job: number; session: number | null; sample: SampleRef; tensors: string[] };
    out: null;
  };
  'observe.end': { in: { job: number }; out: TensorRange[] };
  'score.start': { in: { tensors: string[] }; out: { job: number } };
  /** `reference` is the session of the float model; not needed where this worker kept the sample's float outputs. */
  'score.feed': {
    in: { job: number; session: number; reference: number | null; sample: SampleRef; cut: number | null };
    out: null;
  };
  /** The worst (lowest) PSNR over the tensors; null is NaN. */
  'score.end': { in: { job: number }; out: { score: number | null; byTensor: (number | null)[] } };
  /**
   * All of the above at once, for samples and float outputs that this worker keeps: a session, a run of each sample, the
   * score. One request instead of one for each sample, which for a small model costs as much as the runs.
   */
  'score.kept': {
    in: SessionRequest & { tensors: string[]; samples: SampleRef[]; cut: number | null };
    out: { score: number | null; byTensor: (number | null)[] };
  };
  /** Runs the float model and keeps its outputs if they fit the budget. */
  'reference.feed': { in: { session: number; tensors: string[]; sample: SampleRef }; out: { kept: boolean } };
  /** Runs a session and keeps what crosses the cuts; the bytes of each, null where they don't fit the budget. */
  'cuts.keep': {
    in: { session: number; cuts: { cut: number; tensors: string[] }[]; sample: SampleRef };
    out: { bytes: (number | null)[] };
  };
  /** Whether the model behind a cut gives the kept float outputs of these samples, bit for bit. */
  'cuts.prove': {
    in: SessionRequest & { cut: number; tensors: string[]; samples: SampleRef[] };
    out: { equal: boolean };
  };
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

export interface SweepInfo {
  sweep: number;
  scored: string[];
  /** Quantized sites without an encoding, and why. */
  skipped: { name: string; why: string }[];
  /** The tensors that cross each cut. */
  cuts: string[][];
  /** Of each site of the plan: the last cut in front of it, or -1. */
  cutOf: number[];
}

/** What a worker keeps at the cuts of a sweep, of all cuts and samples together. */
export const CUT_BUDGET_BYTES = 96 * 2 ** 20;

export type SweepModel =
  /** With `cut`: only what lies behind it; its inputs are the tensors that cross there. */
  | { kind: 'float'; cut?: number }
  | { kind: 'variant'; site: string; cut?: number }
  /** The float model with the tensors at all cuts as outputs. */
  | { kind: 'cuts' }
  | { kind: 'simulated' }
  | { kind: 'quantized' };

export interface RankInput {
  rows: { name: string; score: number | null }[];
  target: string;
  method: string;
  metric: string;
  higher_is_worse: boolean;
  scored: string[];
  samples: number;
  by: string;
  skipped: { name: string; why: string }[];
  warnings: Warning[];
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
