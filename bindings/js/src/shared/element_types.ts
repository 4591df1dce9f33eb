// Element types of tensors in JavaScript: their names are ONNX's ("float32", "double"), their arrays JavaScript's. float16 and
// bfloat16 travel as the 16-bit patterns they are.

export type ElementArray =
  | Float32Array
  | Float64Array
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | BigInt64Array
  | BigUint64Array;

interface ElementType {
  bytes: number;
  /** A view of the whole buffer, which is little endian as every machine that runs JavaScript engines today is. */
  view(buffer: ArrayBuffer): ElementArray;
}

const TYPES: Record<string, ElementType> = {
  float32: { bytes: 4, view: (buffer) => new Float32Array(buffer) },
  double: { bytes: 8, view: (buffer) => new Float64Array(buffer) },
  float16: { bytes: 2, view: (buffer) => new Uint16Array(buffer) },
  bfloat16: { bytes: 2, view: (buffer) => new Uint16Array(buffer) },
  int8: { bytes: 1, view: (buffer) => new Int8Array(buffer) },
  uint8: { bytes: 1, view: (buffer) => new Uint8Array(buffer) },
  bool: { bytes: 1, view: (buffer) => new Uint8Array(buffer) },
  int16: { bytes: 2, view: (buffer) => new Int16Array(buffer) },
  uint16: { bytes: 2, view: (buffer) => new Uint16Array(buffer) },
  int32: { bytes: 4, view: (buffer) => new Int32Array(buffer) },
  uint32: { bytes: 4, view: (buffer) => new Uint32Array(buffer) },
  int64: { bytes: 8, view: (buffer) => new BigInt64Array(buffer) },
  uint64: { bytes: 8, view: (buffer) => new BigUint64Array(buffer) },
};

/** Bytes of one element; 0 for types that samples can't have (strings, sub-byte types, types newer than this list). */
export function elementBytes(type: string): number {
  return Object.hasOwn(TYPES, type) ? (TYPES[type]?.bytes ?? 0) : 0;
}

/** Precondition: elementBytes(type) > 0. */
export function emptyElements(type: string, count: number): ElementArray {
  return elementView(type, new ArrayBuffer(count * elementBytes(type)));
}

/** A view of `buffer`, whose length must be a multiple of the element's size. Precondition: elementBytes(type) > 0. */
export function elementView(type: string, buffer: ArrayBuffer): ElementArray {
  const known = TYPES[type];
  if (known === undefined) throw new RangeError(`no element type ${type}`);
  return known.view(buffer);
}

/** Bytes of a file (little endian unless said otherwise) as elements; copies only to align or to swap. */
export function elementsFromBytes(type: string, bytes: Uint8Array, bigEndian = false): ElementArray {
  const width = elementBytes(type);
  const aligned = bytes.byteOffset === 0 && bytes.byteLength === bytes.buffer.byteLength;
  const own = aligned && bytes.buffer instanceof ArrayBuffer ? bytes : bytes.slice();
  if (bigEndian && width > 1) swapBytes(own, width);
  return elementView(type, own.buffer as ArrayBuffer);
}

function swapBytes(bytes: Uint8Array, width: number): void {
  for (let at = 0; at + width <= bytes.length; at += width) bytes.subarray(at, at + width).reverse();
}

/** Elements in a tensor of `dims` (1 for rank 0); NaN if that isn't a whole number that a double holds exactly. */
export function elementCount(dims: readonly number[]): number {
  let count = 1;
  for (const dim of dims) {
    if (!Number.isSafeInteger(dim) || dim < 0) return Number.NaN;
    count *= dim;
    if (!Number.isSafeInteger(count)) return Number.NaN;
  }
  return count;
}

/** The value of a float16 bit pattern; every one is exact in float32. */
export function float16Value(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const mantissa = bits & 1023;
  if (exponent === 31) return mantissa === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * mantissa * 2 ** -24;
  return sign * (1 + mantissa / 1024) * 2 ** (exponent - 15);
}
