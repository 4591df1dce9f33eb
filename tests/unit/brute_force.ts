// The slow way to score a quantizer: a complete model file with it alone (or with everything but it), written by our own writer,
// run in a session of its own, and PSNR computed here in plain loops.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as ort from 'onnxruntime-web/wasm';
import type { Encodings, Model, Plan, SampleSet } from '../../bindings/js/src/index.js';
import { withOutputs } from './with_output.js';

const EXACT: ort.InferenceSession.SessionOptions = {
  executionProviders: ['wasm'],
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3,
  extra: { session: { disable_quant_qdq: '1', disable_double_qdq_remover: '1', disable_prepacking: '1' } },
};

/** The runtime on this thread. Call it once. */
export function startRuntime(): void {
  const wasm = createRequire(import.meta.url).resolve('onnxruntime-web/ort-wasm-simd-threaded.wasm');
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = new Uint8Array(readFileSync(wasm)).buffer as ArrayBuffer;
}

type Outputs = Float32Array[][];

/** Of a whole model file, in a new session: the scored tensors for each sample. */
async function outputsOf(
  file: Uint8Array,
  scored: string[],
  own: string[],
  samples: SampleSet,
): Promise<Outputs> {
  const session = await ort.InferenceSession.create(
    withOutputs(
      file,
      scored.filter((name) => !own.includes(name)),
    ),
    EXACT,
  );
  const outputs: Outputs = [];
  for (let i = 0; i < samples.count; i++) {
    const feeds: Record<string, ort.Tensor> = {};
    for (const [name, { type, data, dims }] of Object.entries(await samples.load(i))) {
      feeds[name] = new ort.Tensor(type as 'float32', data as Float32Array, dims);
    }
    const results = await session.run(feeds, scored);
    outputs.push(scored.map((name) => (results[name]!.data as Float32Array).slice()));
  }
  await session.release();
  return outputs;
}

/** compute_psnr over everything, one peak and one mean. */
function psnr(expected: Float32Array[], actual: Float32Array[]): number {
  let [low, high, largest, squares, count] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0, 0];
  for (const [sample, values] of expected.entries()) {
    for (const [i, value] of values.entries()) {
      low = Math.min(low, value);
      high = Math.max(high, value);
      largest = Math.max(largest, Math.abs(value));
      squares += (value - actual[sample]![i]!) ** 2;
      count++;
    }
  }
  const peak = Math.max(high - low, largest, 1e-10);
  const rmse = Math.max(Math.sqrt(squares / count), 1e-15);
  return Math.min(100, Math.max(-100, 20 * Math.log10(peak / rmse)));
}

function worst(expected: Outputs, actual: Outputs, tensors: number): number {
  return Math.min(
    ...Array.from({ length: tensors }, (_, t) =>
      psnr(
        expected.map((sample) => sample[t]!),
        actual.map((sample) => sample[t]!),
      ),
    ),
  );
}

/** The plan with these quantizers left only. */
export function only(plan: Plan, tensors: ReadonlySet<string>): Plan {
  const sites = plan.sites.map((site) => (tensors.has(site.tensor) ? site : { ...site, quantized: false }));
  const inputs = plan.inputs.map((input) =>
    tensors.has(input.tensor) ? input : { ...input, quantized: false },
  );
  return { ...plan, sites, inputs };
}

/** The quantizers that a sweep scores, each by itself. */
export function singles(plan: Plan): Map<string, Plan> {
  const scored = plan.sites.filter((site) => site.quantized && site.role !== 'bias');
  return new Map(scored.map(({ tensor }) => [tensor, only(plan, new Set([tensor]))]));
}

/** The score of each plan. */
export async function bruteForce(
  model: Model,
  file: Uint8Array,
  plans: ReadonlyMap<string, Plan>,
  encodings: Encodings,
  samples: SampleSet,
  scored: string[],
): Promise<Map<string, number>> {
  const own = (await model.inspect()).model.outputs.map((output) => output.name);
  const expected = await outputsOf(file, scored, own, samples);
  const scores = new Map<string, number>();
  for (const [key, plan] of plans) {
    const { model: blob } = await model.quantize(plan, encodings);
    const actual = await outputsOf(new Uint8Array(await blob.arrayBuffer()), scored, own, samples);
    scores.set(key, worst(expected, actual, scored.length));
  }
  return scores;
}
