// What a person who makes an engine or opens a model can say.
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

export interface EngineAssets {
  /** The worker's script as text or as an address on the page's own origin. Browser: it is started from a blob. */
  worker: { text: string } | URL | string;
  /** The core's WebAssembly: compiled, as bytes, or an address. */
  core: WebAssembly.Module | Uint8Array | URL | string;
  /** The module of number formats, the same ways. Not loaded before it is used. */
  formats: WebAssembly.Module | Uint8Array | URL | string;
  /** onnxruntime-web's `ort-wasm-simd-threaded.wasm`: bytes or an address. Not loaded before the first run. */
  runtime: Blob | Uint8Array | URL | string;
}

export interface EngineOptions {
  /** Workers that run models, at most. Default: the number of processors. */
  workers?: number;
  /** What runs models: onnxruntime-web (default) or, in Node and when it is installed, onnxruntime-node. */
  runner?: 'web' | 'node';
  /** Where the package's files are, when they aren't beside the script that imports this. */
  assets?: Partial<EngineAssets>;
  /** Bytes that all runtimes together may take; bounds the number of workers. Default: half of the machine's memory. */
  memoryBudget?: number;
  /** Lets tests make a worker hang. */
  testHooks?: boolean;
}

export interface OpenOptions extends Cancellable {
  /** Default: the file's own name, or "model.onnx". */
  name?: string;
  /** External data files by location. Node finds those of a model given by path by itself. */
  externalData?: Record<string, ByteSource>;
  /** Default: one engine that all models of the program share. */
  engine?: Engine;
}

export interface EngineInfo {
  version: string;
  /** Of the sources that the core was built from; empty outside a repository. */
  commit: string;
  /** Of the core's kernels, e.g. "WASM_SIMD128". */
  instructionSet: string;
  runner: 'web' | 'node';
  /** Workers that may run models, before the model's size bounds them. */
  workers: number;
}

export interface Engine {
  open(source: ByteSource, options?: OpenOptions): Promise<Model>;
  info(): Promise<EngineInfo>;
  /** Loads the runtime and starts one worker that runs models, so that nothing is requested later. */
  prepare(): Promise<void>;
  /** Results of a sweep from a file's text, checked; also AIMET's own files, of which only the rows are known. */
  readResults(text: string): Promise<SensitivityResults>;
  /** The parts of one sweep (`shard`) as one run would have made it, from their files' texts in any order. */
  mergeResults(texts: readonly string[]): Promise<SensitivityResults>;
  /** Two sweeps of the same metric, row by row. */
  compareResults(a: SensitivityResults, b: SensitivityResults): Promise<ResultsDifference>;
  /** All number formats. `bitsPerWeight` is for blocks of `block` values, or each format's own default. */
  formats(block?: number): Promise<StorageFormat[]>;
  /** A tensor in a number format: with a profile of onnx-light as one EncodedValueProto, else as codes and scales. */
  encodeTensor(source: TensorSource, options: EncodeOptions): Promise<EncodedTensor>;
  /** Values of an EncodedValueProto, from the bytes of its file. */
  decodeTensor(source: ByteSource, options?: DecodeOptions): Promise<DecodedTensor>;
  /** Values of codes and scales as encodeTensor gave them (formats that are no profile). */
  decodeParts(encoded: EncodedTensor, options?: Cancellable): Promise<Float32Array<ArrayBuffer>>;
  /**
   * What formats do to tensors, and which loses least within a size. Each format is tried with each block size that it can
   * have; without block sizes, with its own.
   */
  compareFormats(
    tensors: readonly (TensorSource | WeightRef)[],
    formats: readonly string[],
    blocks?: readonly number[],
    options?: CompareFormatsOptions,
  ): Promise<TensorComparison[]>;
  /** Bytes of memory that the core with the models has taken since it started; it keeps what it has. */
  memory(): Promise<number>;
  /** Objects alive in all cores; zero when every model is closed and no job runs. */
  liveObjects(): Promise<number>;
  /** Ends all workers. Pending calls are rejected with `cancelled`. */
  close(): Promise<void>;
  /** With `testHooks`: makes the worker that holds models (or one that runs them) hang until it is killed. */
  hang(which: 'core' | 'pool'): void;
}
