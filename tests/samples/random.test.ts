import { describe, expect, it } from 'vitest';
import { randomSamples } from '../../bindings/js/src/samples/index.js';
import { xoshiro128 } from '../../bindings/js/src/samples/random.js';
import type { ValueInfo } from '../../bindings/js/src/types.js';

const M = 2n ** 32n - 1n;
const rotate = (x: bigint, bits: bigint) => ((x << bits) | (x >> (32n - bits))) & M;

/** The same two generators in plain integer arithmetic. */
function reference(seed: number, count: number): number[] {
  let z0 = BigInt(seed);
  const state = Array.from({ length: 4 }, () => {
    z0 = (z0 + 0x9e3779b9n) & M;
    let z = ((z0 ^ (z0 >> 16n)) * 0x21f0aaadn) & M;
    z = ((z ^ (z >> 15n)) * 0x735a2d97n) & M;
    return z ^ (z >> 15n);
  });
  return Array.from({ length: count }, () => {
    const result = (rotate((state[1]! * 5n) & M, 7n) * 9n) & M;
    const shifted = (state[1]! << 9n) & M;
    state[2]! ^= state[0]!;
    state[3]! ^= state[1]!;
    state[1]! ^= state[2]!;
    state[0]! ^= state[3]!;
    state[2]! ^= shifted;
    state[3] = rotate(state[3]!, 11n);
    return Number(result);
  });
}

const INPUTS: ValueInfo[] = [
  { name: 'x', type: 'float32', shape: ['N', 3, 50] },
  { name: 'ids', type: 'int64', shape: [1, 64] },
  { name: 'mask', type: 'bool', shape: [64] },
];

describe('random samples', () => {
  it.each([0, 1, 0xffffffff])('words from seed %i are xoshiro128** seeded by splitmix32', (seed) => {
    const next = xoshiro128(seed);
    expect(Array.from({ length: 100 }, () => next())).toEqual(reference(seed, 100));
  });

  it('are the same for a seed, in any order, and differ by seed, sample and input', async () => {
    const [a, b, c] = [
      randomSamples(INPUTS, { count: 3, seed: 5 }),
      randomSamples(INPUTS, { count: 3, seed: 5 }),
      randomSamples(INPUTS, { count: 3, seed: 6 }),
    ];
    const late = await a.load(2);
    await a.load(0);
    expect(late).toEqual(await b.load(2));
    expect(late.x?.data).not.toEqual((await c.load(2)).x?.data);
    expect(late.x?.data).not.toEqual((await a.load(1)).x?.data);
  });

  it('are in range and of the right type', async () => {
    const { x, ids, mask } = await randomSamples(INPUTS, { count: 1 }).load(0);
    expect([x!.dims, ids?.dims]).toEqual([
      [1, 3, 50],
      [1, 64],
    ]);
    const floats = Array.from(x!.data as Float32Array);
    expect(floats.every((value) => value >= -1 && value < 1)).toBe(true);
    expect(Math.min(...floats)).toBeLessThan(-0.8);
    expect(Math.max(...floats)).toBeGreaterThan(0.8);
    expect(new Set(ids?.data as BigInt64Array)).toEqual(new Set([0n, 1n]));
    expect(new Set(mask?.data as Uint8Array)).toEqual(new Set([0, 1]));
  });

  it('say what they are', () => {
    const set = randomSamples(INPUTS, { count: 2, seed: 9 });
    expect([set.random, set.count]).toEqual([true, 2]);
    expect(set.warnings.map(({ message }) => message)).toEqual([
      'The 2 samples are random numbers (seed 9), so ranges and scores say nothing about real data.',
      'Dynamic dimensions of input "x" were set to 1: [1,3,50].',
    ]);
  });

  it.each([
    [
      { name: 's', type: 'string', shape: [1] },
      `Random data can't be made for input "s": its type is string.`,
    ],
    [
      { name: 'q', type: 'float32', shape: null },
      `Random data can't be made for input "q": its rank is not known.`,
    ],
    [
      { name: 'h', type: 'float32', shape: [2 ** 30, 4] },
      `Random data can't be made for input "h": its shape [1073741824,4] is too large.`,
    ],
  ])('refuse what numbers can not fill', (input, message) => {
    expect(() => randomSamples([input], { count: 1 })).toThrow(message);
  });
});
