// The public vocabulary of the package. Shapes of JSON files are those of the files themselves (see README, "Files").

import type { ConvertedModel, EncodeWeightsOptions, StandardOptions, WeightInfo } from './format_types.js';
import type { Flip, FlipOptions, ModelCost, ParetoOptions, ParetoPoint } from './mixed_types.js';
import type { SensitivityOptions, SensitivityResults, SensitivityRun } from './sensitivity_types.js';

export type * from './format_types.js';
export type * from './mixed_types.js';
export type * from './sensitivity_types.js';

/** Where bytes come from. A path works in Node only. A Blob or File is read in slices and never consumed. */
export type ByteSource = Blob | Uint8Array | { readonly path: string };

export type ErrorCode =
  | 'truncated'
  | 'not_onnx'
  | 'unsupported_opset'
  | 'unsupported_op'
  | 'unsupported_type'
  | 'invalid_graph'
  | 'external_data_missing'
  | 'shape_mismatch'
  | 'invalid_policy'
  | 'invalid_sample'
  | 'invalid_state'
  | 'non_finite'
  | 'too_large'
  | 'out_of_memory'
  | 'cancelled'
  | 'internal';

export interface Warning {
  code: string;
  message: string;
  where: string;
}

/** `done` of `total` in one phase; done never falls, total never changes within a phase, the last done equals total. */
export interface Progress {
  phase:
    | 'open'
    | 'samples'
    | 'calibrate'
    | 'sensitivity'
    | 'score'
    | 'pareto'
    | 'write'
    | 'encode'
    | 'decode'
    | 'compare';
  done: number;
  total: number;
  unit: 'bytes' | 'runs' | 'tensors';
}

export interface Cancellable {
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

export type FormatName =
  | 'int4'
  | 'uint4'
  | 'int8'
  | 'uint8'
  | 'int16'
  | 'uint16'
  | 'int32'
  | 'float8e4m3fn'
  | 'float32';
export type TargetName = 'onnxruntime' | 'tensorrt' | 'aimet';
/** Tools whose answers, faults included, can be asked for. */
export type MatchName = 'modelopt' | 'aimet';

/** What is left out is the target's default. */
export interface PlanOptions {
  target?: TargetName;
  /**
   * Target `tensorrt`: `modelopt`, ModelOpt's placement and scales as they are, faults included. Target `aimet`: `aimet`,
   * constants rounded half up as AIMET's kernel does, where QuantizeLinear rounds half to even.
   */
  match?: MatchName;
  activations?: FormatName;
  weights?: FormatName;
  perChannel?: boolean;
  activationsSymmetric?: boolean;
  /** Patterns over node names, tensor names and operators: a name, `glob:…`, `re:…`, `op:…`. `exclude` wins. */
  include?: string[];
  exclude?: string[];
  /** Target `aimet`: an AIMET configuration as its JSON file has it, in place of its default (per-channel) one. */
  config?: Record<string, unknown>;
  /** The rest is for target `tensorrt`. For the deep learning accelerator: every operator, no speed rules. */
  dla?: boolean;
  /** Excluded nodes read the raw tensor even where a neighbour reads its pair. */
  rawExcluded?: boolean;
  /** Weights stay float behind a Q/DQ pair, instead of codes behind a DequantizeLinear. */
  floatWeights?: boolean;
  /** Model inputs and outputs become tensors of codes where a pair sits on them. */
  directIo?: boolean;
  /** Tensors that a Concat joins share one scale. Default: true. */
  concatGroups?: boolean;
  /** Shapes as one sample makes them, for the speed rules; inferred otherwise, an unknown dimension counting as 1. */
  sampleShapes?: [tensor: string, shape: number[]][];
}

/** What a pattern of `include` or `exclude` takes by itself. */
export interface PatternMatch {
  pattern: string;
  nodes: string[];
  tensors: string[];
  /** The nearest names, if it takes nothing. */
  near_misses: string[];
}

export interface Site {
  tensor: string;
  role: 'activation' | 'weight' | 'bias';
  quantized: boolean;
  format: FormatName;
  granularity: 'tensor' | 'channel' | 'block';
  axis: number | null;
  block_size: number | null;
  symmetric: boolean;
  scale_group: string | null;
  /** A range that the format's operator has by nature; the samples don't matter then. */
  fixed_range?: [min: number, max: number];
  /** The model's output of this name comes out of the DequantizeLinear. */
  serves_output?: true;
  /** Of a bias: the two sites whose scales multiply to its own. */
  bias_of?: { activation: string; weight: string };
  /** Scales by AIMET's formula; how they deviate from its default, and rounding half up. Target `aimet`. */
  aimet?: { strict_symmetric?: true; unsigned_symmetric?: true; half_up?: true };
  rule: string;
  why: string;
  consumers: [node: string, input: number][];
}

export interface InputDecision {
  node: string;
  op: string;
  input: number;
  tensor: string;
  quantized: boolean;
  rule: string;
  why: string;
  partition: string | null;
}

export interface Plan {
  halftone: string;
  model_sha256: string;
  target: TargetName;
  match: string | null;
  options: Record<string, unknown>;
  sites: Site[];
  inputs: InputDecision[];
  warnings: Warning[];
}

export interface Encoding {
  format: FormatName;
  scale: number[];
  zero_point: number[];
  axis: number | null;
  min: number[];
  max: number[];
}

export interface Encodings {
  halftone: string;
  model_sha256: string;
  method: string;
  samples: number;
  encodings: Record<string, Encoding>;
}

export interface ValueInfo {
  name: string;
  type: string;
  shape: (number | string | null)[] | null;
}

export interface ModelSummary {
  model: {
    name: string;
    sha256: string;
    bytes: number;
    ir_version: number;
    opset: Record<string, number>;
    producer: string;
    inputs: ValueInfo[];
    outputs: ValueInfo[];
  };
  nodes: number;
  operators: Record<string, number>;
  parameters: { count: number; bytes: number };
  quantized: { pairs: number };
  /** What each target would do by default. `inputs_by_rule`: how many node inputs each rule decided. */
  targets: Record<string, { sites: number; quantized: number; inputs_by_rule: Record<string, number> }>;
  warnings: Warning[];
}

/** One sample: a value for each graph input. Data is little endian, row-major; int64 as BigInt64Array, bool as Uint8Array. */
export interface SampleTensor {
  type: string;
  dims: number[];
  data: ArrayBufferView;
}
export type Sample = Record<string, SampleTensor>;

/** A set of samples that can be read again and again; samples are loaded one at a time, so memory doesn't grow with their number. */
export interface SampleSet {
  readonly count: number;
  readonly warnings: Warning[];
  /** True for values that were made up; every result then says so. */
  readonly random: boolean;
  name(index: number): string;
  /** Fresh buffers on every call: they are handed over to a worker, which leaves them empty (detached) here. */
  load(index: number): Promise<Sample>;
}

export interface CalibrateOptions extends Cancellable {
  method?: 'minmax';
  /** Further tensors to observe (float activations of the graph). */
  tensors?: string[];
  /** How the float model is run; default `exact`. `disabled` is what onnxruntime's own quantizer uses. */
  optimization?: 'exact' | 'default' | 'disabled';
}

/** The noise that one quantizer makes in its own tensor. */
export interface LocalNoise {
  name: string;
  role: 'activation' | 'weight';
  /** dB; null for a tensor of zeros. */
  sqnr: number | null;
}

/** The graph as a picture needs it; names as the model has them. */
export interface ModelGraph {
  inputs: string[];
  outputs: string[];
  /** In the order of the file. `label` is the node's name, or @first_output. */
  nodes: { label: string; op: string; inputs: string[]; outputs: string[] }[];
  /** Initializers and what constant nodes make. */
  constants: string[];
}

/** How far a tensor of the fully quantized model is from the float model's, over all samples. */
export interface PropagationRow {
  tensor: string;
  /** The node that makes it; empty for a graph input. */
  node: string;
  op: string;
  psnr: number | null;
  sqnr: number | null;
  mse: number | null;
}

export interface ModelScore {
  /** As the exact options compute it; NaN if an output isn't a number. */
  simulated: number;
  /** As the runtime runs it when nobody asks. NaN if its own kernels can't run the model, which `warnings` then says. */
  fused: number;
  /** With `levels`: as simulated, with only the weights or only the activations quantized. The float model is what it is measured against. */
  weights_only?: number;
  activations_only?: number;
  scored: string[];
  warnings: Warning[];
}

export interface ScoreOptions extends Cancellable {
  score?: string | readonly string[];
  /** Also weights alone and activations alone. */
  levels?: boolean;
}

/** Tensors that a Concat joins, which share one scale. */
export interface ConcatGroup {
  group: string;
  /** By which factor sharing made a branch's steps larger; null for a branch of zeros. */
  branches: { tensor: string; growth: number | null }[];
}

export interface QuantizeReport {
  output: string;
  bytes: number;
  float_bytes: number;
  nodes: number;
  /** Of the written model: nodes that read quantized data, by operator. */
  quantized_nodes: Record<string, number>;
  quantized_node_names: string[];
  concat_groups: ConcatGroup[];
  /** `float_by_rule`: sites that stay in float, by the rule that says so. */
  sites: { quantized: number; by_rule: Record<string, number>; float_by_rule: Record<string, number> };
  sizes_by_type: Record<string, number>;
  score: { simulated: number | null; fused: number | null };
  warnings: Warning[];
  changes: { what: string; where: string }[];
}

export interface QuantizeOptions extends Cancellable {
  /** Write the weights to a second file of this name; needed above 2 GB. */
  externalData?: string;
  /** Written into the metadata; defaults to what the encodings say. */
  samples?: number;
  random?: boolean;
}

export interface CompareOptions extends Cancellable {
  /** Tensors to compare instead of the graph outputs. Both models must have them. */
  outputs?: string[];
  /** How both models are run; default `default`. */
  optimization?: 'exact' | 'default' | 'disabled';
}

export interface Comparison {
  outputs: OutputComparison[];
  samples: number;
  runner: string;
  warnings: Warning[];
}

export interface QuantizedModel {
  model: Blob;
  externalData?: Blob;
  report: QuantizeReport;
}

export interface OutputComparison {
  name: string;
  psnr: number | null;
  max_abs_error: number;
  sqnr: number | null;
  cosine: number | null;
}

export interface TensorStatistics {
  tensor: string;
  count: number;
  min: number;
  max: number;
  /** Counts over equal bins from `min` to `max`. */
  histogram: number[];
  /** Share of values outside the encoding's range, 0 to 1; null without an encoding. */
  clipped: number | null;
  /** Signal to quantization noise of this tensor alone, dB; null without an encoding. */
  sqnr: number | null;
}

export interface Model {
  readonly name: string;
  /** Of all files together. */
  readonly bytes: number;
  inspect(): Promise<ModelSummary>;
  /** `samples`: where the graph doesn't tell a shape that the target asks for, the first of them does. */
  plan(options?: PlanOptions, samples?: SampleSet): Promise<Plan>;
  /** What patterns would take, before a plan is made with them. */
  previewPatterns(patterns: string[]): Promise<PatternMatch[]>;
  /** Checks a plan that was edited or loaded from a file. */
  checkPlan(plan: Plan): Promise<void>;
  calibrate(plan: Plan | Promise<Plan>, samples: SampleSet, options?: CalibrateOptions): Promise<Encodings>;
  sensitivity(
    plan: Plan | Promise<Plan>,
    encodings: Encodings,
    samples: SampleSet,
    options?: SensitivityOptions,
  ): SensitivityRun;
  quantize(
    plan: Plan | Promise<Plan>,
    encodings: Encodings,
    options?: QuantizeOptions,
  ): Promise<QuantizedModel>;
  /** PSNR of the scored tensors with every quantizer on: as the exact options compute it, and as the runtime runs it by default. */
  score(
    plan: Plan | Promise<Plan>,
    encodings: Encodings,
    samples: SampleSet,
    options?: ScoreOptions,
  ): Promise<ModelScore>;
  /**
   * A first ranking after a single pass: the signal to noise ratio of each quantizer's own tensor, dB, worst first. It says how
   * much noise a quantizer makes, not how much of it arrives.
   */
  localRanking(
    plan: Plan | Promise<Plan>,
    encodings: Encodings,
    samples: SampleSet,
    options?: Cancellable,
  ): Promise<LocalNoise[]>;
  /**
   * Runs the model; outputs as the graph names them. The sample's buffers are handed over to a worker and empty afterwards.
   * Default optimization: `exact`.
   */
  run(
    sample: Sample,
    options?: { outputs?: string[]; optimization?: 'exact' | 'default' | 'disabled' } & Cancellable,
  ): Promise<Sample>;
  /** The same for each sample of a set in turn, in one session: what runs many samples should use this. */
  runEach(
    samples: SampleSet,
    options?: { outputs?: string[]; optimization?: 'exact' | 'default' | 'disabled' } & Cancellable,
  ): AsyncIterable<Sample>;
  graph(): Promise<ModelGraph>;
  /** Float against fully quantized, tensor by tensor in graph order, in one pass over the samples. */
  propagation(
    plan: Plan | Promise<Plan>,
    encodings: Encodings,
    samples: SampleSet,
    options?: Cancellable,
  ): Promise<PropagationRow[]>;
  /** What a plan costs to store and to run. `samples`: where the graph doesn't tell a shape, the first of them does. */
  cost(plan: Plan, samples?: SampleSet): Promise<ModelCost>;
  /** Raises what hurts most; nothing is run. */
  flip(plan: Plan, encodings: Encodings, results: SensitivityResults, options: FlipOptions): Promise<Flip>;
  /**
   * Searches mixed-precision models by measuring them, end to end, over all samples; points in the order they were found.
   * A ranking by quantizer, with PSNR, tells the search where to look first.
   */
  pareto(
    plan: Plan,
    encodings: Encodings,
    results: SensitivityResults | null,
    samples: SampleSet,
    options: ParetoOptions,
  ): Promise<ParetoPoint[]>;
  /** Range, histogram, clipping and noise of one tensor (weight, or activation over the samples). */
  statistics(
    tensor: string,
    samples: SampleSet | null,
    options?: { bins?: number; encoding?: Encoding } & Cancellable,
  ): Promise<TensorStatistics>;
  /** The float32 weights with at least `least` values (default 1), in graph order: what formats are compared on. */
  weights(least?: number): Promise<WeightInfo[]>;
  /** The model with its weights as encoded initializers, which ai.rt::Dequantize reads. */
  encodeWeights(options: EncodeWeightsOptions): Promise<ConvertedModel>;
  /** Encoded initializers as plain weights again. */
  decodeWeights(options?: { externalData?: string } & Cancellable): Promise<ConvertedModel>;
  /** Encoded initializers in standard ONNX, or onnxruntime's operators, where there is an equivalent; the report says where not. */
  toStandard(options?: StandardOptions): Promise<ConvertedModel>;
  /** Frees the memory in the worker. Later calls fail with `invalid_state`. */
  close(): Promise<void>;
}
