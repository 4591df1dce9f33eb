// What may be given where: an input's own type always; double and float16 for float32 (rounded once, and said); integers and
// bool for one another where every value fits. Anything else would change values silently, so it is refused.
import { type ElementArray, elementBytes, emptyElements, float16Value } from '../shared/element_types.js';

/** The type of numbers in JSON, which fit any input that can hold their values. */
export const ANY_NUMBER = 'number';

export type Conversion = 'none' | 'widened' | 'rounded' | 'checked' | 'refused';

const INTEGERS = new Set(['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'bool']);

/** How values of type `from` become an input of type `to`; 'checked' may still fail on a value. */
export function conversion(from: string, to: string): Conversion {
  if (elementBytes(to) === 0) return 'refused';
  if (from === to) return 'none';
  if (from === ANY_NUMBER) return to === 'float16' || to === 'bfloat16' ? 'refused' : 'checked';
  if (to === 'float32' && from === 'double') return 'rounded';
  if (to === 'float32' && from === 'float16') return 'widened';
  if (to === 'double' && (from === 'float32' || from === 'float16')) return 'widened';
  return INTEGERS.has(from) && INTEGERS.has(to) ? 'checked' : 'refused';
}

const RANGES: Record<string, readonly [bigint, bigint]> = {
  bool: [0n, 1n],
  int8: [-(1n << 7n), (1n << 7n) - 1n],
  uint8: [0n, (1n << 8n) - 1n],
  int16: [-(1n << 15n), (1n << 15n) - 1n],
  uint16: [0n, (1n << 16n) - 1n],
  int32: [-(1n << 31n), (1n << 31n) - 1n],
  uint32: [0n, (1n << 32n) - 1n],
  int64: [-(1n << 63n), (1n << 63n) - 1n],
  uint64: [0n, (1n << 64n) - 1n],
};

export interface Converted {
  data: ElementArray;
  /** The first value that `to` can't hold; then `data` is unusable. */
  misfit?: string;
}

/** Precondition: conversion(from, to) isn't 'refused'. Gives `data` itself where nothing changes. */
export function convertElements(from: string, to: string, data: ElementArray | Float64Array): Converted {
  if (from === to) return { data };
  return Object.hasOwn(RANGES, to) ? toIntegers(to, data) : toFloats(from, to, data);
}

function toFloats(from: string, to: string, data: ElementArray): Converted {
  const out = emptyElements(to, data.length) as Float32Array | Float64Array;
  for (let i = 0; i < data.length; ++i) {
    const value = Number(data[i]);
    out[i] = from === 'float16' ? float16Value(value) : value;
  }
  return { data: out };
}

function toIntegers(to: string, data: ElementArray): Converted {
  const [low, high] = RANGES[to] ?? [0n, 0n];
  const out = emptyElements(to, data.length);
  const big = out instanceof BigInt64Array || out instanceof BigUint64Array;
  for (let i = 0; i < data.length; ++i) {
    const value = data[i] as number | bigint;
    if (typeof value === 'number' && !Number.isSafeInteger(value))
      return { data: out, misfit: String(value) };
    if (value < low || value > high) return { data: out, misfit: String(value) };
    if (big) out[i] = BigInt(value);
    else out[i] = Number(value);
  }
  return { data: out };
}
