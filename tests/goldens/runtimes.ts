// The two runtimes that saved models are for, with their default options but for the number of threads.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as native from 'onnxruntime-node';
import * as web from 'onnxruntime-web/wasm';
import type { SampleSet } from '../../bindings/js/src/index.js';

export type RuntimeName = 'web' | 'node';
export const RUNTIMES: readonly RuntimeName[] = ['web', 'node'];

type Options = web.InferenceSession.SessionOptions;
const OPTIONS: Record<RuntimeName, Options> = {
  web: { executionProviders: ['wasm'], logSeverityLevel: 3 },
  node: { executionProviders: ['cpu'], logSeverityLevel: 3, intraOpNumThreads: 1, interOpNumThreads: 1 },
};

export function prepareRuntimes(): void {
  const wasm = createRequire(import.meta.url).resolve('onnxruntime-web/ort-wasm-simd-threaded.wasm');
  web.env.wasm.numThreads = 1;
  web.env.wasm.wasmBinary = new Uint8Array(readFileSync(wasm)).buffer as ArrayBuffer;
}

/** A float output over all samples. */
export interface Output {
  samples: Float32Array[];
  /** Extent of the last axis. */
  width: number;
}

/** Loads a whole model file in a new session and runs it over all samples. */
export async function runFile(
  runtime: RuntimeName,
  file: Uint8Array,
  outputs: readonly string[],
  samples: SampleSet,
): Promise<Map<string, Output>> {
  const ort = (runtime === 'web' ? web : native) as typeof web;
  const session = await ort.InferenceSession.create(file, OPTIONS[runtime]);
  const values = new Map<string, Output>(outputs.map((name) => [name, { samples: [], width: 1 }]));
  try {
    for (let i = 0; i < samples.count; i++) {
      const feeds: Record<string, web.Tensor> = {};
      for (const [name, { type, data, dims }] of Object.entries(await samples.load(i))) {
        feeds[name] = new ort.Tensor(type as 'float32', data as Float32Array, dims);
      }
      const results = await session.run(feeds, [...outputs]);
      for (const [name, output] of values) {
        output.samples.push((results[name]!.data as Float32Array).slice());
        output.width = results[name]!.dims.at(-1) ?? 1;
      }
    }
  } finally {
    await session.release();
  }
  return values;
}

export function allFinite({ samples }: Output): boolean {
  return samples.every((values) => values.every((value) => Number.isFinite(value)));
}

export interface Closeness {
  /** Peak signal to noise in dB; the peak is the larger of range and magnitude over all samples. */
  psnr: number;
  /** ||actual - expected|| / ||expected|| over all samples, as the goldens state it. */
  relative: number;
}

export function closeness(expected: Output, actual: Output): Closeness {
  let [low, high, squares, signal, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0, 0];
  for (const [sample, values] of expected.samples.entries()) {
    for (const [i, value] of values.entries()) {
      low = Math.min(low, value);
      high = Math.max(high, value);
      squares += (value - actual.samples[sample]![i]!) ** 2;
      signal += value ** 2;
      count++;
    }
  }
  const peak = Math.max(high - low, -low, high);
  return { psnr: 20 * Math.log10(peak / Math.sqrt(squares / count)), relative: Math.sqrt(squares / signal) };
}

/** In how many rows along the last axis the largest value is at the same place. */
export function sameDecisions(expected: Output, actual: Output): { same: number; rows: number } {
  let [same, rows] = [0, 0];
  for (const [sample, values] of expected.samples.entries()) {
    for (let at = 0; at < values.length; at += expected.width) {
      const row = (all: Float32Array) => largest(all.subarray(at, at + expected.width));
      if (row(values) === row(actual.samples[sample]!)) same++;
      rows++;
    }
  }
  return { same, rows };
}

function largest(values: Float32Array): number {
  return values.reduce((best, value, index) => (value > values[best]! ? index : best), 0);
}
