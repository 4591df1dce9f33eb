// The sweep of every quantizer against the plain way: for each quantizer a complete model with that one alone, written, loaded
// in a session of its own, and run on all samples. Both on one thread of onnxruntime-web, on the bundled text direction model,
// in turn, best of two; what each prepares (plan, calibration, float outputs) is not counted for the plain way.
//
//   node tests/bench/sweep_speed.mjs        needs the built package (./run builds it)
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as ort from 'onnxruntime-web/wasm';
import { createEngine, openPaths, readSamples } from '../../bindings/js/dist/index.js';

const ROUNDS = 2;
const root = fileURLToPath(new URL('../../', import.meta.url));
const [bundled] = JSON.parse(readFileSync(join(root, 'web/samples/samples.json'), 'utf8')).samples;
const OPTIONS = {
  executionProviders: ['wasm'],
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3,
  extra: { session: { disable_quant_qdq: '1', disable_double_qdq_remover: '1', disable_prepacking: '1' } },
};

const wasm = createRequire(import.meta.url).resolve('onnxruntime-web/ort-wasm-simd-threaded.wasm');
ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmBinary = new Uint8Array(readFileSync(wasm)).buffer;

const engine = createEngine({ workers: 1 });
const model = await engine.open({
  path: join(root, 'node_modules', bundled.model.package, bundled.model.path),
});
const { inputs } = (await model.inspect()).model;
const files = bundled.files.map((file) => join(root, 'web/samples', bundled.folder, file));
const samples = await readSamples(openPaths(files), inputs, bundled.images);
const plan = await model.plan();
const encodings = await model.calibrate(plan, samples);
const scored = plan.sites.filter((site) => site.quantized && site.role !== 'bias');

async function sweep() {
  const { ranking } = await model.sensitivity(plan, encodings, samples).results();
  if (ranking.length !== scored.length) throw new Error('the sweep left rows out');
}

async function plain() {
  for (const { tensor } of scored) {
    const sites = plan.sites.map((site) => ({ ...site, quantized: site.tensor === tensor }));
    const { model: blob } = await model.quantize({ ...plan, sites }, encodings);
    const session = await ort.InferenceSession.create(new Uint8Array(await blob.arrayBuffer()), OPTIONS);
    for (let i = 0; i < samples.count; i++) {
      const feeds = Object.entries(await samples.load(i)).map(([name, { type, data, dims }]) => [
        name,
        new ort.Tensor(type, data, dims),
      ]);
      await session.run(Object.fromEntries(feeds));
    }
    await session.release();
  }
}

async function seconds(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

const best = { sweep: Number.POSITIVE_INFINITY, plain: Number.POSITIVE_INFINITY };
for (let round = 0; round < ROUNDS; round++) {
  best.plain = Math.min(best.plain, await seconds(plain));
  best.sweep = Math.min(best.sweep, await seconds(sweep));
}
await engine.close();
const name = `sweep of ${scored.length} quantizers, ${samples.count} samples`;
console.log(
  JSON.stringify({
    name,
    value: best.sweep,
    unit: 's',
    ratio_to: 'a model each',
    ratio: best.sweep / best.plain,
  }),
);
