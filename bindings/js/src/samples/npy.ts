// NumPy's .npy files, format versions 1 to 3. Layout: "\x93NUMPY", version (2 bytes), header length (2 bytes in version 1, else
// 4, little endian), a Python dict as text, then the elements. Only the header is read to know an array; rows are read on
// request, except in Fortran order, where a row is spread over the whole file.
import {
  type ElementArray,
  elementBytes,
  elementCount,
  elementsFromBytes,
  elementView,
} from '../shared/element_types.js';
import { invalidSample } from './sample_error.js';
import type { ReadableFile } from './source.js';
import { rowLayout, type StoredArray } from './stored_array.js';

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
/** NumPy pads headers to 64 bytes; this is far more than any plain array needs. */
const MAX_HEADER_BYTES = 1 << 16;
const MAX_RANK = 64;

const TYPE_NAMES: Record<string, string> = {
  f2: 'float16',
  f4: 'float32',
  f8: 'double',
  i1: 'int8',
  i2: 'int16',
  i4: 'int32',
  i8: 'int64',
  u1: 'uint8',
  u2: 'uint16',
  u4: 'uint32',
  u8: 'uint64',
  b1: 'bool',
};

interface Header {
  type: string;
  bigEndian: boolean;
  fortran: boolean;
  dims: number[];
  dataStart: number;
}

/**
 * `name` is the file as the caller named it, `key` the array's name in an .npz or ''; `head` reads the same bytes where their
 * beginning alone can be had cheaper. Errors: invalid_sample.
 */
export async function openNpy(file: ReadableFile, name: string, key = '', head = file): Promise<StoredArray> {
  const header = await checkedHeader(file, name, key, head);
  const read = header.fortran && header.dims.length > 1 ? fortranRows(file, header) : plainRows(file, header);
  return { file: name, key, type: header.type, dims: header.dims, read };
}

export interface NpyData {
  type: string;
  dims: number[];
  /** Where the elements begin. */
  offset: number;
  bigEndian: boolean;
  /** Column by column; of one dimension that is no difference. */
  fortran: boolean;
}

/** What readers of the plain bytes need to know. Errors: invalid_sample. */
export async function npyData(file: ReadableFile, name: string): Promise<NpyData> {
  const { type, dims, dataStart, bigEndian, fortran } = await checkedHeader(file, name, '', file);
  return { type, dims, offset: dataStart, bigEndian, fortran };
}

/** What comes before the elements, little endian and row-major, in a file of format version 1. */
export function npyHeader(type: string, dims: readonly number[]): Uint8Array<ArrayBuffer> {
  const [code] = Object.entries(TYPE_NAMES).find(([, name]) => name === type) ?? [];
  if (code === undefined) throw new RangeError(`NumPy has no type ${type}`);
  const order = code.endsWith('1') ? '|' : '<';
  const shape = dims.length === 1 ? `(${dims[0]},)` : `(${dims.join(', ')})`;
  const text = `{'descr': '${order}${code}', 'fortran_order': False, 'shape': ${shape}, }`;
  const before = MAGIC.length + 4;
  const total = Math.ceil((before + text.length + 1) / 64) * 64;
  const bytes = new Uint8Array(total).fill(0x20);
  bytes.set([...MAGIC, 1, 0]);
  new DataView(bytes.buffer).setUint16(MAGIC.length + 2, total - before, true);
  bytes.set(new TextEncoder().encode(text), before);
  bytes[total - 1] = 0x0a;
  return bytes;
}

async function checkedHeader(
  file: ReadableFile,
  name: string,
  key: string,
  head: ReadableFile,
): Promise<Header> {
  const fail = (what: string): never => {
    const place = key === '' ? name : `${name}, key ${JSON.stringify(key)},`;
    throw invalidSample(`${place} ${what}.`, name, 'Save the array again with numpy.save or numpy.savez.');
  };
  const header = await readHeader(head, fail);
  const dataBytes = elementCount(header.dims) * elementBytes(header.type);
  if (!Number.isSafeInteger(dataBytes)) fail('has a shape too large for any file');
  const found = file.size - header.dataStart;
  if (found !== dataBytes) fail(`should hold ${dataBytes} bytes of elements but holds ${found}`);
  return header;
}

async function readHeader(file: ReadableFile, fail: (what: string) => never): Promise<Header> {
  const start = await file.slice(0, Math.min(12, file.size));
  if (!MAGIC.every((byte, i) => start[i] === byte)) fail('is not a .npy file');
  const major = start[6] ?? 0;
  if (major < 1 || major > 3) fail(`has the .npy format version ${major}; versions 1 to 3 can be read`);
  const lengthBytes = major === 1 ? 2 : 4;
  const textStart = 8 + lengthBytes;
  if (file.size < textStart) fail('ends inside its header');
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
  const length = major === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (length > MAX_HEADER_BYTES) fail(`has a header of ${length} bytes, which no plain array needs`);
  if (file.size < textStart + length) fail('ends inside its header');
  const bytes = await file.slice(textStart, textStart + length);
  const text = new TextDecoder(major === 3 ? 'utf-8' : 'latin1').decode(bytes);
  return { ...parseDict(text, fail), dataStart: textStart + length };
}

function parseDict(text: string, fail: (what: string) => never): Omit<Header, 'dataStart'> {
  const descr = /'descr'\s*:\s*'([^']*)'/.exec(text)?.[1];
  const order = /'fortran_order'\s*:\s*(True|False)/.exec(text)?.[1];
  const shape = /'shape'\s*:\s*\(([\d\s,L]*)\)/.exec(text)?.[1];
  if (descr === undefined && /'descr'\s*:\s*\[/.test(text)) fail('holds a structured array, not a tensor');
  if (descr === undefined || order === undefined || shape === undefined)
    return fail('has a header that is no array header');
  const type = TYPE_NAMES[descr.slice(1)];
  if (type === undefined || !/^[<>|=]/.test(descr))
    return fail(`holds elements of type ${JSON.stringify(descr)}, which no input has`);
  const dims = shape
    .split(',')
    .map((dim) => dim.trim().replace(/L$/, ''))
    .filter((dim) => dim !== '')
    .map(Number);
  if (dims.length > MAX_RANK || !dims.every(Number.isSafeInteger)) fail('has a shape that no tensor has');
  return { type, bigEndian: descr.startsWith('>'), fortran: order === 'True', dims };
}

function plainRows(file: ReadableFile, header: Header): StoredArray['read'] {
  const rowBytes = rowLayout(header.dims).rowElements * elementBytes(header.type);
  return async (first, count) => {
    const start = header.dataStart + first * rowBytes;
    const bytes = await file.slice(start, start + count * rowBytes);
    return elementsFromBytes(header.type, bytes, header.bigEndian);
  };
}

function fortranRows(file: ReadableFile, header: Header): StoredArray['read'] {
  const { rowElements } = rowLayout(header.dims);
  return async (first, count) => {
    const bytes = await file.slice(header.dataStart, file.size);
    const stored = elementsFromBytes(header.type, bytes, header.bigEndian);
    const width = elementBytes(header.type);
    const rows = elementView(header.type, new ArrayBuffer(count * rowElements * width));
    gatherFortran(stored, header.dims, first, count, rows);
    return rows;
  };
}

/** Walks the wanted rows in row-major order, keeping the position in the column-major source (its first index varies fastest). */
function gatherFortran(
  stored: ElementArray,
  dims: number[],
  first: number,
  count: number,
  out: ElementArray,
): void {
  const strides: number[] = [];
  let stride = 1;
  for (const dim of dims) {
    strides.push(stride);
    stride *= dim;
  }
  const index = dims.map(() => 0);
  const extents = [count, ...dims.slice(1)];
  let from = first;
  for (let to = 0; to < out.length; ++to) {
    out[to] = stored[from] as never;
    for (let axis = dims.length - 1; axis >= 0; --axis) {
      index[axis] = (index[axis] ?? 0) + 1;
      from += strides[axis] ?? 0;
      if ((index[axis] ?? 0) < (extents[axis] ?? 0)) break;
      from -= (strides[axis] ?? 0) * (extents[axis] ?? 0);
      index[axis] = 0;
    }
  }
}
