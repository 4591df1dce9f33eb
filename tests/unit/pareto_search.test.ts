// The search alone, over models whose errors add up, so that the best set can be found by trying all.
import { describe, expect, it } from 'vitest';
import { type SearchSpace, search } from '../../bindings/js/src/client/pareto/search.js';
import { withFront } from '../../bindings/js/src/shared/pareto_front.js';

interface Candidate {
  noise: number;
  bytes: number;
  ops: number;
}

const BASE = 1000;
const LIMITS = { weightBytes: 1150, bitOps: 1500 };
const FLOOR = 1e-7;

/** A generator of numbers in [0, 1) from a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function candidates(count: number, seed: number): Candidate[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => ({
    noise: 10 ** (-3 - 3 * random()),
    bytes: random() < 0.5 ? 0 : Math.round(120 * random()),
    ops: Math.round(250 * random()),
  }));
}

function costOf(set: readonly number[], all: Candidate[]) {
  const sum = (of: (candidate: Candidate) => number) => set.reduce((total, i) => total + of(all[i]!), 0);
  return {
    weight_bytes: BASE + sum(({ bytes }) => bytes),
    bit_ops: BASE + sum(({ ops }) => ops),
    macs: 1,
    unknown: [],
  };
}

function scoreOf(set: readonly number[], all: Candidate[]): number {
  const left = all.reduce((total, { noise }, i) => (set.includes(i) ? total : total + noise), FLOOR);
  return -10 * Math.log10(left);
}

function spaceOf(all: Candidate[], withNoise: boolean, most = 1000) {
  const measured = new Map<string, { set: readonly number[]; score: number }>();
  const space: SearchSpace = {
    count: all.length,
    limits: LIMITS,
    noise: withNoise ? all.map(({ noise }) => noise) : null,
    cost: async (set) => costOf(set, all),
    measure: async (sets) =>
      sets.map((set) => {
        expect([...set]).toEqual([...new Set(set)].sort((a, b) => a - b));
        const score = scoreOf(set, all);
        measured.set(set.join(), { set, score });
        return score;
      }),
    most,
    measured: () => measured.size,
  };
  return { space, measured };
}

function bestOfAll(all: Candidate[]): number {
  let best = Number.NEGATIVE_INFINITY;
  for (let bits = 0; bits < 2 ** all.length; bits++) {
    const set = all.map((_, i) => i).filter((i) => (bits >> i) & 1);
    const cost = costOf(set, all);
    if (cost.weight_bytes <= LIMITS.weightBytes && cost.bit_ops <= LIMITS.bitOps)
      best = Math.max(best, scoreOf(set, all));
  }
  return best;
}

describe('a search over errors that add up', () => {
  for (const withNoise of [true, false]) {
    it(`comes near the best there is, ${withNoise ? 'with' : 'without'} a ranking`, async () => {
      const gaps: number[] = [];
      for (let seed = 1; seed <= 30; seed++) {
        const all = candidates(12, seed);
        const { space, measured } = spaceOf(all, withNoise);
        await search(space);
        for (const { set } of measured.values()) {
          const cost = costOf(set, all);
          expect(cost.weight_bytes, `seed ${seed}`).toBeLessThanOrEqual(LIMITS.weightBytes);
          expect(cost.bit_ops, `seed ${seed}`).toBeLessThanOrEqual(LIMITS.bitOps);
        }
        const found = Math.max(...[...measured.values()].map(({ score }) => score));
        gaps.push(bestOfAll(all) - found);
      }
      // Greedy with exchanges is no exact method; dB.
      expect(Math.max(...gaps)).toBeLessThan(1.5);
      expect(gaps.reduce((a, b) => a + b) / gaps.length).toBeLessThan(0.2);
    });
  }

  it('measures the start alone if nothing fits', async () => {
    const all = candidates(4, 1).map((candidate) => ({ ...candidate, bytes: 500 }));
    const { space, measured } = spaceOf(all, true);
    await search(space);
    expect([...measured.keys()]).toEqual(['']);
  });

  it('stops near the number of measurements it was given, and tries the likeliest first', async () => {
    const all = candidates(100, 3);
    const { space, measured } = spaceOf(all, true, 30);
    await search(space);
    // It looks at the limit between batches, the largest of which are the seeds: three orders at five sizes, and one more.
    expect(measured.size).toBeLessThan(30 + 3 * 6);
    const alone = [...measured.values()].filter(({ set }) => set.length === 1);
    expect(alone.length).toBe(15);
  });

  it('gives up what a model of another kind makes useless', async () => {
    // Only the pair helps, and only together; each alone harms. A third candidate helps little.
    const score = (set: readonly number[]) =>
      set.includes(0) && set.includes(1)
        ? 60
        : 30 - (set.includes(0) || set.includes(1) ? 1 : 0) + (set.includes(2) ? 0.5 : 0);
    const measured: (readonly number[])[] = [];
    const space: SearchSpace = {
      count: 3,
      limits: LIMITS,
      noise: [1e-3, 1e-3, 1e-5],
      cost: async (set) => ({ weight_bytes: BASE, bit_ops: BASE + 100 * set.length, macs: 1, unknown: [] }),
      measure: async (sets) => {
        measured.push(...sets);
        return sets.map(score);
      },
      most: 1000,
      measured: () => measured.length,
    };
    await search(space);
    expect(Math.max(...measured.map(score))).toBe(60);
    // And without the one that adds nothing to the pair.
    expect(measured.map((set) => set.join())).toContain('0,1');
  });

  it('a score that is no number is the worst', async () => {
    const all = candidates(6, 5);
    const { space, measured } = spaceOf(all, true);
    const broken: SearchSpace = {
      ...space,
      measure: async (sets) =>
        (await space.measure(sets)).map((score, i) => (sets[i]!.includes(0) ? Number.NaN : score)),
    };
    await search(broken);
    const kept = [...measured.values()].filter(({ set }) => !set.includes(0));
    expect(Math.max(...kept.map(({ score }) => score))).toBeGreaterThan(scoreOf([], all));
  });
});

describe('the front', () => {
  const point = (score: number, weight_bytes: number, bit_ops: number) => ({
    score,
    cost: { weight_bytes, bit_ops, macs: 1, unknown: [] },
  });

  it('has what no other beats; equals stay together', () => {
    const points = [
      point(30, 100, 100),
      point(30, 100, 100),
      point(29, 100, 100),
      point(29, 90, 100),
      point(40, 200, 100),
      point(40, 200, 150),
      point(Number.NaN, 200, 200),
    ];
    expect(withFront(points).map(({ front }) => front)).toEqual([
      true,
      true,
      false,
      true,
      true,
      false,
      false,
    ]);
    expect(withFront([point(Number.NaN, 1, 1)])[0]!.front).toBe(true);
  });
});
