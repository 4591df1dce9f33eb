// Sample files made in memory, byte by byte, so that tests don't depend on the readers' own ideas of the formats.
import type { NamedSource } from '../../bindings/js/src/samples/index.js';

/** A .npy file; `descr` as NumPy writes it, `bytes` the elements as they are stored. */
export function npyFile(
  descr: string,
  dims: number[],
  bytes: Uint8Array,
  options: { version?: number; fortran?: boolean } = {},
): Uint8Array {
  const { version = 1, fortran = false } = options;
  const shape = dims.length === 1 ? `(${dims[0]},)` : `(${dims.join(', ')})`;
  const dict = `{'descr': '${descr}', 'fortran_order': ${fortran ? 'True' : 'False'}, 'shape': ${shape}, }`;
  const prefix = version === 1 ? 10 : 12;
  const header = new TextEncoder().encode(
    `${dict.padEnd(64 * Math.ceil((prefix + dict.length + 1) / 64) - prefix - 1)}\n`,
  );
  const out = new Uint8Array(prefix + header.length + bytes.length);
  out.set([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, version, 0]);
  const view = new DataView(out.buffer);
  if (version === 1) view.setUint16(8, header.length, true);
  else view.setUint32(8, header.length, true);
  out.set(header, prefix);
  out.set(bytes, prefix + header.length);
  return out;
}

export function float32Npy(dims: number[], values: number[]): Uint8Array {
  return npyFile('<f4', dims, bytesOf(Float32Array.from(values)));
}

export function bytesOf(view: ArrayBufferView): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

export function varint(value: number | bigint): number[] {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  do {
    bytes.push(Number(rest & 127n) | (rest > 127n ? 128 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return bytes;
}

export function lengthField(field: number, bytes: Iterable<number>): number[] {
  const content = [...bytes];
  return [...varint(field * 8 + 2), ...varint(content.length), ...content];
}

/** A TensorProto with raw_data; `dims` packed as protobuf's own writers do. */
export function tensorProto(dataType: number, dims: number[], raw: Uint8Array, name = ''): Uint8Array {
  return Uint8Array.from([
    ...lengthField(1, dims.flatMap(varint)),
    ...varint(2 * 8),
    ...varint(dataType),
    ...(name === '' ? [] : lengthField(8, new TextEncoder().encode(name))),
    ...lengthField(9, raw),
  ]);
}

export function named(name: string, source: Uint8Array): NamedSource {
  return { name, source };
}
