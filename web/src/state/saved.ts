// What the Save step made: the model, its report, and how its predictions compare.
import type { ModelScore, QuantizedModel } from '../package';

export interface Prediction {
  sample: string;
  float: TopClass;
  quantized: TopClass;
}

export interface TopClass {
  index: number;
  probability: number;
}

export interface Saved {
  result: QuantizedModel;
  score: ModelScore | null;
  /** Inputs and outputs of the model are tensors of codes: nothing here can run it as it is. */
  takesCodes: boolean;
  /** Null for a model that is no classifier. */
  predictions: { output: string; rows: Prediction[] } | null;
}

/** An output that holds one probability for each class: how wide, and which is largest. Null if it is no such output. */
export function topClass(dims: readonly number[], values: ArrayLike<number>): TopClass | null {
  const classes = dims.at(-1) ?? 0;
  if (dims.length < 1 || dims.length > 2 || classes < 2 || values.length !== classes) return null;
  let sum = 0;
  let best = 0;
  for (let index = 0; index < classes; ++index) {
    const value = values[index] ?? Number.NaN;
    if (!(value >= 0 && value <= 1.000001)) return null;
    sum += value;
    if (value > (values[best] ?? 0)) best = index;
  }
  if (Math.abs(sum - 1) > 1e-2) return null;
  return { index: best, probability: values[best] ?? 0 };
}
