// Number formats: what there is, tensors encoded and decoded, and what formats do to values.
import type { ByteSource, Cancellable, ErrorCode, Model, Warning } from './types.js';

export type FormatFamily = 'onnx-light profile' | 'ONNX type' | 'block layout';

/** A format that tensors can be stored in. */
export interface StorageFormat {
  /** "nf4", "onnx_int4", "gguf_q4_0". */
  name: string;
  family: FormatFamily;
  /** Of a code alone. */
  bits: number;
  /** The default block size: consecutive values that share a scale. */
  block: number;
  /** Whether other block sizes may be chosen; of block layouts, powers of two from 16 to 4096. */
  anyBlock: boolean;
  /** The number of values has to be a multiple of the block size. */
  wholeBlocks: boolean;
  /** What is needed besides the values; those that need something can't be compared from values alone. */
  needs: '' | 'codebook' | 'transform' | 'matrix';
  /** Of large tensors, with scales and tables; null if the format needs a matrix, or can't have the block size asked for. */
  bitsPerWeight: number | null;
  /** Where the format is defined. */
  source: string;
}

export type FloatTypeName = 'float32' | 'double' | 'float16' | 'bfloat16';

/** Values in memory. float16 and bfloat16 are bit patterns. */
export interface TensorValues {
  /** For results and messages. */
  name?: string;
  /** Default: float32 for a Float32Array, double for a Float64Array, float16 for a Uint16Array. */
  type?: FloatTypeName;
  /** Default: one dimension. */
  dims?: number[];
  data: Float32Array | Float64Array | Uint16Array;
}

/** Values, or a .npy file, which is read in slices. */
export type TensorSource = Float32Array | TensorValues | { npy: ByteSource; name?: string };

/** A float32 weight of an open model. */
export interface WeightRef {
  model: Model;
  tensor: string;
}

export interface WeightInfo {
  tensor: string;
  dims: number[];
  count: number;
}

export interface EncodeOptions extends Cancellable {
  format: string;
  /** Default: the format's. */
  block?: number;
  /** Where the encoded bytes go, in order for each part; without it they come back as Blobs. */
  write?: (bytes: Uint8Array<ArrayBuffer>, part: EncodedPartName) => void | Promise<void>;
  /** The rest is for profiles of onnx-light. The encoded value's name; none if it is left out. */
  name?: string;
  /** One number, or one for each block. Without scales each block's is computed from its values. */
  scales?: readonly number[];
  zeroPoints?: readonly number[];
  offsets?: readonly number[];
  /** One table for all blocks, or the tables of all blocks one after the other. */
  codebooks?: readonly number[];
  permutation?: readonly number[];
  /** n · n numbers, row-major, and their inverse. */
  forward?: readonly number[];
  inverse?: readonly number[];
  /** Indices of values that are kept as they are. */
  outliers?: readonly number[];
}

/** A profile makes one EncodedValueProto, "value"; other formats keep codes and scales apart. */
export type EncodedPartName = 'value' | 'codes' | 'scales' | 'zero_points';

export interface EncodedTensor {
  format: string;
  family: FormatFamily;
  block: number;
  type: FloatTypeName;
  dims: number[];
  count: number;
  /** Of all parts together. */
  bytes: number;
  /** With scales, tables and descriptor; 0 without values. */
  bitsPerWeight: number;
  /** `content` is empty where `write` was given. */
  parts: { name: EncodedPartName; bytes: number; content: Blob }[];
  /** modelopt_nvfp4 only. */
  tensorScale: number | null;
}

export interface DecodedInfo {
  name: string | null;
  format: string;
  block: number;
  type: FloatTypeName;
  dims: number[];
  bytes: number;
}

export interface DecodeOptions extends Cancellable {
  /** Default: the type that was encoded. */
  type?: FloatTypeName;
  /** Told before any bytes are written. */
  start?: (info: DecodedInfo) => void | Promise<void>;
  /** Where the values go, little endian; without it they come back as a Blob. */
  write?: (bytes: Uint8Array<ArrayBuffer>) => void | Promise<void>;
}

export interface DecodedTensor extends DecodedInfo {
  /** The values, little endian, row-major; empty where `write` was given. */
  content: Blob;
}

/** What one format does to one tensor. */
export interface FormatFigures {
  format: string;
  block: number;
  count: number;
  /** Codes, scales, zero points and tables, without names and descriptors. */
  bytes: number;
  bitsPerWeight: number;
  maxError: number;
  rmsError: number;
  /** dB; null where nothing was lost, or the tensor is zero. */
  sqnr: number | null;
  /** Decoded less original: equal bins over [-limit, limit); limit is 0, and counts too, where nothing was lost. */
  errors: { limit: number; counts: number[] };
  /** What codes stand for at scale 1, ascending; empty if there are more than 256. */
  levels: number[];
  /** How many values were stored as each level. */
  levelCounts: number[];
  /** The values in units of their block's scale, which is what levels are compared with: equal bins over [low, high]. */
  values: { low: number; high: number; counts: number[]; below: number; above: number };
}

/** A format that can't hold a tensor says why. */
export interface FormatFailure {
  format: string;
  block: number;
  error: { code: ErrorCode; message: string; where: string; next: string };
}

export interface TensorComparison {
  tensor: string;
  dims: number[];
  count: number;
  /** In the order of the choices. */
  formats: (FormatFigures | FormatFailure)[];
  /** The lowest RMS error among those within `bitsPerWeight` (all, if none was given); null if there is none. */
  winner: { format: string; block: number } | null;
}

export interface CompareFormatsOptions extends Cancellable {
  /** What a weight may take, overhead included, to win. */
  bitsPerWeight?: number;
}

export interface StandardOptions extends Cancellable {
  /**
   * DequantizeLinear's scales are float32, an encoded value's float64. Without this only weights whose values all stay the
   * same, bit for bit, are converted. Default: false.
   */
  roundScales?: boolean;
  /** com.microsoft.MatMulNBits and MatMulBnb4. Default: true. */
  contribOperators?: boolean;
  /** Name of a second file for weights that stay float; without it there is one file. */
  externalData?: string;
}

export interface EncodeWeightsOptions extends Cancellable {
  /** A profile of onnx-light. */
  format: string;
  /** Default: the format's; of int8_per_channel, what a channel holds. */
  block?: number;
  /** Names of weights. Default: all. */
  tensors?: readonly string[];
  /** Weights with fewer values stay as they are. Default: 1024. */
  least?: number;
  /** One table for all blocks, for formats with a learned one. */
  codebook?: readonly number[];
  /** Matrices that MatMul alone reads are stored transposed, so that blocks lie along the axis that is summed over. */
  transpose?: boolean;
  /** Writes standard ONNX, or onnxruntime's operators, where there is an equivalent. */
  standard?: boolean | Pick<StandardOptions, 'roundScales' | 'contribOperators'>;
  /** As StandardOptions. */
  externalData?: string;
}

export interface EncodedWeight {
  tensor: string;
  /** Name of the encoded initializer. */
  encoded: string;
  type: string;
  dims: number[];
  floatBytes: number;
  payloadBytes: number;
  /** With descriptor and names. */
  messageBytes: number;
}

export interface StandardWeight {
  tensor: string;
  encoded: string;
  form: 'DequantizeLinear' | 'MatMulNBits' | 'MatMulBnb4';
  /** Of the stored codes. */
  type: string;
  /** null: one scale. */
  axis: number | null;
  /** 0: not blocked. */
  block: number;
  /** Codes, scales and zero points. */
  bytes: number;
  /** The largest relative change of a scale; 0: exact. */
  rounding: number;
}

export interface WeightsReport {
  /** Of all files together, before and after. */
  bytesBefore: number;
  bytes: number;
  encoded: EncodedWeight[];
  standard: StandardWeight[];
  /** Encoded before, plain now. */
  decoded: { tensor: string; encoded: string; type: string; floatBytes: number }[];
  /** What stayed as it is, and why. */
  left: { tensor: string; reason: string }[];
  warnings: Warning[];
}

export interface ConvertedModel {
  model: Blob;
  externalData?: Blob;
  report: WeightsReport;
}
