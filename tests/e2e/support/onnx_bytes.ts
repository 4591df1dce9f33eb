// Small ONNX files written by hand, for what no exporter writes: no nodes, data that is missing, old and new opsets.

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest & 127) | 128);
    rest = Math.floor(rest / 128);
  }
  return [...bytes, rest];
}

/** A field that holds a number. */
function number(field: number, value: number): number[] {
  return [...varint(field * 8), ...varint(value)];
}

/** A field that holds bytes, a text or another message. */
function part(field: number, content: string | readonly number[]): number[] {
  const bytes = typeof content === 'string' ? [...new TextEncoder().encode(content)] : content;
  return [...varint(field * 8 + 2), ...varint(bytes.length), ...bytes];
}

function valueInfo(name: string, dims: readonly number[]): number[] {
  const shape = dims.flatMap((dim) => part(1, number(1, dim)));
  const tensor = [...number(1, 1), ...part(2, shape)];
  return [...part(1, name), ...part(2, part(1, tensor))];
}

function model(graph: readonly number[] | null, opset: number): Uint8Array {
  const operators = part(8, [...part(1, ''), ...number(2, opset)]);
  return Uint8Array.from([...number(1, 8), ...(graph === null ? [] : part(7, graph)), ...operators]);
}

/** y = x without a node between: the graph's input is its output. */
export function modelWithoutNodes(): Uint8Array {
  return model(
    [...part(2, 'empty'), ...part(11, valueInfo('x', [1, 4])), ...part(12, valueInfo('x', [1, 4]))],
    13,
  );
}

export function modelWithoutGraph(): Uint8Array {
  return model(null, 13);
}

/** y = MatMul(x, w), its 4 x 4 weight named `weight` and kept in the file `location`. */
export function modelWithData({
  location = 'w.data',
  weight = 'w',
  opset = 13,
  op = 'MatMul',
} = {}): Uint8Array {
  const entry = (key: string, value: string): number[] => part(13, [...part(1, key), ...part(2, value)]);
  const tensor = [
    ...number(1, 4),
    ...number(1, 4),
    ...number(2, 1),
    ...part(8, weight),
    ...entry('location', location),
    ...entry('offset', '0'),
    ...entry('length', '64'),
    ...number(14, 1),
  ];
  const node = [...part(1, 'x'), ...part(1, weight), ...part(2, 'y'), ...part(3, 'node'), ...part(4, op)];
  const graph = [
    ...part(1, node),
    ...part(2, 'outside'),
    ...part(5, tensor),
    ...part(11, valueInfo('x', [1, 4])),
    ...part(12, valueInfo('y', [1, 4])),
  ];
  return model(graph, opset);
}

/** `layers` times MatMul by a 4 x 4 weight close to the identity: twice as many quantizers. */
export function chainModel(layers: number): Uint8Array {
  const nodes: number[][] = [];
  const weights: number[][] = [];
  for (let layer = 0; layer < layers; ++layer) {
    const input = layer === 0 ? 'x' : `t${layer - 1}`;
    const output = layer === layers - 1 ? 'y' : `t${layer}`;
    nodes.push(
      part(1, [...part(1, input), ...part(1, `w${layer}`), ...part(2, output), ...part(4, 'MatMul')]),
    );
    const values = Float32Array.from({ length: 16 }, (_, at) =>
      at % 5 === 0 ? 1 : 0.001 * ((at + layer) % 7),
    );
    const raw = [...new Uint8Array(values.buffer)];
    const tensor = [
      ...number(1, 4),
      ...number(1, 4),
      ...number(2, 1),
      ...part(8, `w${layer}`),
      ...part(9, raw),
    ];
    weights.push(part(5, tensor));
  }
  const ends = [...part(11, valueInfo('x', [1, 4])), ...part(12, valueInfo('y', [1, 4]))];
  return model([...nodes.flat(), ...part(2, 'chain'), ...weights.flat(), ...ends], 13);
}

/** The sixteen floats of that weight. */
export function weightBytes(): Uint8Array {
  return new Uint8Array(Float32Array.from({ length: 16 }, (_, index) => (index - 7) / 8).buffer);
}

/** An .npy file of float32 values. */
export function npy(shape: readonly number[], values: Float32Array): Uint8Array {
  const dict = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(', ')},), }`;
  const header = `${dict.padEnd(128 - 11)}\n`;
  const head = [0x93, ...new TextEncoder().encode('NUMPY'), 1, 0, header.length & 255, header.length >> 8];
  const bytes = new Uint8Array(head.length + header.length + values.byteLength);
  bytes.set(head);
  bytes.set(new TextEncoder().encode(header), head.length);
  bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), head.length + header.length);
  return bytes;
}
