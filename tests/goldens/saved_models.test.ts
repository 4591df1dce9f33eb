// Models that we save, loaded and run by both runtimes as a user would: from the file, with default options. For the small
// graphs and the three real models, outputs have to be finite and close to the float model's. How close is measured by others:
//
//   int8, uint8, int16 activations: the peer's own error in job "b" (the same formats, and more operators quantized), and 1 dB
//     for other roundings. Where an output saturates, that of the tensor in front of it, and the decisions stay what they were.
//     Where the peer is at fault its error is no measure; 2.5 % is what it has on the other small graphs.
//   int4 weights: their steps are 254 / 15 times as long as those of int8, which is 24.6 dB; 2 dB for what isn't linear.
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createEngine,
  type Engine,
  type Model,
  type PlanOptions,
  type SampleSet,
} from '../../bindings/js/src/index.js';
import { withOutputs } from '../unit/with_output.js';
import { ALL_MODELS, bytesOf, type GoldenModel, golden, withModel } from './golden_data.js';
import {
  allFinite,
  closeness,
  type Output,
  prepareRuntimes,
  RUNTIMES,
  runFile,
  sameDecisions,
} from './runtimes.js';
import { table } from './table.js';

const VARIANTS: [name: string, options: PlanOptions][] = [
  ['default', {}],
  ['int8 activations', { activations: 'int8' }],
  ['int16 activations', { activations: 'int16' }],
  ['int4 weights', { weights: 'int4' }],
];
const OTHER_ROUNDINGS_DB = 1;
const INT4_DB = 20 * Math.log10(254 / 15) + 2;
const SAME_DECISIONS = 0.97;
const PEER_AT_FAULT = ['g29_gemm_transb1 y', 'g51_outputs_conv feat0', 'g51_outputs_conv feat3'];
const SOUND_ERROR = 0.025;

let engine: Engine;
const report: (string | number)[][] = [];

beforeAll(() => {
  prepareRuntimes();
  engine = createEngine({ workers: 2 });
});

afterAll(async () => {
  const head = ['model', 'runtime', 'output', 'variant', 'PSNR', 'at least', 'same decisions'];
  console.log(table('Saved models against the float model, dB', head, report));
  await engine.close();
});

interface Watched {
  name: string;
  /** The peer's error; null where the output saturates and the tensor in front of it is watched too. */
  peer: number | null;
}

function watchedTensors(graph: GoldenModel): Watched[] {
  const errors = Object.entries(golden(graph.name, 'b').relative_output_error_vs_float);
  const probed = errors.some(([key]) => key.startsWith('probe:'));
  return errors.map(([key, error]) => {
    const name = key.replace(/^probe:/, '');
    if (probed && name === key) return { name, peer: null };
    return { name, peer: PEER_AT_FAULT.includes(`${graph.name} ${name}`) ? SOUND_ERROR : error };
  });
}

async function saved(model: Model, samples: SampleSet, options: PlanOptions): Promise<Uint8Array> {
  const plan = await model.plan(options);
  const encodings = await model.calibrate(plan, samples);
  const { model: blob } = await model.quantize(plan, encodings);
  return new Uint8Array(await blob.arrayBuffer());
}

/** PSNR by tensor. */
type Scores = Map<string, number>;

function judge(
  where: [model: string, runtime: string, variant: string],
  watched: Watched,
  [expected, actual]: [Output, Output],
  ofInt8: Scores,
): number {
  const [model, runtime, variant] = where;
  const label = `${watched.name} of ${where.join(', ')}`;
  expect(allFinite(actual), `${label} is finite`).toBe(true);
  const { psnr, relative } = closeness(expected, actual);
  const { same, rows } = sameDecisions(expected, actual);
  const int4 = variant === 'int4 weights';
  let floor: number | null = null;
  if (watched.peer !== null) {
    const peer = psnr + 20 * Math.log10(relative / watched.peer);
    floor = int4 ? ofInt8.get(watched.name)! - INT4_DB : peer - OTHER_ROUNDINGS_DB;
  }
  const decisions = watched.peer === null ? `${same} of ${rows}` : '';
  report.push([model, runtime, watched.name, variant, psnr.toFixed(2), floor?.toFixed(2) ?? '', decisions]);
  if (floor !== null) expect(psnr, label).toBeGreaterThanOrEqual(floor);
  else if (!int4) expect(same / rows, `${label}: equal decisions`).toBeGreaterThanOrEqual(SAME_DECISIONS);
  return psnr;
}

async function check(graph: GoldenModel): Promise<void> {
  const tensors = watchedTensors(graph);
  const names = tensors.map(({ name }) => name);
  await withModel(engine, graph, async (model, samples) => {
    const own = (await model.inspect()).model.outputs.map((output) => output.name);
    const inner = names.filter((name) => !own.includes(name));
    const files = new Map<string, Uint8Array>();
    for (const [variant, options] of VARIANTS) {
      files.set(variant, withOutputs(await saved(model, samples, options), inner));
    }
    for (const runtime of RUNTIMES) {
      const ofInt8: Scores = new Map();
      const expected = await runFile(runtime, withOutputs(bytesOf(graph), inner), names, samples);
      for (const [variant, file] of files) {
        const actual = await runFile(runtime, file, names, samples);
        for (const tensor of tensors) {
          const pair: [Output, Output] = [expected.get(tensor.name)!, actual.get(tensor.name)!];
          const psnr = judge([graph.name, runtime, variant], tensor, pair, ofInt8);
          if (variant === 'default') ofInt8.set(tensor.name, psnr);
        }
      }
    }
  });
}

it.each(ALL_MODELS.map((graph) => [graph.name, graph] as const))('%s', (_, graph) => check(graph), 300_000);
