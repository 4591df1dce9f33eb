// An array in a sample file, known by type and dims, its values not yet read.
import type { ElementArray } from '../shared/element_types.js';

export interface StoredArray {
  /** The file as the caller named it. */
  readonly file: string;
  /** The array's own name: an .npz or JSON key, a TensorProto's name; '' if it has none. */
  readonly key: string;
  /** ONNX's name of the element type, or 'number' for JSON. */
  readonly type: string;
  readonly dims: readonly number[];
  /**
   * `count` of the rows dims[0], from row `first`; rank 0 counts as one row. Row-major; the elements belong to the caller.
   * Precondition: first + count <= rows.
   */
  read(first: number, count: number): Promise<ElementArray>;
}

/** Rows and elements of each: what `first` and `count` of read() count. */
export function rowLayout(dims: readonly number[]): { rows: number; rowElements: number } {
  const rows = dims[0] ?? 1;
  let rowElements = 1;
  for (const dim of dims.slice(1)) rowElements *= dim;
  return { rows, rowElements };
}

/** Where an array's name goes in a sentence: `x.npz, key "a"`. */
export function arrayTitle(array: StoredArray): string {
  return array.key === '' ? array.file : `${array.file}, key ${JSON.stringify(array.key)}`;
}
