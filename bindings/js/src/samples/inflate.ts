// Inflating with a bound: a hostile file must not become more bytes than it says it has.
import { Inflate, Unzlib } from 'fflate';

/** Deflate makes at most 1032 bytes of one, so a step of input can't fill memory before the bound is checked. */
const STEP_BYTES = 1 << 12;

/** Thrown by the functions below for data that isn't deflate data, or isn't of the size it should be. */
export class InflateError extends Error {}

/** Feeds `data` in steps until `sink` returns false. */
function run(inflater: Inflate | Unzlib, data: Uint8Array, sink: (chunk: Uint8Array) => boolean): void {
  let wanted = true;
  inflater.ondata = (chunk) => {
    if (wanted) wanted = sink(chunk);
  };
  try {
    for (let at = 0; at < data.length && wanted; at += STEP_BYTES) {
      const end = Math.min(at + STEP_BYTES, data.length);
      inflater.push(data.subarray(at, end), end === data.length);
    }
  } catch (cause) {
    throw new InflateError(cause instanceof Error ? cause.message : String(cause));
  }
}

/** Raw deflate data that must give exactly `size` bytes. */
export function inflateExactly(data: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  if (size > data.length * 1032 + 64) throw new InflateError('it can not hold as much as it says');
  const out = new Uint8Array(size);
  let filled = 0;
  run(new Inflate(), data, (chunk) => {
    if (chunk.length > size - filled) throw new InflateError('it holds more than it says');
    out.set(chunk, filled);
    filled += chunk.length;
    return true;
  });
  if (filled !== size) throw new InflateError('it holds less than it says');
  return out;
}

/** The first `size` bytes of what raw deflate data gives, or fewer if it gives fewer. */
export function inflatePrefix(data: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(size);
  let filled = 0;
  run(new Inflate(), data, (chunk) => {
    const part = chunk.subarray(0, size - filled);
    out.set(part, filled);
    filled += part.length;
    return filled < size;
  });
  return out.slice(0, filled);
}

/** The first `size` bytes of what zlib data gives, and how many it gives: counted up to `size` + 1, no more is kept. */
export function zlibUpTo(data: Uint8Array, size: number): { bytes: Uint8Array<ArrayBuffer>; length: number } {
  const most = Math.min(size, data.length * 1032 + 64);
  const bytes = new Uint8Array(most);
  let length = 0;
  run(new Unzlib(), data, (chunk) => {
    if (length < most) bytes.set(chunk.subarray(0, most - length), length);
    length = Math.min(length + chunk.length, size + 1);
    return length <= size;
  });
  return { bytes, length };
}
