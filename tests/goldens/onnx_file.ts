// Reads what these tests need of an ONNX file, on its own: nodes, constants, inputs, and tensors' bytes. What the core says
// about a model is then compared with something that isn't the core.

export interface OnnxTensor {
  dims: number[];
  type: number;
  bytes: Uint8Array;
}

export interface OnnxNode {
  name: string;
  op: string;
  inputs: string[];
  outputs: string[];
  ints: Map<string, number>;
  floats: Map<string, number>;
  tensors: Map<string, OnnxTensor>;
}

export interface OnnxFile {
  nodes: OnnxNode[];
  /** Initializers and the values of Constant nodes. */
  constants: Map<string, OnnxTensor>;
  /** Graph inputs that no initializer backs, with their element type. */
  inputs: Map<string, number>;
}

export const FLOAT = 1;

interface Field {
  number: number;
  /** Varint, or the four bytes of a fixed32 as an integer; 0 for a length-delimited field. */
  value: number;
  bytes: Uint8Array;
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

class Wire {
  private at = 0;
  constructor(private readonly bytes: Uint8Array) {}

  get ended(): boolean {
    return this.at >= this.bytes.length;
  }

  varint(): number {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new Error('the message ends inside a number');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, value));
    }
  }

  *fields(): Generator<Field> {
    while (!this.ended) {
      const tag = this.varint();
      const wireType = tag % 8;
      const number = Math.floor(tag / 8);
      if (wireType === 0) {
        yield { number, value: this.varint(), bytes: new Uint8Array() };
        continue;
      }
      const length = wireType === 2 ? this.varint() : wireType === 5 ? 4 : wireType === 1 ? 8 : Number.NaN;
      if (!(this.at + length <= this.bytes.length))
        throw new Error(`a field of wire type ${wireType} is off`);
      const bytes = this.bytes.subarray(this.at, this.at + length);
      this.at += length;
      yield { number, value: wireType === 5 ? view(bytes).getUint32(0, true) : 0, bytes };
    }
  }
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A repeated field of integers, packed or not. */
function integers({ value, bytes }: Field): number[] {
  if (bytes.length === 0) return [value];
  const wire = new Wire(bytes);
  const values: number[] = [];
  while (!wire.ended) values.push(wire.varint());
  return values;
}

function readTensor(bytes: Uint8Array): OnnxTensor & { name: string } {
  const tensor = { name: '', dims: [] as number[], type: 0, bytes: new Uint8Array() };
  for (const field of new Wire(bytes).fields()) {
    if (field.number === 1) tensor.dims.push(...integers(field));
    else if (field.number === 2) tensor.type = field.value;
    else if (field.number === 4 || field.number === 9) tensor.bytes = new Uint8Array(field.bytes);
    else if (field.number === 8) tensor.name = text(field.bytes);
  }
  return tensor;
}

function readAttribute(bytes: Uint8Array, node: OnnxNode): void {
  let name = '';
  for (const field of new Wire(bytes).fields()) {
    if (field.number === 1) name = text(field.bytes);
    else if (field.number === 2) node.floats.set(name, view(field.bytes).getFloat32(0, true));
    else if (field.number === 3) node.ints.set(name, field.value);
    else if (field.number === 5) node.tensors.set(name, readTensor(field.bytes));
  }
}

function readNode(bytes: Uint8Array): OnnxNode {
  const node: OnnxNode = {
    name: '',
    op: '',
    inputs: [],
    outputs: [],
    ints: new Map(),
    floats: new Map(),
    tensors: new Map(),
  };
  for (const field of new Wire(bytes).fields()) {
    if (field.number === 1) node.inputs.push(text(field.bytes));
    else if (field.number === 2) node.outputs.push(text(field.bytes));
    else if (field.number === 3) node.name = text(field.bytes);
    else if (field.number === 4) node.op = text(field.bytes);
    else if (field.number === 5) readAttribute(field.bytes, node);
  }
  return node;
}

/** Name and element type of a ValueInfoProto; 0 for what is no tensor. */
function readValueInfo(bytes: Uint8Array): [string, number] {
  let [name, type] = ['', 0];
  for (const field of new Wire(bytes).fields()) {
    if (field.number === 1) name = text(field.bytes);
    if (field.number !== 2) continue;
    for (const tensor of new Wire(field.bytes).fields()) {
      if (tensor.number !== 1) continue;
      for (const part of new Wire(tensor.bytes).fields()) if (part.number === 1) type = part.value;
    }
  }
  return [name, type];
}

export function readOnnx(model: Uint8Array): OnnxFile {
  const file: OnnxFile = { nodes: [], constants: new Map(), inputs: new Map() };
  for (const top of new Wire(model).fields()) {
    if (top.number !== 7) continue;
    for (const field of new Wire(top.bytes).fields()) {
      if (field.number === 1) file.nodes.push(readNode(field.bytes));
      else if (field.number === 11) file.inputs.set(...readValueInfo(field.bytes));
      else if (field.number === 5) {
        const { name, ...tensor } = readTensor(field.bytes);
        file.constants.set(name, tensor);
      }
    }
  }
  for (const node of file.nodes) {
    const value = node.op === 'Constant' ? node.tensors.get('value') : undefined;
    if (value !== undefined) file.constants.set(node.outputs[0]!, value);
  }
  for (const name of file.constants.keys()) file.inputs.delete(name);
  return file;
}

/** The values of a float32 constant. */
export function floatsOf(file: OnnxFile, name: string): Float32Array {
  const tensor = file.constants.get(name);
  if (tensor === undefined || tensor.type !== FLOAT) throw new Error(`${name} is no float32 constant`);
  const values = new Float32Array(tensor.bytes.slice().buffer);
  const count = tensor.dims.reduce((product, extent) => product * extent, 1);
  if (values.length !== count) throw new Error(`${name} has ${values.length} of ${count} values`);
  return values;
}

/** How a node is called where it has no name. */
export function labelOf(node: OnnxNode): string {
  return node.name === '' ? `@${node.outputs[0]}` : node.name;
}
