// Small graphs around one operator, written here: x -> Conv or MatMul by w -> a -> the operator -> y.
import { concat, initializerField, integer, modelFile, nested } from '../goldens/onnx_writing.js';

type Attribute = number | string | readonly number[] | { float: number };

const INT = 2;
const FLOAT = 1;
const STRING = 3;
const INTS = 7;
const INT64 = 7;
const BOOL = 9;

/** Twos complement in ten bytes where it is negative. */
function anyInteger(field: number, value: number): Uint8Array {
  if (value >= 0) return integer(field, value);
  const bytes = [field * 8];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) + 128);
  return Uint8Array.from([...bytes, Number(rest)]);
}

function attributeField(name: string, value: Attribute): Uint8Array {
  const parts = (): Uint8Array[] => {
    if (typeof value === 'number') return [anyInteger(3, value), integer(20, INT)];
    if (typeof value === 'string') return [nested(4, value), integer(20, STRING)];
    if ('float' in value) {
      const bytes = new Uint8Array(Float32Array.of(value.float).buffer);
      return [Uint8Array.from([2 * 8 + 5, ...bytes]), integer(20, FLOAT)];
    }
    return [...value.map((one) => anyInteger(8, one)), integer(20, INTS)];
  };
  return nested(5, nested(1, name), ...parts());
}

/** A fixed pseudo-random sequence in [-1, 1). */
export function randomValues(count: number, seed: number): Float32Array {
  let state = seed >>> 0;
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

export class GraphWriter {
  private readonly fields: Uint8Array[] = [];
  private made = 0;
  /** Of float32, by name. */
  readonly constants = new Map<string, { dims: readonly number[]; values: Float32Array }>();

  /** Constants of these names get these values. */
  constructor(private readonly others: ReadonlyMap<string, Float32Array>) {}

  op(op: string, inputs: readonly string[], attributes: Record<string, Attribute> = {}): string {
    return this.ops(1, op, inputs, attributes)[0]!;
  }

  /** With several outputs. */
  ops(
    outputs: number,
    op: string,
    inputs: readonly string[],
    attributes: Record<string, Attribute> = {},
  ): string[] {
    const names = Array.from({ length: outputs }, () => `t${this.made++}`);
    this.add(op, inputs, names, attributes);
    return names;
  }

  add(
    op: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: Record<string, Attribute> = {},
  ): void {
    this.fields.push(
      nested(
        1,
        ...inputs.map((name) => nested(1, name)),
        ...outputs.map((name) => nested(2, name)),
        nested(3, `node_${this.made++}`),
        nested(4, op),
        ...Object.entries(attributes).map(([name, value]) => attributeField(name, value)),
      ),
    );
  }

  floats(dims: readonly number[], values: ArrayLike<number>, name = `c${this.made++}`): string {
    const own = this.others.get(name) ?? Float32Array.from(values);
    this.constants.set(name, { dims, values: own });
    this.fields.push(initializerField(name, dims, own));
    return name;
  }

  random(dims: readonly number[], seed: number): string {
    return this.floats(
      dims,
      randomValues(
        dims.reduce((a, b) => a * b, 1),
        seed,
      ),
    );
  }

  ints(values: readonly number[], dims: readonly number[] = [values.length]): string {
    return this.tensor(INT64, dims, new Uint8Array(BigInt64Array.from(values.map(BigInt)).buffer));
  }

  bools(values: readonly boolean[], dims: readonly number[]): string {
    return this.tensor(BOOL, dims, Uint8Array.from(values.map(Number)));
  }

  private tensor(type: number, dims: readonly number[], raw: Uint8Array): string {
    const name = `c${this.made++}`;
    this.fields.push(
      nested(5, ...dims.map((dim) => integer(1, dim)), integer(2, type), nested(8, name), nested(9, raw)),
    );
    return name;
  }

  /** With x of these dimensions, or of dimensions that are not declared. */
  file(opset: number, dims: readonly number[], dynamic: boolean): Uint8Array {
    const shape = dims.map((dim) => nested(1, dynamic ? nested(2, '?') : integer(1, dim)));
    const input = nested(11, nested(1, 'x'), nested(2, nested(1, integer(1, FLOAT), nested(2, ...shape))));
    const output = nested(12, nested(1, 'y'), nested(2, nested(1, integer(1, FLOAT))));
    return modelFile(opset, [concat(...this.fields), input, output]);
  }
}

export interface GraphCase {
  name: string;
  /** A Conv's output [2, 4, 8, 6] or a MatMul's [2, 3, 4]. */
  form: 'image' | 'matrix';
  opset?: number;
  /** What is added to `a` first, to keep it off a kink or inside a domain. */
  shift?: number;
  /** From `a` to the name of y. */
  build: (graph: GraphWriter, a: string) => string;
}

const unary = (
  op: string,
  attributes: Record<string, Attribute> = {},
  more: Partial<GraphCase> = {},
): GraphCase => ({
  name: [op, ...Object.values(attributes).map((value) => JSON.stringify(value))].join(' '),
  form: 'matrix',
  build: (graph, a) => graph.op(op, [a], attributes),
  ...more,
});

const image = (name: string, build: GraphCase['build'], more: Partial<GraphCase> = {}): GraphCase => ({
  name,
  form: 'image',
  build,
  ...more,
});

const matrix = (name: string, build: GraphCase['build'], more: Partial<GraphCase> = {}): GraphCase => ({
  name,
  form: 'matrix',
  build,
  ...more,
});

const activations: GraphCase[] = [
  unary('Identity'),
  unary('Relu'),
  unary('LeakyRelu', { alpha: { float: 0.3 } }),
  unary('LeakyRelu', { alpha: { float: -0.3 } }),
  unary('ThresholdedRelu', { alpha: { float: 0.2 } }),
  unary('Elu', { alpha: { float: 0.7 } }),
  unary('Sigmoid'),
  unary('Tanh'),
  unary('HardSigmoid', { alpha: { float: 0.4 }, beta: { float: 0.45 } }),
  unary('HardSwish'),
  unary('Softplus'),
  unary('Softsign'),
  unary('Erf'),
  unary('Exp'),
  unary('Log', {}, { shift: 5 }),
  unary('Sqrt', {}, { shift: 5 }),
  unary('Reciprocal', {}, { shift: 5 }),
  unary('Neg'),
  unary('Abs'),
  unary('Sin'),
  unary('Cos'),
  unary('Gelu', {}, { opset: 20 }),
  unary('Gelu', { approximate: 'tanh' }, { opset: 20 }),
  unary('Mish', {}, { opset: 18 }),
  matrix('Clip', (g, a) => g.op('Clip', [a, g.floats([], [-0.5]), g.floats([], [0.6])])),
  matrix('Clip from below', (g, a) => g.op('Clip', [a, g.floats([], [0.1])])),
  matrix('Clip from above', (g, a) => g.op('Clip', [a, '', g.floats([], [0.1])])),
  matrix('Clip without bounds', (g, a) => g.op('Clip', [a])),
  matrix('PRelu', (g, a) => g.op('PRelu', [a, g.random([4], 5)])),
  matrix('Pow 2', (g, a) => g.op('Pow', [a, g.floats([], [2])])),
  matrix('Pow 3', (g, a) => g.op('Pow', [a, g.floats([1], [3])])),
  matrix('Pow by column', (g, a) => g.op('Pow', [a, g.floats([4], [1.5, -1, 0.5, 2])]), { shift: 5 }),
];

const arithmetic: GraphCase[] = [
  matrix('Add, spread', (g, a) => g.op('Add', [a, g.random([2, 2, 1, 4], 1)])),
  matrix('Sub from a constant', (g, a) => g.op('Sub', [g.random([4], 1), a])),
  matrix('Mul by itself', (g, a) => g.op('Mul', [a, a])),
  matrix('Mul of rows and the whole', (g, a) => g.op('Mul', [g.op('ReduceMean', [a], { axes: [1] }), a])),
  matrix('Div of itself by rows', (g, a) => g.op('Div', [a, g.op('ReduceMean', [a], { axes: [1, 2] })]), {
    shift: 5,
  }),
  matrix('Sum of three', (g, a) =>
    g.op('Sum', [a, g.op('ReduceSum', [a, g.ints([0])], { keepdims: 0 }), g.random([4], 2)]),
  ),
  matrix('Mean of two', (g, a) => g.op('Mean', [a, g.op('Sigmoid', [a])])),
  matrix('Max with a constant', (g, a) => g.op('Max', [a, g.random([4], 3)])),
  matrix('Min of three', (g, a) =>
    g.op('Min', [a, g.op('Neg', [a]), g.op('ReduceMean', [a], { axes: [0] })]),
  ),
  matrix('Where', (g, a) =>
    g.op('Where', [g.bools([true, false, false, true], [4]), a, g.op('ReduceSum', [a, g.ints([1])])]),
  ),
  matrix('Expand', (g, a) => g.op('Expand', [g.op('ReduceSum', [a, g.ints([2])]), g.ints([3, 1, 3, 5])])),
];

const products: GraphCase[] = [
  matrix('MatMul by a constant', (g, a) => g.op('MatMul', [a, g.random([4, 3], 1)])),
  matrix('MatMul of a constant', (g, a) => g.op('MatMul', [g.random([5, 3], 1), a])),
  matrix('MatMul by a vector', (g, a) => g.op('MatMul', [a, g.random([4], 1)])),
  matrix('MatMul of a vector', (g, a) => g.op('MatMul', [g.random([3], 1), a])),
  matrix('MatMul with batches of another', (g, a) => g.op('MatMul', [a, g.random([3, 1, 4, 2], 1)])),
  matrix('MatMul by its own transpose', (g, a) =>
    g.op('MatMul', [a, g.op('Transpose', [a], { perm: [0, 2, 1] })]),
  ),
  matrix('MatMul by what is spread', (g, a) => {
    const mean = g.op('ReduceMean', [a], { axes: [0], keepdims: 0 });
    return g.op('MatMul', [g.op('Sigmoid', [a]), g.op('Transpose', [mean])]);
  }),
  matrix('MatMul of two vectors', (g, a) => {
    const row = g.op('ReduceMean', [a], { axes: [0, 1], keepdims: 0 });
    return g.op('MatMul', [row, g.op('Sigmoid', [row])]);
  }),
  ...[0, 1].flatMap((transA) =>
    [0, 1].map((transB) =>
      matrix(`Gemm ${transA}${transB} of two`, (g, a) => {
        const left = g.op('Reshape', [a, g.ints([4, 6])]);
        const right = g.op('Sigmoid', [
          g.op('Reshape', [a, transA === transB ? g.ints([6, 4]) : g.ints([4, 6])]),
        ]);
        const attributes = { transA, transB, alpha: { float: 0.7 }, beta: { float: 1.3 } };
        const bias = g.op('ReduceMean', [a], { axes: [0, 1, 2], keepdims: 0 });
        return g.op('Gemm', [left, right, bias], attributes);
      }),
    ),
  ),
  matrix('Gemm by a constant', (g, a) =>
    g.op('Gemm', [g.op('Flatten', [a]), g.random([5, 12], 1), g.random([5], 2)], { transB: 1 }),
  ),
];

const convolutions: GraphCase[] = [
  ...(
    [
      ['3x3', [5, 4, 3, 3], { pads: [1, 1, 1, 1] }],
      ['with margins that differ', [5, 4, 3, 2], { pads: [0, 1, 2, 0] }],
      ['with steps', [5, 4, 3, 3], { strides: [2, 2], pads: [1, 1, 1, 1] }],
      ['with steps that leave a row over', [5, 4, 2, 3], { strides: [3, 2], pads: [0, 1, 0, 0] }],
      ['with steps beyond the kernel', [5, 4, 1, 1], { strides: [2, 3] }],
      ['with gaps', [5, 4, 2, 2], { dilations: [2, 3] }],
      ['with groups', [6, 2, 3, 3], { group: 2, pads: [1, 1, 1, 1] }],
      ['by depth', [4, 1, 3, 3], { group: 4, pads: [1, 1, 1, 1] }],
      ['by depth, with steps', [8, 1, 3, 3], { group: 4, strides: [2, 1], pads: [1, 1, 1, 1] }],
      ['SAME_UPPER', [5, 4, 4, 3], { auto_pad: 'SAME_UPPER' }],
      ['SAME_LOWER with steps', [5, 4, 3, 2], { auto_pad: 'SAME_LOWER', strides: [3, 2] }],
      ['SAME_UPPER with steps', [5, 4, 3, 4], { auto_pad: 'SAME_UPPER', strides: [3, 2] }],
      ['VALID', [5, 4, 3, 3], { auto_pad: 'VALID', strides: [2, 1] }],
      ['with margins beyond the kernel', [5, 4, 1, 1], { pads: [1, 2, 0, 1] }],
    ] as [string, number[], Record<string, Attribute>][]
  ).map(([name, dims, attributes], i) =>
    image(`Conv ${name}`, (g, a) =>
      g.op('Conv', [a, g.random(dims, i + 1), g.random([dims[0]!], 9)], attributes),
    ),
  ),
  image('ConvTranspose', (g, a) =>
    g.op('ConvTranspose', [a, g.random([4, 3, 3, 2], 1)], {
      strides: [2, 3],
      pads: [1, 0, 1, 1],
      output_padding: [1, 2],
    }),
  ),
  image('ConvTranspose with groups', (g, a) =>
    g.op('ConvTranspose', [a, g.random([4, 2, 2, 3], 1), g.random([4], 2)], { group: 2, dilations: [2, 1] }),
  ),
];

const windows: GraphCase[] = [
  image('MaxPool', (g, a) => g.op('MaxPool', [a], { kernel_shape: [2, 2], strides: [2, 2] })),
  image('MaxPool that overlaps', (g, a) =>
    g.op('MaxPool', [a], { kernel_shape: [3, 3], strides: [2, 1], pads: [1, 1, 1, 1] }),
  ),
  image('MaxPool, rounded up', (g, a) =>
    g.op('MaxPool', [a], { kernel_shape: [3, 3], strides: [2, 2], ceil_mode: 1 }),
  ),
  image('AveragePool', (g, a) => g.op('AveragePool', [a], { kernel_shape: [2, 3], strides: [2, 3] })),
  image('AveragePool with margins', (g, a) =>
    g.op('AveragePool', [a], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] }),
  ),
  image('AveragePool that counts margins', (g, a) =>
    g.op('AveragePool', [a], {
      kernel_shape: [3, 3],
      strides: [2, 1],
      pads: [1, 1, 1, 1],
      count_include_pad: 1,
    }),
  ),
  image('AveragePool SAME_UPPER', (g, a) =>
    g.op('AveragePool', [a], { kernel_shape: [3, 2], strides: [3, 2], auto_pad: 'SAME_UPPER' }),
  ),
  image('GlobalAveragePool', (g, a) => g.op('GlobalAveragePool', [a])),
  image('GlobalMaxPool', (g, a) => g.op('GlobalMaxPool', [a])),
  image(
    'squeeze and excite',
    (g, a) => {
      const gate = g.op('HardSigmoid', [
        g.op('Conv', [g.op('GlobalAveragePool', [a]), g.random([4, 4, 1, 1], 1)]),
      ]);
      return g.op('Mul', [a, gate]);
    },
    { shift: 1 },
  ),
];

const reductions: GraphCase[] = [
  matrix('ReduceMean', (g, a) => g.op('ReduceMean', [a], { axes: [-1], keepdims: 0 })),
  matrix('ReduceMean of all', (g, a) => g.op('ReduceMean', [a], { keepdims: 0 })),
  matrix('ReduceMean with axes as an input', (g, a) => g.op('ReduceMean', [a, g.ints([0, 2])]), {
    opset: 18,
  }),
  matrix('ReduceSum of nothing', (g, a) => g.op('ReduceSum', [a], { noop_with_empty_axes: 1 })),
  matrix('ReduceSum', (g, a) => g.op('ReduceSum', [a, g.ints([1])], { keepdims: 0 })),
  matrix('ReduceMax', (g, a) => g.op('ReduceMax', [a], { axes: [1], keepdims: 0 })),
  matrix('ReduceMin', (g, a) => g.op('ReduceMin', [a], { axes: [0, 2] })),
  matrix('ReduceL2', (g, a) => g.op('ReduceL2', [a], { axes: [2], keepdims: 0 })),
  matrix('ReduceSumSquare', (g, a) => g.op('ReduceSumSquare', [a], { axes: [2] })),
  matrix('Softmax', (g, a) => g.op('Softmax', [a], { axis: 1 })),
  matrix('Softmax of opset 11', (g, a) => g.op('Softmax', [a], { axis: 1 }), { opset: 11 }),
  matrix('LogSoftmax', (g, a) => g.op('LogSoftmax', [a])),
  image('BatchNormalization', (g, a) => {
    const variance = g.floats([4], [0.5, 1, 2, 0.1]);
    return g.op('BatchNormalization', [a, g.random([4], 1), g.random([4], 2), g.random([4], 3), variance]);
  }),
  image('InstanceNormalization', (g, a) =>
    g.op('InstanceNormalization', [a, g.random([4], 1), g.random([4], 2)]),
  ),
  matrix('LayerNormalization', (g, a) => g.op('LayerNormalization', [a, g.random([4], 1), g.random([4], 2)])),
  matrix('LayerNormalization of two axes', (g, a) =>
    g.op('LayerNormalization', [a, g.random([3, 4], 1)], { axis: 1, epsilon: { float: 0.1 } }),
  ),
];

const layouts: GraphCase[] = [
  matrix('Reshape', (g, a) => g.op('Reshape', [a, g.ints([-1, 6])])),
  matrix('Flatten', (g, a) => g.op('Flatten', [a])),
  matrix('Unsqueeze and Squeeze', (g, a) =>
    g.op('Squeeze', [g.op('Unsqueeze', [a, g.ints([0, 2])]), g.ints([0])]),
  ),
  matrix('Transpose', (g, a) => g.op('Transpose', [a], { perm: [1, 2, 0] })),
  matrix('Transpose of all', (g, a) => g.op('Transpose', [a])),
  matrix('Concat', (g, a) => g.op('Concat', [a, g.random([2, 3, 2], 1), g.op('Sigmoid', [a])], { axis: -1 })),
  matrix('Split', (g, a) => {
    const parts = g.ops(3, 'Split', [a, g.ints([1, 2, 1])], { axis: 2 });
    return g.op('Concat', [g.op('Exp', [parts[1]!]), parts[2]!], { axis: 2 });
  }),
  matrix('Slice', (g, a) => g.op('Slice', [a, g.ints([1, -3]), g.ints([2 ** 53, -1]), g.ints([1, 2])])),
  matrix('Slice from the front', (g, a) => g.op('Slice', [a, g.ints([0]), g.ints([2]), g.ints([-1])])),
  matrix('Slice backward by twos', (g, a) =>
    g.op('Slice', [a, g.ints([-1]), g.ints([-100]), g.ints([2]), g.ints([-2])]),
  ),
  matrix('Slice up to a computed place', (g, a) => {
    const end = g.op('Slice', [g.op('Shape', [a]), g.ints([0]), g.ints([1])]);
    return g.op('Slice', [a, g.ints([0]), end, g.ints([2])]);
  }),
  matrix('Pad', (g, a) => g.op('Pad', [a, g.ints([0, 1, -1, 1, 0, 2])])),
  matrix('Pad by reflection', (g, a) => g.op('Pad', [a, g.ints([0, 1, 2, 0, 2, 1])], { mode: 'reflect' })),
  matrix('Gather', (g, a) => g.op('Gather', [a, g.ints([2, 0, -1, 2], [2, 2])], { axis: 1 })),
  matrix('GatherElements', (g, a) =>
    g.op('GatherElements', [a, g.ints([0, 1, 1, 0], [1, 1, 4])], { axis: 0 }),
  ),
  matrix('Tile', (g, a) => g.op('Tile', [a, g.ints([1, 2, 3])])),
  image('DepthToSpace', (g, a) => g.op('DepthToSpace', [a], { blocksize: 2 })),
  image('SpaceToDepth', (g, a) => g.op('SpaceToDepth', [a], { blocksize: 2 })),
  image('Resize to more', (g, a) =>
    g.op('Resize', [a, '', g.floats([4], [1, 1, 2, 3])], {
      mode: 'nearest',
      coordinate_transformation_mode: 'asymmetric',
      nearest_mode: 'floor',
    }),
  ),
  image('Resize to fewer', (g, a) =>
    g.op('Resize', [a, '', g.floats([4], [1, 1, 0.6, 0.5])], { mode: 'nearest' }),
  ),
  matrix('a tensor with several readers', (g, a) => {
    const shared = g.op('Tanh', [a]);
    return g.op('Add', [g.op('Mul', [shared, g.op('Sigmoid', [shared])]), g.op('Sub', [a, shared])]);
  }),
];

export const GRAPH_CASES: GraphCase[] = [
  ...activations,
  ...arithmetic,
  ...products,
  ...convolutions,
  ...windows,
  ...reductions,
  ...layouts,
];

const FORMS = {
  image: { x: [2, 3, 8, 6], w: [4, 3, 1, 1], op: 'Conv' },
  matrix: { x: [2, 3, 5], w: [5, 4], op: 'MatMul' },
} as const;

export interface CaseFile {
  file: Uint8Array;
  dims: number[];
  constants: GraphWriter['constants'];
}

/** The graph of a case, with other values of these constants. */
export function caseFile(
  one: GraphCase,
  dynamic: boolean,
  others: ReadonlyMap<string, Float32Array> = new Map(),
): CaseFile {
  const form = FORMS[one.form];
  const graph = new GraphWriter(others);
  let a = graph.op(form.op, ['x', graph.random(form.w, 77)]);
  if (one.shift !== undefined) a = graph.op('Add', [a, graph.floats([], [one.shift])]);
  graph.add('Identity', [one.build(graph, a)], ['y']);
  return {
    file: graph.file(one.opset ?? 17, form.x, dynamic),
    dims: [...form.x],
    constants: graph.constants,
  };
}
