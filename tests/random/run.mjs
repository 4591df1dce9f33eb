// Random graphs that the C++ suite quantizes, each loaded and run by onnxruntime's native build: node by node, with all
// optimisations that leave Q/DQ alone, and with its defaults. Says the seed; the last line is "N passed, M failed", counted in
// graphs.
//
// Models may hold what onnxruntime's fusion into integer kernels can't do, those for TensorRT above all; they must run without
// that fusion. Where it fails with one of the sentences below the graph passes, and the failure is counted and printed.
//
//   node tests/random/run.mjs HALFTONE_TESTS [COUNT] [SEED]
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as ort from 'onnxruntime-node';

const FORMS = ['float', 'onnxruntime', 'tensorrt', 'aimet'];
/** What the package simulates with, but for how weights are kept. */
const NO_FUSION = {
  session: { disable_quant_qdq: '1', disable_double_qdq_remover: '1' },
  optimization: { disable_specified_optimizers: 'ClipQuantRewrite;ReluQuantRewrite' },
};
const RUNS = [
  { name: 'no optimisation', options: { graphOptimizationLevel: 'disabled' } },
  { name: 'no fusion', options: { graphOptimizationLevel: 'all', extra: NO_FUSION } },
  { name: 'defaults', options: { graphOptimizationLevel: 'all' } },
];
const LIMITS_OF_FUSION = [
  {
    what: 'int8 activations made uint8 under an output_dtype that says int8 (opset 21)',
    targets: ['onnxruntime', 'tensorrt', 'aimet'],
    sentence: /output_dtype INT8 does not match/,
    times: 0,
  },
  { what: 'float8 in integer kernels', targets: ['tensorrt'], sentence: /float8e4m3fn/, times: 0 },
  {
    what: 'a Clip in front of float8',
    targets: ['tensorrt'],
    sentence: /clip_quantizelinear.*Unexpected data type/,
    times: 0,
  },
  {
    what: 'scales along an axis of a MatMul operand with three dimensions',
    targets: ['tensorrt', 'aimet'],
    sentence: /zero point (must be|is not valid)/,
    times: 0,
  },
];

const [program, countText = '1000', seedText] = process.argv.slice(2);
if (program === undefined) throw new Error('usage: node tests/random/run.mjs HALFTONE_TESTS [COUNT] [SEED]');
const count = Number(countText);
const seed = seedText === undefined ? randomInt(1, 2 ** 31) : Number(seedText);
console.log(`Random graphs in onnxruntime: ${count} graphs from seed ${seed}`);

const folder = mkdtempSync(join(tmpdir(), 'halftone-random-'));
try {
  writeModels();
  const failures = [];
  for (let graph = seed; graph < seed + count; graph++) {
    const why = await tryGraph(graph);
    if (why !== null) failures.push(`graph ${graph}: ${why}`);
  }
  for (const failure of failures) console.log(`FAILED ${failure}`);
  for (const { what, times } of LIMITS_OF_FUSION)
    console.log(`not with the runtime's defaults: ${what}: ${times}`);
  console.log(`${count - failures.length} passed, ${failures.length} failed`);
  process.exitCode = failures.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}

function writeModels() {
  const made = spawnSync(resolve(program), ['--rng-seed', String(seed), '[random_models]'], {
    env: { ...process.env, HALFTONE_RANDOM_MODELS: folder, HALFTONE_RANDOM_COUNT: String(count) },
    encoding: 'utf8',
  });
  if (made.status !== 0) throw new Error(`the models could not be written:\n${made.stdout}${made.stderr}`);
}

/** null if all forms load, run, and give outputs of the float model's shapes; else what went wrong. */
async function tryGraph(graph) {
  let shapes = null;
  for (const form of FORMS) {
    for (const { name, options } of RUNS) {
      try {
        const given = await outputShapes(join(folder, `${graph}.${form}.onnx`), options, graph);
        shapes ??= given;
        if (given !== shapes) return `${form}, ${name}: outputs ${given} instead of ${shapes}`;
      } catch (thrown) {
        const message = String(thrown.message ?? thrown);
        if (name === 'defaults' && isLimitOfFusion(form, message)) continue;
        return `${form}, ${name}: ${message.split('\n')[0]}`;
      }
    }
  }
  return null;
}

function isLimitOfFusion(target, message) {
  const known = LIMITS_OF_FUSION.find(
    ({ targets, sentence }) => targets.includes(target) && sentence.test(message),
  );
  if (known === undefined) return false;
  known.times += 1;
  return true;
}

async function outputShapes(path, options, graph) {
  const session = await ort.InferenceSession.create(path, {
    executionProviders: ['cpu'],
    ...options,
    logSeverityLevel: 4,
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
  });
  try {
    const results = await session.run(
      Object.fromEntries(session.inputMetadata.map((input) => feed(input, graph))),
    );
    return session.outputNames.map((name) => `${name}[${results[name].dims}]`).join(' ');
  } finally {
    await session.release();
  }
}

/** Values in [-1, 1) that depend on the graph's number alone. */
function feed({ name, shape }, graph) {
  const size = shape.reduce((product, dim) => product * dim, 1);
  let state = (graph * 2654435761 + size) >>> 0;
  const values = Float32Array.from({ length: size }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
  return [name, new ort.Tensor('float32', values, shape)];
}
