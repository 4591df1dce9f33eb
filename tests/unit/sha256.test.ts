// The page's hash against Node's, for every length around a block, in parts of every size.
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Sha256 } from '../../bindings/js/src/worker/sha256.js';

const data = Uint8Array.from({ length: 5000 }, (_, i) => (i * 131 + (i >> 5)) & 255);
const wanted = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('all lengths up to three blocks', () => {
  for (let length = 0; length <= 200; ++length) {
    const hash = new Sha256();
    hash.update(data.subarray(0, length));
    expect(hash.hex(), `${length} bytes`).toBe(wanted(data.subarray(0, length)));
  }
});

test('parts of any size, also such as begin inside of their buffer', () => {
  for (const step of [1, 3, 55, 63, 64, 65, 128, 1000, 4999]) {
    const hash = new Sha256();
    for (let at = 7; at < data.length; at += step) hash.update(data.subarray(at, at + step));
    expect(hash.hex(), `parts of ${step}`).toBe(wanted(data.subarray(7)));
  }
});
