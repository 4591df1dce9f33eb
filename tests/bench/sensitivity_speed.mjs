// What a sweep costs, on one line a figure, for three real models with their samples:
//
//   (a) brute force: for each quantizer a complete model file with that one alone, in a session of its own, run on all samples;
//       onnxruntime-web on one thread, warmed, as are our workers; making the files is not counted
//   (b) one session of a model with a switch for each quantizer, run once for each switch and sample, on one thread
//   (c) the sweep, on two workers
//   (d) the sweep for the worst ten only
//   (e) a sweep of these ten alone, as if they had been known before: what (d) can't be below
//
// Of (c), (d) and (e) the median of five is told.
// Limits: c at most 0.35 a; d at most 0.12 a (0.16 a with four samples), with c's worst ten; c's scores those of a, within
// 0.01 dB. Then: twice the samples in one process each, for time and memory.
//
//   node tests/bench/sensitivity_speed.mjs [NAME]      needs the built package (./run builds it)
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import * as ort from 'onnxruntime-web/wasm';
import { createEngine } from '../../bindings/js/dist/index.js';
import { psnr, withOutputs } from './support/outputs.mjs';
import { openRealModel } from './support/real_models.mjs';

const WORKERS = 2;
const TOP = 10;
// Engines compile again what they have run often, in steps: both sides have come to the end of that before they are measured.
const WARM_SESSIONS = 20;
const WARM_SWEEPS = 4;
const TIMED_SWEEPS = 5;
const TIE_DB = 0.01;
/** Of (d), by model. */
const LIMITS = { ocr_cls: 0.12, wake_embedding: 0.12, ocr_rec: 0.16 };
const OPTIONS = {
  executionProviders: ['wasm'],
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3,
  extra: {
    session: { disable_quant_qdq: '1', disable_double_qdq_remover: '1', disable_prepacking: '1' },
    optimization: { disable_specified_optimizers: 'ClipQuantRewrite;ReluQuantRewrite' },
  },
};

let missed = false;

function figure(name, value, unit, ratioTo = null, ratio = null, limit = Number.POSITIVE_INFINITY) {
  const over = ratio !== null && ratio > limit;
  missed ||= over;
  console.log(JSON.stringify({ name, value, unit, ratio_to: ratioTo, ratio, ...(over && { limit }) }));
}

function expect(holds, what) {
  if (holds) return;
  missed = true;
  console.log(JSON.stringify({ name: `MISSED: ${what}`, value: 1, unit: '', ratio_to: null, ratio: null }));
}

/** A set in which each sample comes `times` times. */
function repeated(samples, times) {
  const at = (index) => index % samples.count;
  return {
    count: samples.count * times,
    warnings: samples.warnings,
    random: samples.random,
    name: (index) => `${samples.name(at(index))} (${Math.floor(index / samples.count)})`,
    load: (index) => samples.load(at(index)),
  };
}

async function prepare(engine, name) {
  const { model, samples } = await openRealModel(engine, name);
  const plan = await model.plan();
  return { model, samples, plan, encodings: await model.calibrate(plan, samples) };
}

const seconds = async (work) => {
  const start = performance.now();
  const value = await work();
  return { value, time: (performance.now() - start) / 1000 };
};

/** The one of the median time, of sweeps that each take a fraction of what (a) does. */
async function typical(sweep) {
  const all = [];
  for (let i = 0; i < TIMED_SWEEPS; i++) {
    const run = sweep();
    all.push({ run, ...(await seconds(() => run.results())) });
  }
  return all.sort((one, other) => one.time - other.time)[TIMED_SWEEPS >> 1];
}

const worst = (scores) => Math.min(...scores);

async function feedsOf(samples) {
  const feeds = [];
  for (let i = 0; i < samples.count; i++) {
    const entries = Object.entries(await samples.load(i));
    feeds.push(
      Object.fromEntries(entries.map(([name, t]) => [name, new ort.Tensor(t.type, t.data, t.dims)])),
    );
  }
  return feeds;
}

async function outputsOf(session, feeds, scored) {
  const outputs = scored.map(() => []);
  for (const feed of feeds) {
    const result = await session.run(feed, scored);
    for (const [i, name] of scored.entries()) outputs[i].push(result[name].data);
  }
  return outputs;
}

/** A model of the sweep as a session on this thread. */
async function sessionOf(model, skeleton) {
  const external = [...skeleton.buffers.map(({ path, bytes }) => ({ path, data: bytes }))];
  for (const { path, source } of model.files)
    external.push({ path, data: new Uint8Array(readFileSync(source.path)) });
  return ort.InferenceSession.create(skeleton.model, { ...OPTIONS, externalData: external });
}

async function compareModel(name) {
  const engine = createEngine({ workers: WORKERS });
  const { model, samples, plan, encodings } = await prepare(engine, name);
  const { core, model: handle } = await model.core();
  const choice = { score: [], by: 'quantizer', groups: null, only: '', sweep: 'enable' };
  const started = await core.call('sweep.start', { model: handle, plan, encodings, choice });
  const { scored, groups, sweep } = started;
  const feeds = await feedsOf(samples);
  const ask = (what) => core.call('sweep.model', { sweep, what });

  let expected = [];
  for (let i = 0; i < WARM_SESSIONS; i++) {
    const float = await sessionOf(model, await ask({ kind: 'float' }));
    expected = await outputsOf(float, feeds, scored);
    await float.release();
  }

  const brute = { create: 0, run: 0, metric: 0 };
  const scores = new Map();
  const clock = async (part, work) => {
    const { value, time } = await seconds(work);
    brute[part] += time;
    return value;
  };
  for (const { key } of groups) {
    const sites = plan.sites.map((site) => ({ ...site, quantized: site.tensor === key }));
    const { model: blob } = await model.quantize({ ...plan, sites }, encodings);
    const file = withOutputs(new Uint8Array(await blob.arrayBuffer()), scored, await ownOutputs(model));
    const session = await clock('create', () => ort.InferenceSession.create(file, OPTIONS));
    const outputs = await clock('run', () => outputsOf(session, feeds, scored));
    const score = await clock('metric', async () =>
      worst(scored.map((_, i) => psnr(expected[i], outputs[i]))),
    );
    scores.set(key, score);
    await clock('create', () => session.release());
  }
  const a = brute.create + brute.run + brute.metric;
  const of = `${name}: ${groups.length} quantizers, ${samples.count} samples`;
  figure(`${of} (a) brute force`, a, 's');
  for (const [part, time] of Object.entries(brute)) figure(`${name} (a) of which ${part}`, time, 's');

  const { time: b } = await seconds(async () => {
    const session = await sessionOf(model, await ask({ kind: 'gated' }));
    const own = new Set(Object.keys(feeds[0]));
    const gates = session.inputMetadata.filter((input) => !own.has(input.name));
    const off = gates.map(({ name: gate, shape }) => [gate, bool(false, shape)]);
    for (const { name: gate, shape } of gates) {
      const switches = { ...Object.fromEntries(off), [gate]: bool(true, shape) };
      const outputs = await outputsOf(
        session,
        feeds.map((feed) => ({ ...feed, ...switches })),
        scored,
      );
      worst(scored.map((_, i) => psnr(expected[i], outputs[i])));
    }
    await session.release();
  });
  figure(`${name} (b) one session with switches`, b, 's', '(a)', b / a);
  await core.call('sweep.end', { sweep });

  const warm = async (options) => {
    for (let i = 0; i < WARM_SWEEPS; i++)
      await model.sensitivity(plan, encodings, samples, options).results();
  };
  await warm();
  const {
    run: exactRun,
    value: exact,
    time: c,
  } = await typical(() => model.sensitivity(plan, encodings, samples));
  figure(`${name} (c) sweep`, c, 's', '(a)', c / a, 0.35);
  const costs = exactRun.costs();
  figure(`${name} (c) of which ${costs.sessions} sessions, of all workers`, costs.create_ms / 1000, 's');
  figure(`${name} (c) of which ${costs.runs} runs, of all workers`, costs.run_ms / 1000, 's');
  figure(`${name} (c) of which metric, of all workers`, costs.metric_ms / 1000, 's');
  const known = (costs.create_ms + costs.run_ms + costs.metric_ms) / 1000;
  figure(
    `${name} (c) of which float runs, proofs, transfer and waiting, of all workers`,
    WORKERS * c - known,
    's',
  );
  const differences = exact.ranking.map((row) => Math.abs(row.score - scores.get(row.name)));
  figure(`${name} largest difference of a score from brute force`, Math.max(...differences), 'dB');
  expect(exact.ranking.length === groups.length, `${name}: a row for each quantizer`);
  expect(Math.max(...differences) <= TIE_DB, `${name}: scores within ${TIE_DB} dB of brute force`);

  await warm({ top: TOP });
  const {
    run: topRun,
    value: top,
    time: d,
  } = await typical(() => model.sensitivity(plan, encodings, samples, { top: TOP }));
  figure(`${name} (d) sweep for the worst ${TOP}`, d, 's', '(a)', d / a, LIMITS[name]);
  figure(
    `${name} (d) runs`,
    topRun.costs().runs,
    '',
    'all',
    topRun.costs().runs / (groups.length * samples.count),
  );
  const same = exact.ranking
    .slice(0, TOP)
    .every((row, i) => Math.abs(row.score - top.ranking[i].score) <= TIE_DB);
  expect(same, `${name}: the worst ${TOP} of (d) are those of (c)`);

  const worstOnes = new Set(exact.ranking.slice(0, TOP).map((row) => row.name));
  const alone = { by: ({ tensor }) => (worstOnes.has(tensor) ? tensor : null) };
  await warm(alone);
  const { time: e } = await typical(() => model.sensitivity(plan, encodings, samples, alone));
  figure(`${name} (e) sweep of these ${TOP} alone`, e, 's', '(a)', e / a);
  await engine.close();
}

const bool = (value, shape) =>
  new ort.Tensor(
    'bool',
    [value],
    shape.map((size) => (typeof size === 'number' && size > 0 ? size : 1)),
  );

const ownOutputs = async (model) => (await model.inspect()).model.outputs.map((output) => output.name);

/** One sweep in a process of its own: seconds and the largest memory. */
async function alone(name, times) {
  const engine = createEngine({ workers: WORKERS });
  const { model, samples, plan, encodings } = await prepare(engine, name);
  const many = repeated(samples, times);
  await model.sensitivity(plan, encodings, samples).results();
  const run = model.sensitivity(plan, encodings, many);
  const { time } = await seconds(() => run.results());
  await engine.close();
  console.log(
    JSON.stringify({ time, run_ms: run.costs().run_ms, memory: process.resourceUsage().maxRSS * 1024 }),
  );
}

function growth(name, times) {
  const self = fileURLToPath(import.meta.url);
  const of = (factor) =>
    JSON.parse(execFileSync(process.execPath, [self, '--alone', name, String(factor)], { encoding: 'utf8' }));
  const [once, twice] = [of(times), of(2 * times)];
  figure(`${name}: time, ${times} times its samples`, once.time, 's');
  figure(
    `${name}: time, ${2 * times} times its samples`,
    twice.time,
    's',
    'half the samples',
    twice.time / once.time,
    2.2,
  );
  figure(`${name}: runs alone`, twice.run_ms / 1000, 's', 'half the samples', twice.run_ms / once.run_ms);
  figure(
    `${name}: memory`,
    twice.memory / 2 ** 20,
    'MiB',
    'half the samples',
    twice.memory / once.memory,
    1.15,
  );
}

const [first, second, third] = process.argv.slice(2);
if (first === '--alone') {
  await alone(second, Number(third));
} else {
  const wasm = createRequire(import.meta.url).resolve('onnxruntime-web/ort-wasm-simd-threaded.wasm');
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmBinary = new Uint8Array(readFileSync(wasm)).buffer;
  for (const name of Object.keys(LIMITS)) if (first === undefined || first === name) await compareModel(name);
  if (first === undefined || first === 'wake_embedding') growth('wake_embedding', 32);
  process.exitCode = missed ? 1 : 0;
}
