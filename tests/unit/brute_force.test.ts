// Every score of both bundled samples against the slow way: for each quantizer a complete model file with that one quantizer
// alone, written by our own writer, run in a session of its own, and PSNR computed here in plain loops.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import * as ort from 'onnxruntime-web/wasm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createEngine,
  type Encodings,
  type Engine,
  type ImageOptions,
  type Model,
  openPaths,
  type Plan,
  readSamples,
  type SampleSet,
  type SensitivityResults,
} from '../../bindings/js/src/index.js';
import { modelPath } from '../../web/samples/copy.mjs';
import list from '../../web/samples/samples.json' with { type: 'json' };
import { withOutputs } from './with_output.js';

const TOLERANCE_DB = 0.001;
const EXACT: ort.InferenceSession.SessionOptions = {
  executionProviders: ['wasm'],
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3,
  extra: { session: { disable_quant_qdq: '1', disable_double_qdq_remover: '1', disable_prepacking: '1' } },
};

let engine: Engine;

beforeAll(() => {
  const wasm = createRequire(import.meta.url).resolve('onnxruntime-web/ort-wasm-simd-threaded.wasm');
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = new Uint8Array(readFileSync(wasm)).buffer as ArrayBuffer;
  engine = createEngine({ workers: 2 });
});

afterAll(() => engine.close());

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

/** The plan with one quantizer left. */
function alone(plan: Plan, tensor: string): Plan {
  const sites = plan.sites.map((site) => (site.tensor === tensor ? site : { ...site, quantized: false }));
  const inputs = plan.inputs.map((input) =>
    input.tensor === tensor ? input : { ...input, quantized: false },
  );
  return { ...plan, sites, inputs };
}

async function bruteForce(
  model: Model,
  file: Uint8Array,
  plan: Plan,
  encodings: Encodings,
  samples: SampleSet,
  scored: string[],
): Promise<Map<string, number>> {
  const own = (await model.inspect()).model.outputs.map((output) => output.name);
  const expected = await outputsOf(file, scored, own, samples);
  const scores = new Map<string, number>();
  for (const site of plan.sites) {
    if (!site.quantized || site.role === 'bias') continue;
    const { model: blob } = await model.quantize(alone(plan, site.tensor), encodings);
    const actual = await outputsOf(new Uint8Array(await blob.arrayBuffer()), scored, own, samples);
    scores.set(site.tensor, worst(expected, actual, scored.length));
  }
  return scores;
}

describe.each(list.samples)('$title', (sample) => {
  it('every row equals the brute force within 0.001 dB, in the same order wherever scores differ by more', async () => {
    const path = modelPath(sample.model);
    const model = await engine.open({ path });
    const { inputs } = (await model.inspect()).model;
    const images = sample.images as ImageOptions | null;
    const samples = await readSamples(
      openPaths([`web/samples/${sample.folder}`]),
      inputs,
      images ?? undefined,
    );
    const plan = await model.plan();
    const encodings = await model.calibrate(plan, samples);
    const results: SensitivityResults = await model.sensitivity(plan, encodings, samples).results();
    const file = new Uint8Array(readFileSync(path));
    const reference = await bruteForce(model, file, plan, encodings, samples, results.halftone.scored);

    const rows = results.ranking.map(({ name, score }) => ({
      name,
      score: score!,
      reference: reference.get(name)!,
    }));
    expect(rows.map((row) => row.name).sort()).toEqual([...reference.keys()].sort());
    const differences = rows.map((row) => Math.abs(row.score - row.reference));
    const distinct = new Set(rows.map((row) => row.score)).size;
    console.log(
      `${sample.title}: ${rows.length} rows, largest difference ${Math.max(...differences).toExponential(2)} dB, ` +
        `${differences.filter((difference) => difference === 0).length} equal to the last bit, ${distinct} distinct scores, ` +
        `${rows[0]!.score.toFixed(3)} to ${rows.at(-1)!.score.toFixed(3)} dB`,
    );
    for (const row of rows) {
      expect(Math.abs(row.score - row.reference), row.name).toBeLessThanOrEqual(TOLERANCE_DB);
    }
    for (let i = 1; i < rows.length; i++) {
      expect(rows[i]!.reference, `${rows[i - 1]!.name} before ${rows[i]!.name}`).toBeGreaterThanOrEqual(
        rows[i - 1]!.reference - TOLERANCE_DB,
      );
    }
    expect(distinct).toBeGreaterThan((rows.length * 2) / 3);
    await model.close();
    expect(await engine.liveObjects()).toBe(0);
  }, 600_000);
});
