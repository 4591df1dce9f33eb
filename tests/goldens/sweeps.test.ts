// Sweeps of the small graphs and of the largest real model: scores are those of the slow way, and the same bytes come out of one,
// two and three workers.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createEngine,
  type Engine,
  jsonFile,
  type Model,
  type Plan,
  type SampleSet,
  type SensitivityOptions,
  type Site,
} from '../../bindings/js/src/index.js';
import { bruteForce, only, singles, startRuntime } from '../unit/brute_force.js';
import { ALL_MODELS, bytesOf, REAL_MODELS, withModel } from './golden_data.js';

const TOLERANCE_DB = 0.01;
const SMALL = ALL_MODELS.filter((model) => !REAL_MODELS.includes(model));
const engines = new Map<number, Engine>();

beforeAll(() => {
  startRuntime();
  for (const workers of [1, 2, 3]) engines.set(workers, createEngine({ workers }));
});

afterAll(() => {
  for (const engine of engines.values()) engine.close();
});

async function run(model: Model, plan: Plan, samples: SampleSet, options: SensitivityOptions = {}) {
  const encodings = await model.calibrate(plan, samples);
  return { encodings, results: await model.sensitivity(plan, encodings, samples, options).results() };
}

interface Compared {
  largest: number;
  rows: number;
}

async function againstBruteForce(
  model: Model,
  file: Uint8Array,
  plan: Plan,
  samples: SampleSet,
  options: SensitivityOptions,
  plans: (groups: Map<string, string[]>) => Map<string, Plan>,
): Promise<Compared> {
  const groups = new Map<string, string[]>();
  const { encodings, results } = await run(model, plan, samples, {
    ...options,
    onRow: ({ name, sites }) => groups.set(name, sites),
  });
  const { scored } = results.halftone;
  const wanted = plans(groups);
  const reference = await bruteForce(model, file, wanted, encodings, samples, scored);
  const rows = results.ranking.filter(({ name }) => reference.has(name));
  expect(rows).toHaveLength(wanted.size);
  let largest = 0;
  for (const [i, { name, score }] of rows.entries()) {
    largest = Math.max(largest, Math.abs(score! - reference.get(name)!));
    expect(Math.abs(score! - reference.get(name)!), name).toBeLessThanOrEqual(TOLERANCE_DB);
    const before = rows[i - 1];
    if (before !== undefined)
      expect(reference.get(name)! + TOLERANCE_DB).toBeGreaterThanOrEqual(reference.get(before.name)!);
  }
  return { largest, rows: rows.length };
}

/** All but these, and but the biases at their scales, which are float then. */
function besides(all: Site[], sites: readonly string[]): Set<string> {
  const left = all.filter(({ tensor, bias_of: operands }) => {
    const read = operands === undefined ? [tensor] : [tensor, operands.activation, operands.weight];
    return !read.some((name) => sites.includes(name));
  });
  return new Set(left.map((site) => site.tensor));
}

describe('the small graphs', () => {
  it('each quantizer alone, and all but one node, score as the slow way says', async () => {
    const alone: Compared = { largest: 0, rows: 0 };
    const without: Compared = { largest: 0, rows: 0 };
    let graphs = 0;
    const add = (sum: Compared, more: Compared) => {
      sum.largest = Math.max(sum.largest, more.largest);
      sum.rows += more.rows;
    };
    for (const golden of SMALL) {
      await withModel(engines.get(2)!, golden, async (model, samples) => {
        const plan = await model.plan();
        if (singles(plan).size === 0) return;
        const file = bytesOf(golden);
        add(alone, await againstBruteForce(model, file, plan, samples, {}, () => singles(plan)));
        const all = plan.sites.filter((site) => site.quantized);
        const others = (groups: Map<string, string[]>) =>
          new Map([...groups].map(([key, sites]) => [key, only(plan, besides(all, sites))]));
        const disabling = { by: 'layer', sweep: 'disable' } as const;
        add(without, await againstBruteForce(model, file, plan, samples, disabling, others));
        graphs++;
      });
    }
    console.log(
      `${graphs} graphs: ${alone.rows} quantizers alone, largest difference ${alone.largest.toExponential(2)} dB; ` +
        `${without.rows} nodes left out, ${without.largest.toExponential(2)} dB`,
    );
    expect(graphs).toBeGreaterThanOrEqual(20);
  }, 600_000);
});

describe('ocr_rec', () => {
  const golden = REAL_MODELS.find(({ name }) => name === 'ocr_rec')!;

  it('scores as the slow way says, on every ninth quantizer, behind cuts', async () => {
    await withModel(engines.get(2)!, golden, async (model, samples) => {
      const plan = await model.plan();
      const some = new Map([...singles(plan)].filter((_, index) => index % 9 === 0));
      const { largest, rows } = await againstBruteForce(
        model,
        bytesOf(golden),
        plan,
        samples,
        {},
        () => some,
      );
      console.log(`ocr_rec: ${rows} rows compared, largest difference ${largest.toExponential(2)} dB`);
      expect(rows).toBeGreaterThan(10);
    });
  }, 600_000);
});

describe('the number of workers', () => {
  it.each(['ocr_cls', 'wake_embedding'])(
    'changes no byte of the results of %s, by any way of sweeping',
    async (name) => {
      const golden = REAL_MODELS.find((model) => model.name === name)!;
      const ways: SensitivityOptions[] = [
        {},
        { by: 'layer', sweep: 'disable' },
        { by: 'op_name', metric: 'sqnr' },
        { top: 3, confidence: 0.9 },
      ];
      const texts: string[][] = [];
      for (const engine of engines.values()) {
        await withModel(engine, golden, async (model, samples) => {
          const plan = await model.plan();
          const encodings = await model.calibrate(plan, samples);
          const made: string[] = [];
          for (const options of ways)
            made.push(jsonFile(await model.sensitivity(plan, encodings, samples, options).results()));
          texts.push(made);
        });
      }
      expect(texts[1]).toEqual(texts[0]);
      expect(texts[2]).toEqual(texts[0]);
    },
    600_000,
  );
});
