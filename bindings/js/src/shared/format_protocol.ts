// What goes between the client and a worker about number formats. Types only.
import type { EncodedPartName, FloatTypeName } from '../types.js';
import type { WireSource } from './protocol.js';

export type FormatChoice = [format: string, block: number];

/** Plain values in a file or a Blob, row-major. */
export interface ArrayData {
  source: WireSource;
  /** Where the values begin. */
  offset: number;
  type: FloatTypeName;
  dims: number[];
  bigEndian: boolean;
}

/** null: not given. */
export interface EncodeRequest {
  format: string;
  /** 0: the format's. */
  block: number;
  name: string | null;
  scales: number[] | null;
  zeroPoints: number[] | null;
  offsets: number[] | null;
  codebooks: number[] | null;
  permutation: number[] | null;
  forward: number[] | null;
  inverse: number[] | null;
  outliers: number[] | null;
}

export interface WeightsRequest {
  kind: 'encode' | 'decode' | 'standard';
  format: string;
  block: number;
  tensors: string[] | null;
  least: number;
  codebook: number[] | null;
  transpose: boolean;
  standard: boolean;
  roundScales: boolean;
  contribOperators: boolean;
}

export interface EncodeInfo {
  feed: number;
  block: number;
  /** How often the values are read. */
  passes: number;
  /** 0 bytes: known at the end only. */
  parts: { name: EncodedPartName; bytes: number }[];
}

export interface StoredRequest {
  format: string;
  block: number;
  count: number;
  tensorScale: number | null;
}
