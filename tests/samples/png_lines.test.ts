// PNG pixels against another decoder: every kind of pixel, every filter, plain and interlaced, from a fixed seed.
import { decode, encode } from 'fast-png';
import { zlibSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { decodeImage, ImageError } from '../../bindings/js/src/samples/image_decode.js';
import { crc32, lineBytesOf } from '../../bindings/js/src/samples/png_lines.js';

const SEED = 20260;

function randomBytes(seed: number, length: number): Uint8Array {
  let state = seed >>> 0;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  });
}

interface Kind {
  width: number;
  height: number;
  depth: number;
  colorType: number;
  interlaced: boolean;
}

const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

function chunk(type: string, data: Uint8Array): Uint8Array {
  const out = new Uint8Array(12 + data.length);
  const view = new DataView(out.buffer);
  view.setUint32(0, data.length);
  out.set(new TextEncoder().encode(type), 4);
  out.set(data, 8);
  view.setUint32(8 + data.length, crc32(out.subarray(4, 8 + data.length)));
  return out;
}

/** Random pixels whose lines name the filters 0 to 4 in turn. */
function randomPng({ width, height, depth, colorType, interlaced }: Kind, seed: number): Uint8Array {
  const bitsPerPixel = depth * CHANNELS[colorType]!;
  const lines = randomBytes(seed, lineBytesOf({ width, height, bitsPerPixel, interlaced }));
  const passes = interlaced
    ? [
        [0, 0, 8, 8],
        [4, 0, 8, 8],
        [0, 4, 4, 8],
        [2, 0, 4, 4],
        [0, 2, 2, 4],
        [1, 0, 2, 2],
        [0, 1, 1, 2],
      ]
    : [[0, 0, 1, 1]];
  let at = 0;
  let line = seed;
  for (const [x, y, stepX, stepY] of passes as [number, number, number, number][]) {
    const columns = Math.ceil((width - x) / stepX);
    const rows = columns > 0 ? Math.max(0, Math.ceil((height - y) / stepY)) : 0;
    for (let row = 0; row < rows; ++row) {
      lines[at] = line++ % 5;
      at += 1 + Math.ceil((bitsPerPixel * columns) / 8);
    }
  }
  expect(at).toBe(lines.length);
  const header = new Uint8Array(13);
  new DataView(header.buffer).setUint32(0, width);
  new DataView(header.buffer).setUint32(4, height);
  header.set([depth, colorType, 0, 0, interlaced ? 1 : 0], 8);
  const parts = [
    Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10),
    chunk('IHDR', header),
    chunk('IDAT', zlibSync(lines)),
    chunk('IEND', new Uint8Array(0)),
  ];
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

describe(`png lines, seed ${SEED}`, () => {
  const kinds = [0, 2, 4, 6].flatMap((colorType) =>
    [8, 16].flatMap((depth) => [false, true].map((interlaced) => ({ colorType, depth, interlaced }))),
  );
  for (const kind of kinds) {
    it(`kind ${kind.colorType}, ${kind.depth} bits, ${kind.interlaced ? 'interlaced' : 'plain'}`, () => {
      for (const [at, [width, height]] of [
        [1, 1],
        [3, 2],
        [5, 9],
        [17, 12],
      ].entries() as ArrayIterator<[number, [number, number]]>) {
        const file = randomPng({ ...kind, width, height }, SEED + at);
        const expected = decode(file);
        const made = decodeImage(file);
        expect(made).toMatchObject({ width, height, channels: expected.channels, max: 2 ** kind.depth - 1 });
        expect([...made.data]).toEqual([...expected.data]);
      }
    });
  }

  it('an unknown filter and damage anywhere in a chunk are refused', () => {
    const kind = { width: 2, height: 2, depth: 8, colorType: 0, interlaced: false };
    const file = randomPng(kind, SEED);
    for (const at of [20, file.length - 14, file.length - 20]) {
      const damaged = file.slice();
      damaged[at]! ^= 64;
      expect(() => decodeImage(damaged), `byte ${at}`).toThrow(ImageError);
    }
    const header = file.slice(0, 33);
    const lines = zlibSync(Uint8Array.of(5, 1, 2, 0, 3, 4));
    const parts = [header, chunk('IDAT', lines), chunk('IEND', new Uint8Array(0))];
    expect(() => decodeImage(Uint8Array.from(parts.flatMap((part) => [...part])))).toThrow(
      'is a PNG with lines filtered in an unknown way',
    );
  });

  it('kinds of pixels that the specification lacks are refused', () => {
    for (const [colorType, depth] of [
      [2, 4],
      [3, 16],
      [6, 1],
      [1, 8],
    ] as const) {
      const file = encode({ width: 8, height: 1, channels: 1, depth: 8, data: new Uint8Array(8) });
      file.set([depth, colorType], 24);
      expect(() => decodeImage(file)).toThrow('unknown kind of pixels');
    }
  });
});
