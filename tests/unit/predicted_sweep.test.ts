// Sweeps for the worst few that are predicted, on chains of layers written here: which directions effects need, samples of several
// shapes, and operators without a rule.
import { describe, expect, it } from 'vitest';
import { areQuiet, directionsOf } from '../../bindings/js/src/client/sweep/directions.js';
import type { SampleSet, SensitivityOptions } from '../../bindings/js/src/index.js';
import { GraphWriter, randomValues } from './first_order_graphs.js';
import { engine } from './test_engine.js';

const WIDTH = 6;
const LAYERS = 24;
const TOP = 3;

/** x -> 24 of MatMul and Tanh, one of them `op` -> MatMul by columns w and `sign` w, nearly -> y. */
function chain(sign: number, op = 'Tanh'): Blob {
  const graph = new GraphWriter(new Map());
  let at = 'x';
  for (let i = 0; i < LAYERS; i++) {
    const weight = randomValues(WIDTH * WIDTH, 7 * i + 1).map((value) => 0.9 * value);
    at = graph.op('MatMul', [at, graph.floats([WIDTH, WIDTH], weight)]);
    at = graph.op(i === LAYERS - 3 ? op : 'Tanh', [graph.op('Add', [at, graph.floats([1], [0.1])])]);
  }
  const last = [...randomValues(WIDTH, 99)].flatMap((value) => [value, sign * value * 1.001]);
  graph.add('MatMul', [at, graph.floats([WIDTH, 2], last)], ['y']);
  return new Blob([graph.file(17, [1, WIDTH], true) as Uint8Array<ArrayBuffer>]);
}

function samplesOf(rows: readonly number[]): SampleSet {
  return {
    count: rows.length,
    warnings: [],
    random: false,
    name: (index) => `sample ${index}`,
    load: async (index) => {
      const dims = [rows[index]!, WIDTH];
      return { x: { type: 'float32', dims, data: randomValues(dims[0]! * WIDTH, 5 + index) } };
    },
  };
}

/** The worst few, and how many runs it took to find them. */
async function ranked(file: Blob, samples: SampleSet, options: SensitivityOptions) {
  const model = await engine.open(file);
  try {
    const plan = await model.plan();
    const encodings = await model.calibrate(plan, samples);
    const run = model.sensitivity(plan, encodings, samples, options);
    const { ranking } = await run.results();
    return {
      rows: ranking.slice(0, TOP).map(({ name, score }) => [name, score]),
      runs: run.costs().runs,
    };
  } finally {
    await model.close();
  }
}

describe('the worst few of a chain', () => {
  it.each([
    ['that go against each other', -1],
    ['that go together, as logits do not', 1],
  ])('are those of the whole ranking, with outputs %s', async (_what, sign) => {
    const samples = samplesOf([1, 1, 1, 1, 1, 1]);
    const all = await ranked(chain(sign), samples, {});
    const few = await ranked(chain(sign), samples, { top: TOP });
    expect(few.rows).toEqual(all.rows);
    expect(few.runs).toBeLessThan(all.runs / 3);
  });

  it.each([
    ['samples of several shapes', [1, 2, 1, 2], 'Tanh'],
    ['a step that changes do not pass', [1, 1, 1, 1], 'Ceil'],
    ['an operator without a rule', [1, 1, 1, 1], 'Asinh'],
  ])('are those of the whole ranking, with %s', async (_what, rows, op) => {
    const samples = samplesOf(rows);
    const all = await ranked(chain(-1, op), samples, {});
    const few = await ranked(chain(-1, op), samples, { top: TOP });
    expect(few.rows).toEqual(all.rows);
  });
});

describe('directions', () => {
  it.each([1, 2, 3, 4])('of %i values are at right angles and of length one', (count) => {
    const { always, atNeed } = directionsOf(count);
    const all = [...always, ...atNeed];
    expect(all.length).toBe(count);
    for (const [i, one] of all.entries())
      for (const [j, other] of all.entries())
        expect(one.reduce((sum, value, at) => sum + value * other[at]!, 0)).toBeCloseTo(Number(i === j), 6);
  });

  it('of logits leave out what adds to all alike, and only that', () => {
    for (const count of [2, 3, 4]) {
      const { always, atNeed } = directionsOf(count);
      expect(new Set(atNeed[0]).size).toBe(1);
      expect(atNeed.length).toBe(1);
      for (const one of always) expect(one.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 6);
    }
    expect(directionsOf(1)).toEqual({ always: [Float32Array.of(1)], atNeed: [] });
  });

  it('are quiet up to a hundredth of the squares', () => {
    const loud = [Float32Array.of(3, 4), Float32Array.of(0, Math.sqrt(74))];
    expect(areQuiet(loud, [Float32Array.of(1, 0)])).toBe(true);
    expect(areQuiet(loud, [Float32Array.of(0.8, 0.8)])).toBe(false);
    expect(areQuiet(loud, [])).toBe(true);
    expect(areQuiet([Float32Array.of(0)], [Float32Array.of(0)])).toBe(true);
    expect(areQuiet([Float32Array.of(0)], [Float32Array.of(1e-9)])).toBe(false);
  });
});
