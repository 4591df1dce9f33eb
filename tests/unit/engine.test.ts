// The whole way through the package on small graphs, in Node, with onnxruntime-web.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  compare,
  createEngine,
  type Encodings,
  type Engine,
  HalftoneError,
  type Model,
  openPaths,
  type Plan,
  type Progress,
  readSamples,
  type SampleSet,
  type SensitivityResults,
} from '../../bindings/js/src/index.js';
import { modelPath } from '../../web/samples/copy.mjs';
import bundled from '../../web/samples/samples.json' with { type: 'json' };
import { graphPath, graphSamples, openGraph } from './golden_models.js';

let engine: Engine;

beforeAll(() => {
  engine = createEngine({ workers: 2, testHooks: true });
});

afterAll(() => engine.close());

afterEach(async () => {
  expect(await engine.liveObjects()).toBe(0);
});

async function rejection(promise: Promise<unknown>): Promise<HalftoneError> {
  const error = await promise.then(
    () => null,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(HalftoneError);
  return error as HalftoneError;
}

async function withGraph(
  name: string,
  work: (graph: { model: Model; samples: SampleSet; plan: Plan; encodings: Encodings }) => Promise<void>,
  on: Engine = engine,
): Promise<void> {
  const { model, samples } = await openGraph(on, name);
  try {
    const plan = await model.plan();
    await work({ model, samples, plan, encodings: await model.calibrate(plan, samples) });
  } finally {
    await model.close();
  }
}

describe('opening', () => {
  it('gives the same summary from bytes, a Blob and a path, and leaves the bytes alone', async () => {
    const bytes = new Uint8Array(readFileSync(graphPath('g01_res_identity')));
    const sources = [bytes, new Blob([bytes]), { path: graphPath('g01_res_identity') }];
    const summaries = [];
    for (const source of sources) {
      const model = await engine.open(source, { name: 'a.onnx' });
      summaries.push(await model.inspect());
      expect(model.bytes).toBe(28598);
      await model.close();
    }
    expect(bytes.byteLength).toBe(28598);
    expect(summaries[1]).toEqual(summaries[0]);
    expect(summaries[2]).toEqual(summaries[0]);
    expect(summaries[0]!.model.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(summaries[0]!.operators).toEqual({ Conv: 3, Relu: 3, Add: 1 });
  });

  it.each<[string, Uint8Array | { path: string }, string]>([
    ['an empty file', new Uint8Array(0), 'not_onnx'],
    ['text', new TextEncoder().encode('hello there, this is not a model at all'), 'not_onnx'],
    ['a path that is not there', { path: '/nowhere/x.onnx' }, 'invalid_state'],
    ['a folder', { path: '/' }, 'invalid_state'],
  ])('refuses %s with one sentence and a next step', async (_what, source, code) => {
    const error = await rejection(engine.open(source));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(/^[^\n]+[.]$/);
    expect(error.next).not.toBe('');
  });

  it('refuses a file above the limit before reading it, with both numbers', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'halftone-large-'));
    const path = join(folder, 'large.onnx');
    closeSync(openSync(path, 'w'));
    truncateSync(path, 5 * 2 ** 30);
    const error = await rejection(engine.open({ path }));
    rmSync(folder, { recursive: true });
    expect(error.code).toBe('too_large');
    expect(error.message).toContain('5.37 GB');
    expect(error.message).toContain('4.03 GB');
  });

  it('a closed model says so, and closing twice is nothing', async () => {
    const model = await engine.open({ path: graphPath('g01_res_identity') });
    await model.close();
    await model.close();
    expect((await rejection(model.inspect())).code).toBe('invalid_state');
  });
});

describe('calibration', () => {
  it('gives every quantized site an encoding, in site order, whatever the number of workers and chunks', async () => {
    await withGraph('g23_concat_inception', async ({ model, plan, encodings, samples }) => {
      expect(Object.keys(encodings.encodings)).toEqual(
        plan.sites.filter((site) => site.quantized).map((site) => site.tensor),
      );
      expect(encodings.samples).toBe(4);
      const single = createEngine({ workers: 1 });
      const alone = await single.open({ path: graphPath('g23_concat_inception') });
      expect(await alone.calibrate(plan, await graphSamples('g23_concat_inception', alone))).toEqual(
        encodings,
      );
      await alone.close();
      await single.close();
      expect(samples.count).toBe(4);
      await expect(model.checkPlan(plan)).resolves.toBeUndefined();
    });
  });

  it('equals the range of what run() gives', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const site = plan.sites.find(
        (candidate) => candidate.role === 'activation' && candidate.quantized && candidate.tensor !== 'x',
      )!;
      let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (let i = 0; i < samples.count; i++) {
        const values = (await model.run(await samples.load(i), { outputs: [site.tensor] }))[site.tensor]!
          .data as Float32Array;
        low = Math.min(low, ...values);
        high = Math.max(high, ...values);
      }
      const { min, max } = encodings.encodings[site.tensor]!;
      expect(Math.fround(max[0]!)).toBe(high);
      expect(Math.fround(min[0]!)).toBe(low);
    });
  });

  it('refuses NaN by tensor and sample', async () => {
    const { model, samples } = await openGraph(engine, 'g01_res_identity');
    const poisoned: SampleSet = {
      ...samples,
      count: samples.count,
      random: false,
      warnings: [],
      name: (index) => `file ${index}`,
      load: async (index) => {
        const sample = await samples.load(index);
        if (index === 2) (sample.x!.data as Float32Array)[5] = Number.NaN;
        return sample;
      },
    };
    const error = await rejection(model.calibrate(model.plan(), poisoned));
    expect(error.code).toBe('non_finite');
    expect(error.where).toBe('x');
    expect(error.message).toContain('file 2');
    expect(error.message).toContain('element 5');
    await model.close();
  });

  it('refuses samples of another model', async () => {
    const { model } = await openGraph(engine, 'g01_res_identity');
    const wrong: SampleSet = {
      count: 1,
      random: false,
      warnings: [],
      name: () => 'wrong.npy',
      load: async () => ({ x: { type: 'float32', dims: [1, 2], data: new Float32Array(2) } }),
    };
    const error = await rejection(model.calibrate(model.plan(), wrong));
    expect(error.code).toBe('invalid_sample');
    expect(error.message).toContain('wrong.npy');
    await model.close();
  });

  it('reports progress by its laws, and can be cancelled; the model works on', async () => {
    const { model, samples } = await openGraph(engine, 'g01_res_identity');
    const seen: Progress[] = [];
    const abort = new AbortController();
    const many: SampleSet = {
      count: 400,
      random: false,
      warnings: [],
      name: String,
      load: (index) => samples.load(index % 4),
    };
    const run = model.calibrate(model.plan(), many, {
      signal: abort.signal,
      onProgress: (progress) => {
        seen.push(progress);
        if (progress.done > 0) abort.abort();
      },
    });
    expect((await rejection(run)).code).toBe('cancelled');
    expect(seen.at(-1)!.done).toBeLessThan(400);
    const again: Progress[] = [];
    await model.calibrate(model.plan(), samples, { onProgress: (progress) => again.push(progress) });
    expect(again.at(-1)).toEqual({ phase: 'calibrate', done: 4, total: 4, unit: 'runs' });
    await model.close();
  });
});

describe('law 7: one job per model at a time', () => {
  it('a second calibration is refused while the first runs, and works after it', async () => {
    const { model, samples } = await openGraph(engine, 'g01_res_identity');
    const plan = await model.plan();
    const first = model.calibrate(plan, samples);
    expect((await rejection(model.calibrate(plan, samples))).code).toBe('invalid_state');
    const none: Encodings = { halftone: '', model_sha256: '', method: 'minmax', samples: 0, encodings: {} };
    expect((await rejection(model.sensitivity(plan, none, samples).results())).code).toBe('invalid_state');
    expect((await rejection(model.score(plan, none, samples))).code).toBe('invalid_state');
    await first;
    await model.calibrate(plan, samples);
    await model.close();
  });
});

describe('sensitivity', () => {
  let results: SensitivityResults;

  it('gives a row for each weight and activation quantizer, worst first, streamed before the end', async () => {
    await withGraph('g23_concat_inception', async ({ model, plan, encodings, samples }) => {
      const run = model.sensitivity(plan, encodings, samples);
      const streamed = [];
      for await (const row of run) streamed.push(row);
      results = await run.results();
      const expected = plan.sites
        .filter((site) => site.quantized && site.role !== 'bias')
        .map((site) => site.tensor);
      expect(results.ranking.map((row) => row.name).sort()).toEqual([...expected].sort());
      expect(streamed).toHaveLength(expected.length);
      const scores = results.ranking.map((row) => row.score!);
      expect(scores).toEqual([...scores].sort((a, b) => a - b));
      expect(results.ranking.map((row) => row.rank)).toEqual(scores.map((_, i) => i + 1));
      for (const score of scores) {
        expect(score).toBeGreaterThan(10);
        expect(score).toBeLessThan(100);
      }
      expect(results.halftone.samples).toBe(4);
    });
  });

  it('does not depend on the number of workers, to the last bit', async () => {
    const single = createEngine({ workers: 1 });
    await withGraph(
      'g23_concat_inception',
      async ({ model, plan, encodings, samples }) => {
        expect(await model.sensitivity(plan, encodings, samples).results()).toEqual(results);
      },
      single,
    );
    expect(await single.liveObjects()).toBe(0);
    await single.close();
  });

  it('a cancel keeps what is done', async () => {
    await withGraph('g23_concat_inception', async ({ model, plan, encodings, samples }) => {
      const abort = new AbortController();
      const run = model.sensitivity(plan, encodings, samples, { signal: abort.signal });
      const rows: string[] = [];
      const error = await rejection(
        (async () => {
          for await (const row of run) {
            rows.push(row.name);
            abort.abort();
          }
        })(),
      );
      expect(error.code).toBe('cancelled');
      expect((await rejection(run.results())).code).toBe('cancelled');
      const partial = await run.partial();
      expect(partial.ranking.length).toBeGreaterThan(0);
      expect(partial.ranking.length).toBeLessThan(results.ranking.length);
      for (const row of partial.ranking) {
        expect(row.score).toBe(results.ranking.find((full) => full.name === row.name)!.score);
      }
    });
  });

  it.each([
    [{ method: undefined }, 'The encodings have no text in "method".'],
    [{ method: 7 }, 'The encodings have no text in "method".'],
    [{ samples: '<b>' }, 'The encodings have no count in "samples".'],
    [{ samples: 1e300 }, 'The encodings have no count in "samples".'],
    [{ samples: -4 }, 'The encodings have no count in "samples".'],
  ])('encodings from a file with %j are refused before anything runs', async (wrong, message) => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const edited = { ...encodings, ...wrong } as Encodings;
      for (const refused of [
        model.quantize(plan, edited),
        model.sensitivity(plan, edited, samples).results(),
      ]) {
        expect(await rejection(refused)).toMatchObject({ code: 'invalid_policy', message });
      }
    });
  });

  it('says in the result that samples are random', async () => {
    await withGraph('g29_gemm_transb1', async ({ model, plan, encodings, samples }) => {
      const random: SampleSet = {
        count: 2,
        random: true,
        warnings: [],
        name: String,
        load: (index) => samples.load(index),
      };
      const { halftone } = await model.sensitivity(plan, encodings, random).results();
      expect(halftone.warnings.map((warning) => warning.code)).toContain('random_data');
    });
  });
});

describe('scores at the limit', () => {
  it('are said, with the tensor that tells more: behind a Softmax that saturates nothing is left to see', async () => {
    const model = await engine.open({ path: modelPath(bundled.samples[0]!.model) });
    const { inputs } = (await model.inspect()).model;
    const samples = await readSamples(openPaths(['tests/golden/samples/ocr_cls']), inputs);
    const whole = await model.plan();
    const labels = whole.inputs.filter((input) => input.op === 'Conv').map((input) => input.node);
    const plan = await model.plan({ include: [...new Set(labels)].slice(0, 2) });
    const encodings = await model.calibrate(plan, samples);
    const { halftone, ranking } = await model
      .sensitivity(plan, encodings, samples, { score: 'output' })
      .results();
    expect(halftone.scored).toEqual(['softmax_0.tmp_0']);
    expect(ranking.map((row) => row.score)).toEqual(ranking.map(() => 100));
    expect(ranking.length).toBe(4);
    const told = halftone.warnings.find((warning) => warning.code === 'scores_clipped')!;
    expect(told.message).toContain('4 of 4');
    expect(told.message).toContain('p2o.Add.87');
    const better = await model.sensitivity(plan, encodings, samples).results();
    expect(better.halftone.scored).toEqual(['p2o.Add.87']);
    expect(better.halftone.warnings).toEqual([]);
    await model.close();
  });
});

describe('comparing', () => {
  it('a model with itself: no error at all', async () => {
    const { model, samples } = await openGraph(engine, 'g51_outputs_conv');
    const same = await compare(model, model, samples);
    expect(same.samples).toBe(4);
    expect(same.outputs.map((output) => output.name)).toEqual(
      (await model.inspect()).model.outputs.map((output) => output.name),
    );
    for (const output of same.outputs) {
      expect(output).toMatchObject({ psnr: 100, max_abs_error: 0, sqnr: null });
      expect(output.cosine).toBeCloseTo(1, 12);
    }
    await model.close();
  });

  it('with its quantized version, under exact options: what score() calls simulated', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const { model: blob } = await model.quantize(plan, encodings);
      const written = await engine.open(blob);
      const { outputs } = await compare(model, written, samples, { optimization: 'exact' });
      const { simulated } = await model.score(plan, encodings, samples);
      expect(outputs.map((output) => output.name)).toEqual(['y']);
      expect(outputs[0]!.psnr).toBeCloseTo(simulated, 6);
      expect(outputs[0]!.max_abs_error).toBeGreaterThan(0);
      expect(outputs[0]!.cosine).toBeGreaterThan(0.99);
      await written.close();
    });
  });

  it('refuses models of different engines and models without a common output', async () => {
    const { model, samples } = await openGraph(engine, 'g01_res_identity');
    const other = createEngine({ workers: 1 });
    const stranger = await other.open({ path: graphPath('g01_res_identity') });
    expect((await rejection(compare(model, stranger, samples))).code).toBe('invalid_state');
    await stranger.close();
    await other.close();
    const different = await engine.open({ path: graphPath('g51_outputs_conv') });
    expect((await rejection(compare(different, model, samples))).code).toMatch(/invalid_(graph|sample)/);
    await different.close();
    await model.close();
  });
});

describe('the runner "node"', () => {
  it('gives the same ranges but for the last bits, without optimization, and scores close by', async () => {
    const native = createEngine({ runner: 'node', workers: 2 });
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const open = await openGraph(native, 'g01_res_identity');
      const ranges = await open.model.calibrate(plan, open.samples, { optimization: 'disabled' });
      for (const [tensor, { scale, zero_point }] of Object.entries(ranges.encodings)) {
        expect(zero_point).toEqual(encodings.encodings[tensor]!.zero_point);
        for (const [i, value] of scale.entries()) {
          expect(value / encodings.encodings[tensor]!.scale[i]!).toBeCloseTo(1, 5);
        }
      }
      const { simulated } = await open.model.score(plan, encodings, open.samples);
      expect(simulated).toBeCloseTo((await model.score(plan, encodings, samples)).simulated, 0);
      await open.model.close();
    });
    expect(await native.liveObjects()).toBe(0);
    await native.close();
  });
});

describe('quantizing', () => {
  it('gives a model that opens, has the pairs, and scores as simulated', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const { model: blob, report } = await model.quantize(plan, encodings);
      expect(blob.size).toBe(report.bytes);
      expect(report.float_bytes).toBe(28598);
      expect(report.quantized_nodes).toEqual({ Conv: 3 });
      expect(report.sizes_by_type.int8).toBeGreaterThan(0);
      const written = await engine.open(blob, { name: 'q.onnx' });
      const summary = await written.inspect();
      expect(summary.quantized.pairs).toBe(report.sites.quantized);
      const refused = await rejection(written.plan());
      expect(refused.code).toBe('invalid_state');
      expect(refused.message).toContain(String(summary.quantized.pairs));
      const { simulated, fused, scored } = await model.score(plan, encodings, samples);
      expect(scored).toEqual(summary.model.outputs.map((output) => output.name));
      expect(simulated).toBeGreaterThan(20);
      expect(Math.abs(simulated - fused)).toBeLessThan(6);
      await written.close();
    });
  });

  it('is the same to the last byte when done twice, from another engine', async () => {
    const bytes: Uint8Array[] = [];
    for (const workers of [1, 2]) {
      const other = createEngine({ workers });
      await withGraph(
        'g55_constant_nodes',
        async ({ model, plan, encodings }) => {
          bytes.push(new Uint8Array(await (await model.quantize(plan, encodings)).model.arrayBuffer()));
        },
        other,
      );
      await other.close();
    }
    expect(Buffer.compare(bytes[0]!, bytes[1]!)).toBe(0);
  });

  it('with external data: Node finds the second file beside the first, and both forms compute the same', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const apart = await model.quantize(plan, encodings, { externalData: 'w.data' });
      const folder = mkdtempSync(join(tmpdir(), 'halftone-external-'));
      const path = join(folder, 'apart.onnx');
      writeFileSync(path, new Uint8Array(await apart.model.arrayBuffer()));
      writeFileSync(join(folder, 'w.data'), new Uint8Array(await apart.externalData!.arrayBuffer()));
      const outputs = [];
      for (const source of [{ path }, (await model.quantize(plan, encodings)).model]) {
        const opened = await engine.open(source);
        const { y } = await opened.run(await samples.load(1), { optimization: 'default' });
        outputs.push([...(y!.data as Float32Array)]);
        await opened.close();
      }
      rmSync(folder, { recursive: true });
      expect(outputs[0]).toEqual(outputs[1]);
      expect(outputs[0]!.some((value) => value !== 0)).toBe(true);
    });
  });

  it('with external data: the second file is found by its name', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings }) => {
      const whole = await model.quantize(plan, encodings, { externalData: 'w.data' });
      expect(whole.externalData!.size).toBeGreaterThan(0);
      const missing = await rejection(engine.open(whole.model));
      expect(missing.code).toBe('external_data_missing');
      expect(missing.where).toBe('w.data');
      const opened = await engine.open(whole.model, { externalData: { 'w.data': whole.externalData! } });
      expect((await opened.inspect()).quantized.pairs).toBe(whole.report.sites.quantized);
      await opened.close();
    });
  });
});

describe('statistics', () => {
  it('of a weight: range, histogram that sums to the count, noise of its encoding', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings }) => {
      const weight = plan.sites.find((site) => site.role === 'weight' && site.quantized)!.tensor;
      const found = await model.statistics(weight, null, {
        bins: 32,
        encoding: encodings.encodings[weight]!,
      });
      expect(found.histogram).toHaveLength(32);
      expect(found.histogram.reduce((sum, count) => sum + count, 0)).toBe(found.count);
      expect(found.clipped).toBe(0);
      expect(found.sqnr).toBeGreaterThan(30);
      expect(found.sqnr).toBeLessThan(60);
    });
  });

  it('of an activation and of a graph input, over all samples', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, samples, encodings }) => {
      const input = await model.statistics('x', samples, { bins: 10, encoding: encodings.encodings.x! });
      const perSample = (await samples.load(0)).x!.dims.reduce((a, b) => a * b, 1);
      expect(input.count).toBe(4 * perSample);
      expect(input.histogram.reduce((sum, count) => sum + count, 0)).toBe(input.count);
      expect(input.min).toBe(Math.fround(encodings.encodings.x!.min[0]!));
      const other = plan.sites.find(
        (site) => site.role === 'activation' && site.quantized && site.tensor !== 'x',
      )!.tensor;
      const inner = await model.statistics(other, samples);
      expect(inner.count).toBeGreaterThan(0);
      expect(inner.sqnr).toBeNull();
      expect((await rejection(model.statistics('no such tensor', samples))).code).toBe('invalid_policy');
    });
  });
});

describe('a worker that hangs', () => {
  it('in the pool: a cancelled job ends, and the next one runs on a new worker', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const many: SampleSet = {
        count: 400,
        random: false,
        warnings: [],
        name: String,
        load: (index) => samples.load(index % 4),
      };
      const abort = new AbortController();
      const run = model.calibrate(plan, many, {
        signal: abort.signal,
        onProgress: ({ done }) => {
          if (done === 0 || abort.signal.aborted) return;
          engine.hang('pool');
          abort.abort();
        },
      });
      expect((await rejection(run)).code).toBe('cancelled');
      expect(await model.calibrate(plan, samples)).toEqual(encodings);
    });
  });

  it('the one that holds models: it is ended, and the model is opened again by itself', async () => {
    const { model } = await openGraph(engine, 'g01_res_identity');
    const summary = await model.inspect();
    engine.hang('core');
    const abort = new AbortController();
    const opening = engine.open({ path: graphPath('g23_concat_inception') }, { signal: abort.signal });
    setImmediate(() => abort.abort());
    expect((await rejection(opening)).code).toBe('cancelled');
    expect((await model.plan()).model_sha256).toBe(summary.model.sha256);
    await model.close();
  });
});
