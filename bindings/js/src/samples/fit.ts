// How an array's dims fit an input's shape: as one sample, or as many along the first dimension.
import type { ValueInfo } from '../types.js';

export interface Fit {
  /** Samples in the array. */
  samples: number;
  /** Rows of the array that each sample takes; all of them for one sample. */
  rowsEach: number;
  /** Dims of each sample. */
  dims: number[];
  /** A leading 1 that the array lacked was added. */
  batchAdded: boolean;
}

type Dim = number | string | null;

/**
 * Names by which exporters mark a batch dimension, and names that mean nothing at all. Another name ("sequence") is taken as
 * the dimension's meaning: such an array is one sample.
 */
const BATCH_NAME = /^$|^(n|b|bs|m|\?|none|null|-1)$|batch|^unk_|^p2o\.|dynamic|^dim_?\d*$|dim_0$/i;

/** Whether the first dimension counts samples: a fixed number of them, or a dynamic one that is a batch by its name. */
function batchOf(first: Dim | undefined): number | null {
  if (first === undefined) return null;
  if (typeof first === 'number') return first > 0 ? first : null;
  return first === null || BATCH_NAME.test(first) ? 1 : null;
}

function same(needed: Dim | undefined, given: number | undefined): boolean {
  return typeof needed !== 'number' || needed === given;
}

/** null if it doesn't fit. A fixed batch of B takes N * B rows as N samples; so does a dynamic batch, as B = 1. */
export function fitDims(input: ValueInfo, given: readonly number[]): Fit | null {
  const shape = input.shape;
  const rows = given[0] ?? 1;
  if (given.includes(0)) return null;
  if (shape === null) return { samples: 1, rowsEach: rows, dims: [...given], batchAdded: false };
  const batch = batchOf(shape[0]);
  if (shape.length === given.length) {
    if (!shape.every((dim, i) => i === 0 || same(dim, given[i]))) return null;
    if (shape.length === 0) return { samples: 1, rowsEach: 1, dims: [], batchAdded: false };
    if (batch === null) return { samples: 1, rowsEach: rows, dims: [...given], batchAdded: false };
    if (rows % batch !== 0) return null;
    return { samples: rows / batch, rowsEach: batch, dims: [batch, ...given.slice(1)], batchAdded: false };
  }
  const lacksBatch = shape.length === given.length + 1 && batch === 1;
  if (!lacksBatch || !shape.slice(1).every((dim, i) => same(dim, given[i]))) return null;
  return { samples: 1, rowsEach: rows, dims: [1, ...given], batchAdded: true };
}
