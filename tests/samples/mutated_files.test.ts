// Files of every format with random damage: each is read or refused in a sentence. The seed is printed; HALFTONE_SEED repeats it.
import { readFileSync } from 'node:fs';
import { zipSync } from 'fflate';
import jpeg from 'jpeg-js';
import { describe, expect, it } from 'vitest';
import { readSamples } from '../../bindings/js/src/samples/index.js';
import { xoshiro128 } from '../../bindings/js/src/samples/random.js';
import type { ValueInfo } from '../../bindings/js/src/types.js';
import { bytesOf, float32Npy, named, tensorProto } from './make_files.js';

const SEED = Number(process.env.HALFTONE_SEED ?? Date.now() % 2 ** 32);
const ROUNDS = 150;

const IMAGE: ValueInfo = { name: 'x', type: 'float32', shape: [1, 3, 16, 16] };
const VECTOR: ValueInfo = { name: 'x', type: 'float32', shape: ['N', 4] };
const ARRAY = float32Npy(
  [3, 4],
  Array.from({ length: 12 }, (_, i) => i),
);

const FILES: [string, Uint8Array, ValueInfo][] = [
  ['a.npy', ARRAY, VECTOR],
  ['a.npz', zipSync({ 'x.npy': ARRAY }), VECTOR],
  ['stored.npz', zipSync({ 'x.npy': ARRAY }, { level: 0 }), VECTOR],
  ['a.pb', tensorProto(1, [3, 4], bytesOf(Float32Array.from({ length: 12 }, (_, i) => i)), 'x'), VECTOR],
  ['a.json', new TextEncoder().encode('[{"x": [[1, 2, 3, 4]]}, {"x": [[5, 6, 7, 8.5e3]]}]'), VECTOR],
  ['a.png', new Uint8Array(readFileSync('web/samples/text_direction/line_2.png')), IMAGE],
  [
    'a.jpg',
    new Uint8Array(jpeg.encode({ width: 24, height: 24, data: Buffer.alloc(24 * 24 * 4, 77) }, 75).data),
    IMAGE,
  ],
];

/** Changes a few bytes, cuts a piece out, or writes a piece over another. */
function damaged(file: Uint8Array, next: () => number): Uint8Array {
  const out = file.slice();
  const at = next() % file.length;
  const length = 1 + (next() % 16);
  switch (next() % 3) {
    case 0:
      for (let i = 0; i < 1 + (next() % 4); ++i) out[next() % file.length] = next() & 255;
      return out;
    case 1:
      return Uint8Array.from([...out.slice(0, at), ...out.slice(at + length)]);
    default:
      out.copyWithin(next() % file.length, at, at + length);
      return out;
  }
}

describe(`damaged sample files, seed ${SEED}`, () => {
  it.each(FILES)('%s', async (name, file, input) => {
    const next = xoshiro128(SEED);
    let refused = 0;
    for (let round = 0; round < ROUNDS; ++round) {
      try {
        const set = await readSamples([named(name, damaged(file, next))], [input]);
        for (let i = 0; i < Math.min(set.count, 8); ++i) await set.load(i);
      } catch (error) {
        expect(error, `seed ${SEED}, round ${round}`).toMatchObject({
          code: 'invalid_sample',
          where: name,
        });
        expect((error as Error).message).toMatch(/^[^\n]+\.$/);
        ++refused;
      }
    }
    expect(refused, `seed ${SEED}`).toBeGreaterThan(0);
  });
});
