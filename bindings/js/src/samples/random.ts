// Made-up samples, on an explicit wish only. The same seed gives the same values everywhere, in any order of loading.
//
// Generator: xoshiro128** (Blackman and Vigna), its four words from splitmix32 started at seed xor hash, where hash is the
// 32-bit FNV-1a of "<sample>/<input name>" (UTF-8). Values: floats uniform in [-1, 1) from the upper 24 bits of a word, so
// exact in float32; integers and bool 0 or 1 (the top bit), the only values that are valid indices almost everywhere.

import { type ElementArray, elementBytes, elementCount, emptyElements } from '../shared/element_types.js';
import { HalftoneError } from '../shared/errors.js';
import type { Sample, SampleSet, ValueInfo, Warning } from '../types.js';
import { invalidSample, shapeText } from './sample_error.js';

const MAX_ELEMENTS = 2 ** 28;

export interface RandomOptions {
  count: number;
  /** Taken modulo 2^32. Default 0. */
  seed?: number;
}

/** Dynamic dimensions become 1. Errors: invalid_sample for inputs that numbers can't fill. */
export function randomSamples(inputs: readonly ValueInfo[], { count, seed = 0 }: RandomOptions): SampleSet {
  if (!Number.isInteger(count) || count < 1) {
    throw new HalftoneError('invalid_sample', `${count} random samples can't be made.`, {
      next: 'Ask for 1 or more.',
    });
  }
  const shapes = inputs.map((input) => randomDims(input));
  const load = async (index: number): Promise<Sample> => {
    const sample: Sample = {};
    inputs.forEach((input, i) => {
      const dims = shapes[i] ?? [];
      const words = xoshiro128((seed ^ fnv1a(`${index}/${input.name}`)) >>> 0);
      sample[input.name] = {
        type: input.type,
        dims: [...dims],
        data: randomValues(input.type, elementCount(dims), words),
      };
    });
    return sample;
  };
  return {
    count,
    warnings: randomWarnings(inputs, shapes, count, seed),
    random: true,
    name: (index) => `random ${index}`,
    load,
  };
}

function randomDims(input: ValueInfo): number[] {
  const fail = (what: string): never => {
    throw invalidSample(
      `Random data can't be made for input ${JSON.stringify(input.name)}: ${what}.`,
      input.name,
      'Give real samples.',
    );
  };
  if (elementBytes(input.type) === 0 || input.type.includes('float16')) fail(`its type is ${input.type}`);
  if (input.shape === null) return fail('its rank is not known');
  const dims = input.shape.map((dim) => (typeof dim === 'number' ? dim : 1));
  if (!(elementCount(dims) <= MAX_ELEMENTS)) fail(`its shape ${shapeText(input.shape)} is too large`);
  return dims;
}

function randomWarnings(
  inputs: readonly ValueInfo[],
  shapes: number[][],
  count: number,
  seed: number,
): Warning[] {
  const text = `The ${count} sample${count === 1 ? ' is' : 's are'} random numbers (seed ${seed}), so ranges and scores say nothing about real data.`;
  const warnings = [{ code: 'random_data', message: text, where: '' }];
  inputs.forEach((input, i) => {
    if (!input.shape?.some((dim) => typeof dim !== 'number')) return;
    const message = `Dynamic dimensions of input ${JSON.stringify(input.name)} were set to 1: ${shapeText(shapes[i] ?? [])}.`;
    warnings.push({ code: 'random_shape', message, where: input.name });
  });
  return warnings;
}

function randomValues(type: string, count: number, next: () => number): ElementArray {
  const out = emptyElements(type, count);
  const float = type === 'float32' || type === 'double';
  const big = out instanceof BigInt64Array || out instanceof BigUint64Array;
  for (let i = 0; i < count; ++i) {
    const word = next();
    const value = float ? (word >>> 8) / 2 ** 23 - 1 : word >>> 31;
    out[i] = (big ? BigInt(value) : value) as never;
  }
  return out;
}

function fnv1a(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

function splitmix32(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let z = state ^ (state >>> 16);
    z = Math.imul(z, 0x21f0aaad);
    z ^= z >>> 15;
    z = Math.imul(z, 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
}

/** Words from 0 to 2^32 - 1. */
export function xoshiro128(seed: number): () => number {
  const fill = splitmix32(seed);
  let [a, b, c, d] = [fill(), fill(), fill(), fill()];
  const rotate = (x: number, bits: number) => (x << bits) | (x >>> (32 - bits));
  return () => {
    const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotate(d, 11);
    return result;
  };
}
