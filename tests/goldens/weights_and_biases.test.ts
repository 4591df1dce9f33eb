// Weights and biases in the files that we save against those of onnxruntime.quantization (uint8 activations, int8 weights, per
// channel): scales, zero points, axes and codes, equal to the last bit, when activations have the peer's scales.
//
// The small graphs are the peer's own pre-processed ones, job "b". wake_embedding is compared as it came, job "b_nopre". The
// text models keep their weights in Constant nodes, which the peer takes for activations unless pre-processing made
// initializers of them, so for them it is job "b": weights that pre-processing left alone are compared in the model as it
// came, and what it folded or fused is rebuilt.
//
// Left out, each by a rule that is counted:
//   beta            the peer rewrites a Gemm's beta to 1 and folds it into the bias's scale (g29); we leave such a bias in float
//   axis            the peer puts the scales of a 3-D MatMul constant along its rows, which the runtime refuses (g33)
//   shared          the peer copies a bias that two nodes add at different scales (g47); we leave the second reader in float
//   wide_bias       a bias beyond int32: the peer widens the weight's scales in those channels, we leave the bias in float.
//                   Scales of all other channels are compared
//   other_operator  a constant of an operator that target onnxruntime doesn't quantize
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createEngine,
  type Encodings,
  type Engine,
  type Plan,
  type Site,
} from '../../bindings/js/src/index.js';
import {
  bytesOf,
  type Golden,
  type GoldenModel,
  golden,
  listed,
  PREPARED_GRAPHS,
  REAL_MODELS,
  single,
  withModel,
} from './golden_data.js';
import { floatsOf, type OnnxFile, readOnnx } from './onnx_file.js';
import { rebuiltOperators } from './rebuilt_operators.js';
import { Tally } from './table.js';

const OPERATORS = ['Conv', 'ConvTranspose', 'Gemm', 'MatMul'];
const TYPES: Record<string, number> = { INT8: 3, INT32: 6 };

let engine: Engine;
const tally = new Tally('Weights and biases against jobs b and b_nopre, tensors');

beforeAll(() => {
  engine = createEngine({ workers: 1 });
});

afterAll(() => engine.close());

interface Saved {
  plan: Plan;
  encodings: Encodings;
  file: OnnxFile;
  /** Biases that stayed float when the file was made. */
  wide: Set<string>;
}

/** Our encodings with the peer's for activations; biases are left to be derived from them. */
function withTheirActivations(plan: Plan, ours: Encodings, theirs: Golden): Encodings {
  const encodings = { ...ours.encodings };
  for (const { tensor, role, quantized } of plan.sites) {
    if (role === 'bias') delete encodings[tensor];
    if (!quantized || role !== 'activation') continue;
    expect(theirs.types[tensor], tensor).toBe('UINT8');
    encodings[tensor] = {
      ...encodings[tensor]!,
      scale: [single(theirs.scales[tensor], tensor)],
      zero_point: [single(theirs.zero_points[tensor], tensor)],
    };
  }
  return { ...ours, encodings };
}

function save(graph: GoldenModel, theirs: Golden): Promise<Saved> {
  return withModel(engine, graph, async (model, samples) => {
    const plan = await model.plan();
    const encodings = withTheirActivations(plan, await model.calibrate(plan, samples), theirs);
    const { model: blob, report } = await model.quantize(plan, encodings);
    const wide = report.changes.filter(({ what }) => what.startsWith('The bias stays float'));
    return {
      plan,
      encodings,
      file: readOnnx(new Uint8Array(await blob.arrayBuffer())),
      wide: new Set(wide.map(({ where }) => where)),
    };
  });
}

function compareTensor(file: OnnxFile, tensor: string, theirs: Golden): void {
  const codes = theirs.quantized_initializers[tensor]!;
  const dequantize = file.nodes.find(
    ({ op, inputs }) => op === 'DequantizeLinear' && inputs[0] === codes.name,
  );
  expect(dequantize, `${codes.name} behind a DequantizeLinear`).toBeDefined();
  const [, scale, zeroPoint] = dequantize!.inputs;
  expect([...floatsOf(file, scale!)], `${tensor}: scales`).toEqual(listed(theirs.scales[tensor]!));
  expect(theirs.zero_points[tensor], `${tensor}: zero points`).toBe(0);
  if (zeroPoint) expect(file.constants.get(zeroPoint)!.bytes.every((byte) => byte === 0)).toBe(true);
  if (listed(theirs.scales[tensor]!).length > 1) {
    expect(dequantize!.ints.get('axis') ?? 1, `${tensor}: axis`).toBe(theirs.axis[tensor]);
  }
  const stored = file.constants.get(codes.name)!;
  expect(stored.dims, `${tensor}: shape`).toEqual(codes.shape);
  expect(stored.type, `${tensor}: type`).toBe(TYPES[codes.type]);
  const values =
    codes.type === 'INT32' ? new Int32Array(stored.bytes.slice().buffer) : new Int8Array(stored.bytes);
  expect([...values.slice(0, 16)], `${tensor}: first codes`).toEqual(codes.first16);
  expect(createHash('sha256').update(stored.bytes).digest('hex'), `${tensor}: codes`).toBe(codes.sha256);
}

/** The bias of the first node that reads this weight. */
function biasOf(plan: Plan, weight: Site): Site | undefined {
  const node = weight.consumers[0]![0];
  return plan.sites.find(
    ({ role, consumers }) => role === 'bias' && consumers.some(([label]) => label === node),
  );
}

function leftOut({ plan, wide }: Saved, site: Site, theirs: Golden): string | null {
  if (site.role === 'bias') {
    if (wide.has(site.tensor)) return 'wide_bias';
    return !site.quantized && site.rule === 'bias_gemm_factors' ? 'beta' : null;
  }
  const bias = biasOf(plan, site);
  if (bias !== undefined && wide.has(bias.tensor)) return 'wide_bias';
  const axis = theirs.axis[site.tensor];
  return axis !== undefined && axis !== site.axis ? 'axis' : null;
}

/** Where the bias fits, scales are equal; where it doesn't, the peer's are wider. */
function compareWidened({ plan, encodings }: Saved, weight: Site, graph: OnnxFile, theirs: Golden): void {
  const bias = biasOf(plan, weight)!;
  const values = floatsOf(graph, bias.tensor);
  const data = plan.sites.find(({ role, consumers }) =>
    consumers.some(
      ([node, input]) => role === 'activation' && node === weight.consumers[0]![0] && input === 0,
    ),
  )!;
  const dataScale = single(theirs.scales[data.tensor], data.tensor);
  const ours = encodings.encodings[weight.tensor]!.scale.map(Math.fround);
  let widened = 0;
  for (const [channel, scale] of listed(theirs.scales[weight.tensor]!).entries()) {
    if (scale === ours[channel]) continue;
    const code = Math.abs(values[channel]!) / Math.fround(dataScale * ours[channel]!);
    expect(scale, `${weight.tensor}: scale of channel ${channel}`).toBeGreaterThan(ours[channel]!);
    // The peer's limit: 1.0001 · 2 · |b| / (2³² − 2) must not pass the bias's scale.
    expect(code, `${bias.tensor}: code of channel ${channel}`).toBeGreaterThan((2 ** 32 - 2) / 2.0002);
    widened++;
  }
  expect(widened, weight.tensor).toBeGreaterThan(0);
}

/** Compares every constant of the plan that the peer quantized too, and says which those were. */
function compareAll(row: string, saved: Saved, graph: OnnxFile, theirs: Golden): string[] {
  const seen = [];
  for (const site of saved.plan.sites) {
    if (site.role === 'activation' || !(site.tensor in theirs.quantized_initializers)) continue;
    seen.push(site.tensor);
    const rule = leftOut(saved, site, theirs);
    tally.add(row, rule === null ? (site.role === 'weight' ? 'weights' : 'biases') : `left out: ${rule}`);
    if (rule === null) compareTensor(saved.file, site.tensor, theirs);
    else if (rule === 'wide_bias' && site.role === 'weight') compareWidened(saved, site, graph, theirs);
  }
  return seen;
}

/** Nothing that the peer quantized may have been passed over. */
function countTheRest(row: string, theirs: Golden, seen: readonly string[]): void {
  const operands = new Set(theirs.nodes.flatMap(([, op, inputs]) => (OPERATORS.includes(op) ? inputs : [])));
  for (const tensor of Object.keys(theirs.quantized_initializers)) {
    if (seen.includes(tensor)) continue;
    const isCopy = /0$/.test(tensor) && seen.includes(tensor.slice(0, -1));
    if (isCopy) tally.add(row, 'left out: shared');
    else if (!operands.has(tensor)) tally.add(row, 'left out: other_operator');
    else expect(seen, `${row} has another operand that the peer quantized`).toContain(tensor);
  }
}

it.each(PREPARED_GRAPHS.map((graph) => [graph.name, graph] as const))('%s', async (name, graph) => {
  const theirs = golden(name, 'b');
  const saved = await save(graph, theirs);
  countTheRest(name, theirs, compareAll(name, saved, readOnnx(bytesOf(graph)), theirs));
});

it.each(REAL_MODELS.map((graph) => [graph.name, graph] as const))('%s', async (name, graph) => {
  const whole = name === 'wake_embedding';
  const theirs = golden(name, whole ? 'b_nopre' : 'b');
  const file = readOnnx(bytesOf(graph));
  const seen = compareAll(name, await save(graph, theirs), file, theirs);
  if (!whole) {
    const row = `${name}, rebuilt`;
    const rebuilt = rebuiltOperators(row, file, theirs);
    seen.push(...compareAll(row, await save(rebuilt, theirs), readOnnx(bytesOf(rebuilt)), theirs));
  }
  countTheRest(name, theirs, seen);
});

it('compared what the goldens hold', () => {
  console.log(tally.text());
  // Exactly these, so that nothing drops out of the comparison unseen.
  expect(tally.totals()).toEqual({
    weights: 222,
    biases: 200,
    'left out: beta': 1,
    'left out: axis': 1,
    'left out: shared': 1,
    'left out: wide_bias': 4,
    'left out: other_operator': 150,
  });
});
