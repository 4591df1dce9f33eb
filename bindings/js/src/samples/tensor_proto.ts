// One TensorProto in a file of its own (.pb), as ONNX's test_data_set folders hold. A small reader of protobuf's wire format:
// every length is checked against the bytes that are there, and unknown fields are skipped.
import {
  type ElementArray,
  elementBytes,
  elementCount,
  elementsFromBytes,
  elementView,
  emptyElements,
} from '../shared/element_types.js';
import { invalidSample } from './sample_error.js';
import { readWhole, type SampleFile } from './source.js';
import { rowLayout, type StoredArray } from './stored_array.js';

/** TensorProto.DataType, by number. */
const TYPE_NAMES = [
  'undefined',
  'float32',
  'uint8',
  'int8',
  'uint16',
  'int16',
  'int32',
  'int64',
  'string',
  'bool',
  'float16',
  'double',
  'uint32',
  'uint64',
  'complex64',
  'complex128',
  'bfloat16',
];

/** Which typed field carries a type when raw_data doesn't; narrow types travel in int32_data. */
const TYPED_FIELD: Record<string, keyof TypedFields> = {
  float32: 'floats',
  double: 'doubles',
  int64: 'int64s',
  uint64: 'uint64s',
  uint32: 'uint64s',
  int32: 'int32s',
  int16: 'int32s',
  uint16: 'int32s',
  int8: 'int32s',
  uint8: 'int32s',
  bool: 'int32s',
  float16: 'int32s',
  bfloat16: 'int32s',
};

interface TypedFields {
  floats: number[];
  doubles: number[];
  int32s: number[];
  int64s: bigint[];
  uint64s: bigint[];
}

interface TensorProto extends TypedFields {
  dims: number[];
  dataType: number;
  name: string;
  raw: Uint8Array | null;
  strings: boolean;
  external: boolean;
}

class WireError extends Error {}

/** A cursor over one message. */
class Wire {
  at = 0;
  readonly view: DataView;
  constructor(readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get done(): boolean {
    return this.at >= this.bytes.length;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.bytes[this.at++];
      if (byte === undefined) throw new WireError('it ends inside a number');
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
    throw new WireError('a number in it has no end');
  }

  /** Moves over `count` bytes and gives their start. */
  take(count: number): number {
    const start = this.at;
    if (count > this.bytes.length - start) throw new WireError('it ends inside a field');
    this.at = start + count;
    return start;
  }

  block(): Uint8Array {
    const length = this.varint();
    if (length > BigInt(this.bytes.length - this.at))
      throw new WireError('a length in it points outside the file');
    const start = this.take(Number(length));
    return this.bytes.subarray(start, this.at);
  }

  float(): number {
    return this.view.getFloat32(this.take(4), true);
  }

  double(): number {
    return this.view.getFloat64(this.take(8), true);
  }

  skip(wireType: number): void {
    if (wireType === 0) this.varint();
    else if (wireType === 1) this.take(8);
    else if (wireType === 2) this.block();
    else if (wireType === 5) this.take(4);
    else throw new WireError('it has a field of unknown kind');
  }
}

/** A repeated field comes packed (one block) or one value at a time. */
function repeated<T>(wire: Wire, wireType: number, into: T[], read: (from: Wire) => T): void {
  if (wireType !== 2) {
    into.push(read(wire));
    return;
  }
  const packed = new Wire(wire.block());
  while (!packed.done) into.push(read(packed));
}

const readDim = (from: Wire) => Number(BigInt.asIntN(64, from.varint()));
const readInt32 = (from: Wire) => Number(BigInt.asIntN(32, from.varint()));
const readInt64 = (from: Wire) => BigInt.asIntN(64, from.varint());

/** The field readers by field number and the wire types that may carry them. */
const FIELDS: Record<
  number,
  { wireTypes: number[]; read: (tensor: TensorProto, wire: Wire, wireType: number) => void }
> = {
  1: { wireTypes: [0, 2], read: (t, w, k) => repeated(w, k, t.dims, readDim) },
  2: {
    wireTypes: [0],
    read: (t, w) => {
      t.dataType = readInt32(w);
    },
  },
  4: { wireTypes: [5, 2], read: (t, w, k) => repeated(w, k, t.floats, (from) => from.float()) },
  5: { wireTypes: [0, 2], read: (t, w, k) => repeated(w, k, t.int32s, readInt32) },
  6: {
    wireTypes: [2],
    read: (t, w) => {
      w.block();
      t.strings = true;
    },
  },
  7: { wireTypes: [0, 2], read: (t, w, k) => repeated(w, k, t.int64s, readInt64) },
  8: {
    wireTypes: [2],
    read: (t, w) => {
      t.name = new TextDecoder().decode(w.block());
    },
  },
  9: {
    wireTypes: [2],
    read: (t, w) => {
      t.raw = w.block();
    },
  },
  10: { wireTypes: [1, 2], read: (t, w, k) => repeated(w, k, t.doubles, (from) => from.double()) },
  11: { wireTypes: [0, 2], read: (t, w, k) => repeated(w, k, t.uint64s, (from) => from.varint()) },
  13: {
    wireTypes: [2],
    read: (t, w) => {
      w.block();
      t.external = true;
    },
  },
};

function parseTensor(bytes: Uint8Array): TensorProto {
  const tensor: TensorProto = {
    dims: [],
    dataType: 0,
    name: '',
    raw: null,
    strings: false,
    external: false,
    floats: [],
    doubles: [],
    int32s: [],
    int64s: [],
    uint64s: [],
  };
  const wire = new Wire(bytes);
  while (!wire.done) {
    const tag = wire.varint();
    const field = Number(tag >> 3n);
    const wireType = Number(tag & 7n);
    if (field === 0) throw new WireError('it has a field without a number');
    const known = FIELDS[field];
    if (known?.wireTypes.includes(wireType)) known.read(tensor, wire, wireType);
    else wire.skip(wireType);
  }
  return tensor;
}

function tensorType(tensor: TensorProto): string {
  const type = TYPE_NAMES[tensor.dataType] ?? `type ${tensor.dataType}`;
  if (tensor.external) throw new WireError('its values are in another file');
  if (elementBytes(type) === 0) throw new WireError(`it holds values of ${type}, which samples can't have`);
  return type;
}

function tensorElements(tensor: TensorProto, type: string): ElementArray {
  const count = elementCount(tensor.dims);
  if (Number.isNaN(count)) throw new WireError('its dimensions are no dimensions');
  if (tensor.raw !== null) {
    const wanted = count * elementBytes(type);
    if (tensor.raw.length !== wanted)
      throw new WireError(`it should hold ${wanted} bytes of values but holds ${tensor.raw.length}`);
    return elementsFromBytes(type, tensor.raw);
  }
  const values = tensor[TYPED_FIELD[type] ?? 'floats'];
  if (values.length !== count)
    throw new WireError(`it should hold ${count} values but holds ${values.length}`);
  const out = emptyElements(type, count);
  const big = out instanceof BigInt64Array || out instanceof BigUint64Array;
  for (let i = 0; i < count; ++i) out[i] = (big ? values[i] : Number(values[i])) as never;
  return out;
}

/**
 * The tensor's type, dims and name are known when this returns; its values are read again on request, so that many files don't
 * stay in memory. Errors: invalid_sample.
 */
export async function openTensorProto(file: SampleFile): Promise<StoredArray> {
  const guarded = <T>(parse: () => T): T => {
    try {
      return parse();
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      throw invalidSample(
        `${file.name} is not a readable TensorProto: ${error.message}.`,
        file.name,
        'Write it with onnx.numpy_helper.from_array(...).SerializeToString().',
      );
    }
  };
  const parse = (bytes: Uint8Array) =>
    guarded(() => {
      if (bytes.length === 0) throw new WireError('it is empty');
      const tensor = parseTensor(bytes);
      const type = tensorType(tensor);
      return { tensor, type, elements: tensorElements(tensor, type) };
    });
  const { tensor, type } = parse(await readWhole(file));
  const { rowElements } = rowLayout(tensor.dims);
  const read = async (first: number, count: number) => {
    const { elements } = parse(await readWhole(file));
    const rows = elements.slice(first * rowElements, (first + count) * rowElements);
    return elementView(type, rows.buffer as ArrayBuffer);
  };
  return { file: file.name, key: tensor.name, type, dims: tensor.dims, read };
}
