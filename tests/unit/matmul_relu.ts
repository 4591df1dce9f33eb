// The model of AIMET's worked example, X [1,3] -> MatMul by W [3,2] -> Y -> Relu -> Z, and its two samples, written here.
import type { SampleSet } from '../../bindings/js/src/index.js';
import { field, varint } from './with_output.js';

const FLOAT = 1;
const text = (number: number, value: string) => field(number, [...new TextEncoder().encode(value)]);
const whole = (number: number, value: number) => [...varint(number * 8), ...varint(value)];

function node(op: string, inputs: string[], output: string): number[] {
  return field(1, [
    ...inputs.flatMap((name) => text(1, name)),
    ...text(2, output),
    ...text(3, op),
    ...text(4, op),
  ]);
}

function value(number: number, name: string, dims: number[]): number[] {
  const shape = dims.flatMap((size) => field(1, whole(1, size)));
  return field(number, [...text(1, name), ...field(2, field(1, [...whole(1, FLOAT), ...field(2, shape)]))]);
}

function initializer(name: string, dims: number[], values: number[]): number[] {
  const bytes = [...new Uint8Array(new Float32Array(values).buffer)];
  return field(5, [
    ...dims.flatMap((size) => whole(1, size)),
    ...whole(2, FLOAT),
    ...text(8, name),
    ...field(9, bytes),
  ]);
}

export function matmulRelu(): Uint8Array<ArrayBuffer> {
  const graph = [
    ...node('MatMul', ['X', 'W'], 'Y'),
    ...node('Relu', ['Y'], 'Z'),
    ...text(2, 'mini'),
    ...initializer('W', [3, 2], [0.31, -0.77, 0.42, 0.9, -1.5, 0.05]),
    ...value(11, 'X', [1, 3]),
    ...value(12, 'Z', [1, 2]),
  ];
  return new Uint8Array([...whole(1, 8), ...field(8, whole(2, 17)), ...field(7, graph)]);
}

const ROWS = [
  [0.5, -1.2, 2],
  [-0.3, 0.8, 0.1],
];

export function matmulReluSamples(): SampleSet {
  return {
    count: ROWS.length,
    warnings: [],
    random: false,
    name: (index) => `row ${index}`,
    load: async (index) => ({ X: { type: 'float32', dims: [1, 3], data: new Float32Array(ROWS[index]!) } }),
  };
}
