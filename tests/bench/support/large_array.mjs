// An array of any size as a .npy file of float32 values, written in parts.
import { closeSync, openSync, writeSync } from 'node:fs';

const PART_VALUES = 1_000_000;

/** One dimension; the same values every time, dense around 0 as weights are. */
export function writeLargeArray(path, values) {
  const file = openSync(path, 'w');
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${values},), }`;
  writeSync(file, Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1'));
  writeSync(file, Buffer.from(`${text.padEnd(117)}\n`));
  let state = 0x9e3779b9;
  const part = new Float32Array(PART_VALUES);
  for (let done = 0; done < values; done += PART_VALUES) {
    for (let i = 0; i < PART_VALUES; ++i) {
      state = (Math.imul(state, 1664525) + 1013904223) | 0;
      part[i] = (state / 2 ** 31) ** 3;
    }
    writeSync(file, new Uint8Array(part.buffer, 0, Math.min(PART_VALUES, values - done) * 4));
  }
  closeSync(file);
}
