// Ranges that we observe against those of onnxruntime.quantization's job "a_nopre" (int8 asymmetric activations, min-max, the
// graph as it came), for graph inputs and for outputs of Conv, ConvTranspose, Gemm and MatMul. Like the peer we run
// onnxruntime's native build without optimisation on one thread; it is of another version, whose kernels may sum in another
// order, so a scale may differ by 8 ulp. Zero points are integers and equal.
//
// Left out, each by a rule that is counted:
//   relu_clip     a Relu or Clip reads the tensor: the peer gives it the range behind that
//   no_quantizer  the peer doesn't quantize the tensor: only operators that it leaves in float read it
//   not_float     the input holds integers
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CalibrateOptions, createEngine, type Engine } from '../../bindings/js/src/index.js';
import { ALL_MODELS, bytesOf, type GoldenModel, golden, single, withModel } from './golden_data.js';
import { FLOAT, type OnnxFile, readOnnx } from './onnx_file.js';
import { histogram, Tally, table, ulps } from './table.js';

const OPERATORS = ['Conv', 'ConvTranspose', 'Gemm', 'MatMul'];
const LARGEST_ULPS = 8;

let engine: Engine;
const tally = new Tally('Ranges against job a_nopre, tensors');
const distances: Record<string, number[]> = { 'graph input': [], 'operator output': [] };

beforeAll(() => {
  engine = createEngine({ runner: 'node', workers: 1 });
});

afterAll(() => engine.close());

/** Tensors that the comparison is about, by kind, whether or not they can be compared. */
function candidates(file: OnnxFile): Map<string, string> {
  const found = new Map([...file.inputs.keys()].map((input) => [input, 'graph input']));
  for (const node of file.nodes) {
    if (OPERATORS.includes(node.op)) found.set(node.outputs[0]!, 'operator output');
  }
  return found;
}

function leftOut(file: OnnxFile, tensor: string, scales: Record<string, unknown>): string | null {
  if (file.inputs.has(tensor) && file.inputs.get(tensor) !== FLOAT) return 'left out: not_float';
  const clamped = file.nodes.some(
    (node) => (node.op === 'Relu' || node.op === 'Clip') && node.inputs[0] === tensor,
  );
  if (clamped) return 'left out: relu_clip';
  return tensor in scales ? null : 'left out: no_quantizer';
}

async function compareRanges(graph: GoldenModel): Promise<void> {
  const theirs = golden(graph.name, 'a_nopre');
  const file = readOnnx(bytesOf(graph));
  const compared = new Map<string, string>();
  for (const [tensor, kind] of candidates(file)) {
    const rule = leftOut(file, tensor, theirs.scales);
    tally.add(graph.name, rule ?? kind);
    if (rule === null) compared.set(tensor, kind);
  }
  const ours = await withModel(engine, graph, async (model, samples) => {
    const plan = await model.plan({ activations: 'int8', activationsSymmetric: false });
    const options: CalibrateOptions = { tensors: [...compared.keys()], optimization: 'disabled' };
    return (await model.calibrate(plan, samples, options)).encodings;
  });
  for (const [tensor, kind] of compared) {
    const encoding = ours[tensor];
    expect(encoding, tensor).toMatchObject({ format: 'int8', axis: null });
    expect(theirs.types[tensor], tensor).toBe('INT8');
    expect(encoding!.zero_point, tensor).toEqual([single(theirs.zero_points[tensor], tensor)]);
    const distance = ulps(encoding!.scale[0]!, single(theirs.scales[tensor], tensor));
    distances[kind]!.push(distance);
    expect(distance, `${tensor}: ulps between the scales`).toBeLessThanOrEqual(LARGEST_ULPS);
  }
}

it.each(ALL_MODELS.map((graph) => [graph.name, graph] as const))('%s', (_, graph) => compareRanges(graph));

it('compared what the goldens hold', () => {
  console.log(tally.text());
  console.log(
    table(
      'Distance of the scales in ulps (distance: tensors)',
      ['', 'histogram'],
      Object.entries(distances).map(([kind, values]) => [kind, histogram(values)]),
    ),
  );
  // Exactly these, so that nothing drops out of the comparison unseen.
  expect(tally.totals()).toEqual({
    'graph input': 34,
    'operator output': 191,
    'left out: relu_clip': 43,
    'left out: no_quantizer': 1,
    'left out: not_float': 1,
  });
});
