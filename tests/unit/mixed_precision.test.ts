// Flips and the search over mixed precisions, on a small graph with residuals: five convolutions, x [1, 8, 16, 16] and more.
import { beforeAll, describe, expect, it } from 'vitest';
import type {
  Encodings,
  FlipOptions,
  Model,
  ParetoPoint,
  Plan,
  SampleSet,
  SensitivityResults,
} from '../../bindings/js/src/index.js';
import { createEngine, withFront } from '../../bindings/js/src/index.js';
import { rejection, withGraph } from './test_engine.js';

const GRAPH = 'g05_bottleneck_identity';
const INT16 = { weights: 'int16', activations: 'uint16' };

interface Bench {
  model: Model;
  samples: SampleSet;
  plan: Plan;
  encodings: Encodings;
}

let ranking: SensitivityResults;

beforeAll(async () => {
  await withGraph(GRAPH, async ({ model, samples, plan, encodings }) => {
    ranking = await model.sensitivity(plan, encodings, samples).results();
  });
});

async function withBench(work: (bench: Bench) => Promise<void>): Promise<void> {
  await withGraph(GRAPH, work);
}

function quantizers(plan: Plan): string[] {
  return plan.sites.filter((site) => site.quantized && site.role !== 'bias').map((site) => site.tensor);
}

describe('costs', () => {
  it('a float plan costs four bytes a value and 1024 bits a product', async () => {
    await withBench(async ({ model, samples, plan }) => {
      const float: Plan = {
        ...plan,
        sites: plan.sites.map((site) => ({ ...site, quantized: false })),
      };
      const before = await model.cost(plan);
      const after = await model.cost(float);
      expect(before.unknown).toEqual([]);
      expect(after.macs).toBe(before.macs);
      expect(before.bit_ops).toBe(before.macs * 8 * 8);
      expect(after.bit_ops).toBe(before.macs * 32 * 32);
      const { parameters } = await model.inspect();
      // The model's constants are its weights and biases.
      expect(after.weight_bytes).toBe(parameters.bytes);
      expect(await model.cost(plan, samples)).toEqual(before);
    });
  });
});

describe('flipping', () => {
  it('takes the worst rows, prices them, and leaves what it was given alone', async () => {
    await withBench(async ({ model, plan, encodings }) => {
      const untouched = structuredClone({ plan, encodings });
      const flip = await model.flip(plan, encodings, ranking, { worst: 3, to: INT16 });
      const worst = ranking.ranking.slice(0, 3).map(({ name }) => name);
      expect([...flip.flipped].sort()).toEqual([...worst].sort());
      for (const site of flip.plan.sites) {
        if (worst.includes(site.tensor))
          expect(site.format).toBe(site.role === 'weight' ? 'int16' : 'uint16');
        else expect(site).toEqual(plan.sites.find(({ tensor }) => tensor === site.tensor));
      }
      expect(flip.before).toEqual(await model.cost(plan));
      expect(flip.after).toEqual(await model.cost(flip.plan));
      expect(flip.after.bit_ops).toBeGreaterThan(flip.before.bit_ops);
      expect(flip.warnings.map(({ code }) => code)).toContain('no_fused_kernel');
      await model.checkPlan(flip.plan);
      // Undo is going back.
      expect({ plan, encodings }).toEqual(untouched);
    });
  });

  it('makes the encodings that a new calibration would', async () => {
    await withBench(async ({ model, samples, plan, encodings }) => {
      const flip = await model.flip(plan, encodings, ranking, { percent: 40, to: INT16 });
      expect(flip.flipped.length).toBe(Math.ceil(ranking.ranking.length * 0.4));
      const fresh = await model.calibrate(flip.plan, samples);
      expect(flip.encodings).toEqual(fresh);
    });
  });

  it('predicts what adding errors up gives: more flips, a better score, and near what is measured', async () => {
    await withBench(async ({ model, samples, plan, encodings }) => {
      const noise = ranking.ranking.map(({ score }) => 10 ** (-score! / 10));
      let last = Number.NEGATIVE_INFINITY;
      for (const worst of [0, 2, 5, ranking.ranking.length]) {
        const flip = await model.flip(plan, encodings, ranking, {
          worst,
          to: { weights: 'float32', activations: 'float32' },
        });
        const left = noise.slice(worst).reduce((sum, some) => sum + some, 0);
        const expected = worst === noise.length ? 100 : -10 * Math.log10(left);
        expect(flip.predicted).toBeCloseTo(expected, 6);
        expect(flip.predicted!).toBeGreaterThan(last);
        last = flip.predicted!;
        if (worst === 0) {
          const { simulated } = await model.score(plan, encodings, samples);
          expect(Math.abs(flip.predicted! - simulated)).toBeLessThan(2);
        }
      }
    });
  });

  it('measures better with every quantizer at 16 bits', async () => {
    await withBench(async ({ model, samples, plan, encodings }) => {
      const flip = await model.flip(plan, encodings, ranking, { percent: 100, to: INT16 });
      const before = await model.score(plan, encodings, samples);
      const after = await model.score(flip.plan, flip.encodings, samples);
      expect(after.simulated).toBeGreaterThan(before.simulated + 30);
      expect(flip.after.weight_bytes).toBeGreaterThan(flip.before.weight_bytes);
      expect(flip.after.bit_ops).toBe(4 * flip.before.bit_ops);
    });
  });

  it('refuses what makes no sense, by name', async () => {
    await withBench(async ({ model, plan, encodings }) => {
      const refused = async (options: FlipOptions, results = ranking) =>
        (await rejection(model.flip(plan, encodings, results, options))).message;
      expect(await refused({ to: INT16 })).toMatch(/which rows/);
      expect(await refused({ worst: 1, percent: 1, to: INT16 })).toMatch(/more than one choice/);
      expect(await refused({ percent: -1, to: INT16 })).toMatch(/negative|from 0/);
      expect(await refused({ names: ['gone'], to: INT16 })).toMatch(/"gone"/);
      expect(await refused({ worst: 1, to: {} })).toMatch(/No precision/);
      expect(await refused({ worst: 1, to: { weights: 'int5' } })).toMatch(/"int5"/);
      expect(await refused({ worst: 1, to: { activations: 'int4' } })).toMatch(/int4/);
      expect(await refused({ worst: '2' as unknown as number, to: INT16 })).toMatch(/number/);
      const { halftone } = ranking;
      const wrong = { ...ranking, halftone: { ...halftone, higher_is_worse: true } };
      expect(await refused({ worst: 1, to: INT16 }, wrong)).toMatch(/not so for psnr/);
      const other = { ...ranking, halftone: { ...halftone, model_sha256: '0'.repeat(64) } };
      expect(await refused({ worst: 1, to: INT16 }, other)).toMatch(/another model/);
      const renamed = {
        ...ranking,
        ranking: ranking.ranking.map((row) => ({ ...row, name: `${row.name}!` })),
      };
      expect(await refused({ worst: 1, to: INT16 }, renamed)).toMatch(/!"/);
    });
  });
});

describe('the search', () => {
  const options = { to: INT16, maxWeightBytes: 1.3, maxBitOps: 1.8 };

  it('finds points within the budget that are what they say', async () => {
    await withBench(async ({ model, samples, plan, encodings }) => {
      const seen: ParetoPoint[] = [];
      const points = await model.pareto(plan, encodings, ranking, samples, {
        ...options,
        onPoint: (point) => seen.push(point),
      });
      const start = points[0]!;
      expect(start.flipped).toEqual([]);
      expect(start.plan).toEqual(plan);
      expect(start.encodings).toEqual(encodings);
      expect(start.score).toBe((await model.score(plan, encodings, samples)).simulated);
      // Each alone is measured where it fits.
      const alone = points.filter((point) => point.flipped.length === 1);
      for (const tensor of quantizers(plan)) {
        const flip = await model.flip(plan, encodings, ranking, { names: [tensor], to: INT16 });
        const fits =
          flip.after.weight_bytes <= 1.3 * start.cost.weight_bytes &&
          flip.after.bit_ops <= 1.8 * start.cost.bit_ops;
        expect(alone.some((point) => point.flipped[0] === tensor)).toBe(fits);
      }
      for (const { cost } of points) {
        expect(cost.weight_bytes).toBeLessThanOrEqual(1.3 * start.cost.weight_bytes);
        expect(cost.bit_ops).toBeLessThanOrEqual(1.8 * start.cost.bit_ops);
      }
      // No set twice, and the front is what the definition says.
      expect(new Set(points.map(({ flipped }) => flipped.join())).size).toBe(points.length);
      expect(points.map(({ front }) => front)).toEqual(withFront(points).map(({ front }) => front));
      expect(seen.map(({ flipped }) => flipped)).toEqual(points.map(({ flipped }) => flipped));

      const best = points.reduce((a, b) => (b.score > a.score ? b : a));
      expect(best.front).toBe(true);
      expect(best.score).toBeGreaterThan(Math.max(start.score, ...alone.map(({ score }) => score)));
      await model.checkPlan(best.plan);
      expect(await model.cost(best.plan)).toEqual(best.cost);
      expect((await model.score(best.plan, best.encodings, samples)).simulated).toBe(best.score);
      const flip = await model.flip(plan, encodings, ranking, { names: best.flipped, to: INT16 });
      expect(best.plan).toEqual(flip.plan);
      expect(best.encodings).toEqual(flip.encodings);
    });
  });

  it('gives the same points whatever the number of workers', async () => {
    const figures: [string[], number][][] = [];
    for (const workers of [1, 3]) {
      const other = createEngine({ workers });
      try {
        await withGraph(
          GRAPH,
          async ({ model, samples, plan, encodings }) => {
            const points = await model.pareto(plan, encodings, ranking, samples, { ...options, most: 30 });
            figures.push(points.map(({ flipped, score }) => [flipped, score]));
          },
          other,
        );
        expect(await other.liveObjects()).toBe(0);
      } finally {
        await other.close();
      }
    }
    expect(figures[1]).toEqual(figures[0]);
    // The limit is looked at between batches.
    expect(figures[0]!.length).toBeGreaterThanOrEqual(30);
    expect(figures[0]!.length).toBeLessThan(45);
  });

  it('keeps what was measured when it is stopped', async () => {
    await withBench(async ({ model, samples, plan, encodings }) => {
      const stop = new AbortController();
      const kept: ParetoPoint[] = [];
      const search = model.pareto(plan, encodings, ranking, samples, {
        ...options,
        signal: stop.signal,
        onPoint: (point) => {
          kept.push(point);
          if (kept.length === 5) stop.abort();
        },
      });
      expect((await rejection(search)).code).toBe('cancelled');
      expect(kept.length).toBeGreaterThanOrEqual(5);
      expect(withFront(kept).some(({ front }) => front)).toBe(true);
      // Nothing is left busy.
      expect((await model.score(plan, encodings, samples)).simulated).toBe(kept[0]!.score);
    });
  });

  it('goes without a ranking, and says what it can not do', async () => {
    await withBench(async ({ model, samples, plan, encodings }) => {
      const points = await model.pareto(plan, encodings, null, samples, { ...options, most: 25 });
      expect(Math.max(...points.map(({ score }) => score))).toBeGreaterThan(points[0]!.score);
      const refused = async (changed: object) =>
        (await rejection(model.pareto(plan, encodings, null, samples, { ...options, ...changed }))).message;
      expect(await refused({ maxBitOps: 0.5 })).toMatch(/maxBitOps/);
      expect(await refused({ most: 0 })).toMatch(/most/);
      expect(await refused({ to: {} })).toMatch(/No precision/);
      expect(await refused({ to: { weights: 'int8' } })).toMatch(/No quantizer/);
      expect(await refused({ score: 'gone' })).toMatch(/gone/);
    });
  });
});
