// What onnxruntime's pre-processing makes of a Conv that a BatchNormalization follows and of a MatMul that an Add follows,
// rebuilt from the model as it came: the peer's answers of job "b" are about the weights and biases that came out of it.
// Each step rounds to float32, as there.
import type { SampleSet } from '../../bindings/js/src/index.js';
import type { Golden, GoldenModel } from './golden_data.js';
import { floatsOf, type OnnxFile, type OnnxNode } from './onnx_file.js';
import { initializerField, modelFile, nodeField, valueField } from './onnx_writing.js';

const FOLDED_WEIGHT = 'ConvBnFusion_W_';

interface Rebuilt {
  op: 'Conv' | 'Gemm';
  name: string;
  inputs: [data: string, weight: string, bias: string];
  dims: number[];
  weight: Float32Array;
  bias: Float32Array;
  ints: Map<string, number>;
}

/** A model of all rebuilt operators under the names of the peer's answer, each with a graph input to read. */
export function rebuiltOperators(name: string, file: OnnxFile, answer: Golden): GoldenModel {
  const operators = answer.nodes.flatMap(([node, op, inputs]) => {
    if (op === 'Conv' && inputs[1]!.startsWith(FOLDED_WEIGHT)) {
      return [foldedConv(file, node, inputs as Rebuilt['inputs'])];
    }
    const wasGemm = file.nodes.some((own) => own.op === 'Gemm' && own.inputs[1] === inputs[1]);
    return op === 'Gemm' && !wasGemm ? [fusedGemm(file, node, inputs as Rebuilt['inputs'])] : [];
  });
  const shapes = inputShapes(operators);
  const source = modelFile(17, [
    ...operators.map(({ op, name, inputs, ints }) => nodeField(op, name, inputs, `${name}:output`, ints)),
    ...operators.flatMap(({ inputs, dims, weight, bias }) => [
      initializerField(inputs[1], dims, weight),
      initializerField(inputs[2], [bias.length], bias),
    ]),
    ...[...shapes].map(([name, dims]) => valueField(name, dims)),
    ...operators.map(({ name }) => valueField(`${name}:output`)),
  ]);
  return { name, source, samples: async () => ones(shapes) };
}

function fusedGemm(file: OnnxFile, name: string, inputs: Rebuilt['inputs']): Rebuilt {
  const { dims } = file.constants.get(inputs[1])!;
  const [weight, bias] = [floatsOf(file, inputs[1]), floatsOf(file, inputs[2])];
  return { op: 'Gemm', name, inputs, dims, weight, bias, ints: new Map() };
}

function foldedConv(file: OnnxFile, name: string, inputs: Rebuilt['inputs']): Rebuilt {
  const conv = file.nodes.find((node) => node.name === name)!;
  const norm = file.nodes.find(
    (node) => node.op === 'BatchNormalization' && node.inputs[0] === conv.outputs[0],
  )!;
  const [scale, shift, mean, variance] = [1, 2, 3, 4].map((input) => floatsOf(file, norm.inputs[input]!)) as [
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  const epsilon = norm.floats.get('epsilon') ?? Math.fround(1e-5);
  const factor = scale.map(
    (value, channel) => value / Math.fround(Math.sqrt(Math.fround(variance[channel]! + epsilon))),
  );
  const { dims } = file.constants.get(conv.inputs[1]!)!;
  const weight = floatsOf(file, conv.inputs[1]!);
  const perChannel = weight.length / factor.length;
  return {
    op: 'Conv',
    name,
    inputs,
    dims,
    weight: weight.map((value, i) => value * factor[Math.floor(i / perChannel)]!),
    bias: foldedBias(file, conv, { factor, shift, mean }),
    ints: new Map([['group', conv.ints.get('group') ?? 1]]),
  };
}

function foldedBias(
  file: OnnxFile,
  conv: OnnxNode,
  { factor, shift, mean }: { factor: Float32Array; shift: Float32Array; mean: Float32Array },
): Float32Array {
  if (conv.inputs[2] === undefined) {
    return shift.map((value, i) => value - Math.fround(mean[i]! * factor[i]!));
  }
  const bias = floatsOf(file, conv.inputs[2]);
  return bias.map((value, i) => Math.fround(Math.fround(value - mean[i]!) * factor[i]!) + shift[i]!);
}

/** Of a convolution as large as the largest kernel that reads the input, since none here pads. */
function inputShapes(operators: readonly Rebuilt[]): Map<string, number[]> {
  const shapes = new Map<string, number[]>();
  for (const { op, inputs, dims, ints } of operators) {
    const wanted = op === 'Gemm' ? [1, dims[0]!] : [1, dims[1]! * ints.get('group')!, ...dims.slice(2)];
    const known = shapes.get(inputs[0]) ?? wanted;
    shapes.set(
      inputs[0],
      wanted.map((extent, axis) => Math.max(extent, known[axis]!)),
    );
  }
  return shapes;
}

/** One sample: calibration wants some, and what it observes is replaced by the peer's scales. */
function ones(shapes: ReadonlyMap<string, number[]>): SampleSet {
  return {
    count: 1,
    warnings: [],
    random: false,
    name: () => 'ones',
    load: async () =>
      Object.fromEntries(
        [...shapes].map(([name, dims]) => {
          const count = dims.reduce((product, extent) => product * extent, 1);
          return [name, { type: 'float32', dims, data: new Float32Array(count).fill(1) }];
        }),
      ),
  };
}
