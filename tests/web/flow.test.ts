// The page's actions against a fake bench: opening, planning, calibrating, ranking, cancelling, saving.
import { beforeEach, describe, expect, test } from 'vitest';
import {
  flipPreview,
  raise,
  raiseOpen,
  startRaising,
  take,
  takePreview,
  undo,
} from '../../web/src/actions/change.js';
import { useBench } from '../../web/src/actions/context.js';
import { startGraphing } from '../../web/src/actions/graph.js';
import { cancelJob } from '../../web/src/actions/job.js';
import { closeModel, openBundled, takeFiles } from '../../web/src/actions/open.js';
import { chooseOptions, resetOptions, staleSentence } from '../../web/src/actions/plan.js';
import { draft, previewOf, startPreviewing } from '../../web/src/actions/preview.js';
import { chooseSweep, rank, resumable } from '../../web/src/actions/rank.js';
import { calibrate } from '../../web/src/actions/run.js';
import { useRandomSamples } from '../../web/src/actions/samples.js';
import { quantize } from '../../web/src/actions/save.js';
import { searchTradeOff, takePoint, tradeOff } from '../../web/src/actions/trade_off.js';
import { polite } from '../../web/src/state/announce.js';
import { laidOut, losses } from '../../web/src/state/graph.js';
import * as store from '../../web/src/state/store.js';
import { kDefaultSweep } from '../../web/src/state/sweep.js';
import { type FakeBench, fakeBench, fakeScore } from './fake_bench.js';

globalThis.requestAnimationFrame = (callback) => {
  setImmediate(callback, 0);
  return 0;
};

const item = (path: string, content = 'onnx') => ({ path, file: new File([content], path) });

let bench: FakeBench;

function install(options: Parameters<typeof fakeBench>[0] = {}): void {
  bench = fakeBench({ layers: 6, ...options });
  useBench(bench);
}

beforeEach(async () => {
  install();
  await closeModel();
  await resetOptions();
  store.sweep.value = kDefaultSweep;
  store.problem.value = null;
  store.waitingForData.value = null;
});

describe('opening', () => {
  test('replaces the model after the new one was read, and closes the old one', async () => {
    await takeFiles([item('a.onnx')]);
    expect(store.session.value?.fileName).toBe('a.onnx');
    expect(store.states.value.plan).toBe('done');
    await takeFiles([item('b.onnx')]);
    expect(store.session.value?.fileName).toBe('b.onnx');
    expect(bench.closed).toEqual(['a.onnx']);
  });

  test('a failure leaves the previous model and says what to do', async () => {
    install({
      openFails: (name) =>
        name === 'bad.onnx' ? { code: 'truncated', message: 'It ends early', where: 'byte 9' } : null,
    });
    await takeFiles([item('a.onnx')]);
    await takeFiles([item('bad.onnx')]);
    expect(store.session.value?.fileName).toBe('a.onnx');
    expect(store.problem.value?.problem).toMatchObject({
      code: 'truncated',
      where: 'byte 9',
      message: 'It ends early.',
    });
    expect(store.idle.value).toBe(true);
    expect(bench.closed).toEqual([]);
  });

  test('a model waits for its external data, and opens when it comes', async () => {
    install({
      openFails: (_, data) =>
        data.includes('w.data')
          ? null
          : { code: 'external_data_missing', message: 'w.data is missing', where: 'w.data' },
    });
    await takeFiles([item('a.onnx'), item('x.npy')]);
    expect(store.session.value).toBeNull();
    expect(store.waitingForData.value?.model.name).toBe('a.onnx');
    await takeFiles([item('w.data')]);
    expect(store.session.value?.fileName).toBe('a.onnx');
    expect(store.waitingForData.value).toBeNull();
    expect(store.samples.value?.set.count).toBe(8);
  });

  test('a refused drop changes nothing else', async () => {
    await takeFiles([item('a.onnx')]);
    const { value: before } = store.session;
    await takeFiles([item('b.onnx'), item('c.onnx')]);
    expect(store.problem.value?.problem.message).toContain('2 models');
    expect(store.session.value).toBe(before);
  });
});

describe('the whole way', () => {
  test('a bundled sample runs to its complete ranking without further input', async () => {
    await openBundled(bench.bundled[0]!);
    expect(store.states.value).toMatchObject({ calibrate: 'done', sensitivity: 'done', save: 'ready' });
    const { rows, results } = store.ranking.value!.value;
    expect(rows.map((row) => row.score)).toEqual(Array.from({ length: 12 }, (_, index) => fakeScore(index)));
    expect(results?.ranking[0]?.score).toBe(Math.min(...rows.map((row) => row.score)));
    expect(await quantize()).toBe('done');
    const saved = store.saved.value!.value;
    expect(saved.score).toMatchObject({ simulated: 38.125, fused: 37.5 });
    // The fake float model says class 0 for even samples and 1 for odd ones, the deployed one always 1.
    const agree = saved.predictions!.rows.map((row) => row.float.index === row.quantized.index);
    expect(agree).toEqual([false, true, false, true, false, true, false, true]);
  });

  test('an option makes the plan again without reading the file, and what lies below stale', async () => {
    await openBundled(bench.bundled[0]!);
    const { revision } = store.session.value!;
    await chooseOptions({ weights: 'int16' });
    expect(store.session.value!.revision).toBe(revision);
    expect(bench.plans.at(-1)).toEqual({ target: 'onnxruntime', weights: 'int16' });
    expect(store.states.value).toMatchObject({ plan: 'done', calibrate: 'stale', sensitivity: 'stale' });
    expect(staleSentence()).toBe(' Stale now: calibration and sensitivity.');
    expect(await rank()).toBe('done'); // With the old encodings, still marked as made from the old plan.
    expect(store.states.value.sensitivity).toBe('stale');
    await resetOptions();
    expect(store.states.value).toMatchObject({ calibrate: 'done', sensitivity: 'done' });
  });

  test('random values are used only on request and stay marked', async () => {
    await takeFiles([item('a.onnx')]);
    expect(store.states.value.calibrate).toBe('nothing yet');
    await useRandomSamples(3, 7);
    expect(store.samples.value?.set).toMatchObject({ count: 3, random: true });
    expect(await calibrate()).toBe('done');
  });
});

describe('sweeps', () => {
  test('another metric leaves the old ranking, marked as stale; going back to one costs nothing', async () => {
    await openBundled(bench.bundled[0]!);
    const first = store.ranking.value;
    chooseSweep({ metric: 'mse' });
    expect(store.states.value.sensitivity).toBe('stale');
    expect(store.ranking.value).toBe(first);
    expect(await rank()).toBe('done');
    expect(bench.sweeps.map(({ metric }) => metric)).toEqual(['psnr', 'mse']);
    expect(store.ranking.value?.value.measure).toMatchObject({ metric: 'mse' });
    chooseSweep({ metric: 'psnr' });
    expect(store.ranking.value).toBe(first);
    expect(store.states.value.sensitivity).toBe('done');
    expect(bench.sweeps).toHaveLength(2);
  });
});

describe('raising precision', () => {
  const settled = async () => {
    while (!store.idle.value) await new Promise((resolve) => setImmediate(resolve));
  };

  test('is previewed, taken, and taken back in the order in which it was done', async () => {
    const stop = startRaising();
    try {
      await openBundled(bench.bundled[0]!);
      raise.value = { which: 'worst', count: 2, percent: 10, to: 'int16' };
      raiseOpen.value = true;
      await settled();
      const worst = store.ranking.value!.value.results!.ranking.map(({ name }) => name);
      expect(flipPreview.value).toMatchObject({
        state: 'made',
        flip: { flipped: worst.slice(0, 2), predicted: 42 },
      });
      const planned = store.plan.value!.value;
      takePreview();
      await settled();
      expect(store.plan.value!.value.sites.filter(({ format }) => format === 'int16')).toHaveLength(2);
      expect(store.states.value).toMatchObject({ calibrate: 'done', sensitivity: 'done', save: 'ready' });
      expect(await quantize()).toBe('done');
      expect(bench.scored.at(-1)).toBe(store.plan.value!.value);
      raise.value = { which: 'percent', count: 2, percent: 50, to: 'int16' };
      await settled();
      takePreview();
      expect(store.states.value.save).toBe('stale');
      expect(store.plan.value!.value.sites.filter(({ format }) => format === 'int16')).toHaveLength(6);
      undo();
      expect(store.states.value.save).toBe('done');
      undo();
      expect(store.plan.value!.value).toBe(planned);
      expect(store.states.value.save).toBe('stale');
      undo();
      expect(store.plan.value!.value).toBe(planned);
    } finally {
      raiseOpen.value = false;
      stop();
    }
  });

  test('belongs to the options that it was made with', async () => {
    await openBundled(bench.bundled[0]!);
    const { plan, encodings } = { plan: store.plan.value!.value, encodings: store.encodings.value!.value };
    const raised = { ...plan, sites: [] };
    take({ title: 'Raised', plan: raised, encodings, flipped: ['a'] });
    expect(store.plan.value!.value).toBe(raised);
    await chooseOptions({ weights: 'uint8' });
    expect(store.plan.value!.value).not.toBe(raised);
    expect(store.change.value).toBeNull();
    await resetOptions();
    expect(store.plan.value!.value).toBe(raised);
  });

  test('a measured model of the search takes the place of the plan', async () => {
    await openBundled(bench.bundled[0]!);
    expect(await searchTradeOff()).toBe('done');
    expect(tradeOff.value?.value).toMatchObject({ complete: true });
    expect(tradeOff.value?.value.points.map(({ score }) => score)).toEqual([40, 41, 42]);
    takePoint(2);
    expect(store.change.value?.flipped).toHaveLength(2);
  });

  test('a search that was stopped keeps the points it had', async () => {
    let points = 0;
    install({
      pause: async () => {
        if (store.job.value?.title.startsWith('Measuring') && ++points === 3) cancelJob();
      },
    });
    await openBundled(bench.bundled[0]!);
    expect(await searchTradeOff()).toBe('cancelled');
    expect(tradeOff.value?.value).toMatchObject({ complete: false });
    expect(tradeOff.value?.value.points).toHaveLength(2);
  });
});

describe('the graph', () => {
  const settled = async () => {
    while (!store.idle.value) await new Promise((resolve) => setImmediate(resolve));
  };

  test('is read when it is looked at, laid out, and marked by the scores', async () => {
    const stop = startGraphing();
    try {
      await openBundled(bench.bundled[0]!);
      expect(laidOut.value).toBeNull();
      store.step.value = 'sensitivity';
      store.picture.value = 'graph';
      await settled();
      expect(laidOut.value?.folded.boxes).toHaveLength(2 + 3 * 6);
      expect(laidOut.value?.layout.places).toHaveLength(20);
      // Places: the input, then Conv, Relu, Add of each layer.
      expect(losses.value[4]).toMatchObject({
        weight: { name: 'conv_1.weight', score: fakeScore(3) },
        activation: null,
      });
      expect(losses.value[6]?.activation).toMatchObject({ name: 'activation_2', score: fakeScore(4) });
      await takeFiles([item('b.onnx')]);
      await settled();
      expect(laidOut.value?.folded.boxes).toHaveLength(20);
      expect(losses.value[4]?.weight).toBeNull();
    } finally {
      stop();
      store.picture.value = 'ranking';
      store.step.value = 'model';
    }
  });
});

describe('target tensorrt', () => {
  test('makes another plan; choices that it alone knows leave the other target as it was', async () => {
    await openBundled(bench.bundled[0]!);
    await chooseOptions({ dla: true }); // Not for onnxruntime: the same plan.
    expect(store.states.value).toMatchObject({ calibrate: 'done', sensitivity: 'done' });
    await chooseOptions({ target: 'tensorrt' });
    expect(bench.plans.at(-1)).toEqual({ target: 'tensorrt', dla: true });
    expect(store.plan.value?.value.target).toBe('tensorrt');
    expect(store.states.value).toMatchObject({ plan: 'done', calibrate: 'stale', sensitivity: 'stale' });
    await chooseOptions({ matchModelOpt: true, precision: 'float8e4m3fn' });
    expect(bench.plans.at(-1)).toMatchObject({
      target: 'tensorrt',
      activations: 'float8e4m3fn',
      weights: 'float8e4m3fn',
      match: 'modelopt',
    });
    expect(bench.plans.at(-1)).not.toHaveProperty('dla');
    await chooseOptions({ target: 'onnxruntime' });
    expect(store.states.value).toMatchObject({ calibrate: 'done', sensitivity: 'done' });
  });
});

describe('direct inputs and outputs', () => {
  test('are written and scored as planned, and not asked for predictions', async () => {
    await openBundled(bench.bundled[0]!);
    await chooseOptions({ target: 'tensorrt', directIo: true });
    expect(await calibrate()).toBe('done');
    expect(await quantize()).toBe('done');
    expect(store.plan.value?.value.options.direct_io).toBe(true);
    expect(bench.scored.map((plan) => plan.options.direct_io)).toEqual([true]);
    expect(store.saved.value?.value).toMatchObject({ takesCodes: true, predictions: null });
    expect(store.saved.value?.value.score?.simulated).toBe(38.125);
  });
});

describe('shapes from samples', () => {
  test('are asked of the first real sample, for tensorrt only, and once for a set', async () => {
    await takeFiles([item('a.onnx')]);
    await chooseOptions({ target: 'tensorrt' });
    await useRandomSamples(2, 1);
    expect(bench.shapesFrom).toEqual([]);
    await takeFiles([item('x.npy')]);
    expect(bench.shapesFrom).toEqual(['sample_0.npy']);
    expect(bench.plans.at(-1)).toEqual({ target: 'tensorrt' });
    expect(store.states.value.plan).toBe('done');
    await chooseOptions({ dla: true });
    expect(bench.plans.at(-1)).toEqual({
      target: 'tensorrt',
      dla: true,
      sampleShapes: [['activation_1', [1, 8]]],
    });
    await chooseOptions({ target: 'onnxruntime' });
    expect(bench.plans.at(-1)).toEqual({ target: 'onnxruntime' });
    expect(bench.shapesFrom).toHaveLength(2);
  });

  test('that cannot be had leave the plan as the graph alone makes it', async () => {
    await takeFiles([item('a.onnx')]);
    await chooseOptions({ target: 'tensorrt' });
    await takeFiles([item('unfit.npy')]);
    expect(bench.shapesFrom).toEqual(['unfit_0.npy']);
    expect(store.problem.value).toBeNull();
    expect(store.states.value).toMatchObject({ plan: 'done', calibrate: 'ready' });
  });
});

describe('patterns', () => {
  const settled = async () => {
    while (!store.idle.value) await new Promise((resolve) => setImmediate(resolve));
  };
  const nodesOf = (pattern: string) => {
    const preview = previewOf(pattern);
    return preview?.state === 'read' ? preview.match.nodes : preview;
  };

  test('are previewed while typed and while they are there; what was typed over is not asked', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    install({ pause: () => held });
    const stop = startPreviewing();
    try {
      await takeFiles([item('a.onnx')]);
      for (const typed of ['o', 'op', 'op:', 'op:Con', 'op:Conv']) draft.value = typed;
      release();
      await settled();
      expect(bench.previews).toEqual(['o', 'op:Conv']);
      expect(nodesOf('op:Conv')).toHaveLength(6);
      expect(polite.value).toMatch(/^6.nodes: Conv_0, Conv_1, Conv_2, Conv_3 and 2 more$/);
      expect(previewOf('op')).toBeNull();
      draft.value = '';
      await chooseOptions({ exclude: ['Conv_3', 'op:Conv'] });
      await settled();
      expect(bench.previews).toEqual(['o', 'op:Conv', 'Conv_3']);
      expect(nodesOf('Conv_3')).toEqual(['Conv_3']);
      expect(bench.plans.at(-1)).toEqual({ target: 'onnxruntime', exclude: ['Conv_3', 'op:Conv'] });
      await takeFiles([item('b.onnx')]);
      await settled();
      expect(bench.previews.slice(3)).toEqual(['Conv_3', 'op:Conv']);
    } finally {
      stop();
      draft.value = '';
    }
  });

  test('that cannot be read say why, and nothing else fails', async () => {
    const stop = startPreviewing();
    try {
      await takeFiles([item('a.onnx')]);
      draft.value = 're:(';
      await settled();
      expect(previewOf('re:(')).toMatchObject({ state: 'failed' });
      expect(previewOf('re:(')).toHaveProperty(
        'message',
        expect.stringMatching(/^The pattern "re:\(" ends early\. ./),
      );
      expect(store.problem.value).toBeNull();
      expect(store.states.value.plan).toBe('done');
    } finally {
      stop();
      draft.value = '';
    }
  });
});

describe('cancel', () => {
  test('keeps the rows that are complete, and a new run works at once', async () => {
    let rows = 0;
    const pause = async () => {
      if (store.job.value?.step === 'sensitivity' && ++rows === 5) cancelJob();
    };
    install({ pause });
    await openBundled(bench.bundled[0]!);
    expect(store.job.value).toBeNull();
    expect(store.ranking.value?.value).toMatchObject({ complete: false, total: 12 });
    expect(store.ranking.value?.value.rows).toHaveLength(4);
    expect(store.states.value.sensitivity).toBe('ready');
    expect(store.problem.value).toBeNull();
    while (!store.idle.value) await new Promise((resolve) => setImmediate(resolve));
    expect(resumable()?.rows).toHaveLength(4);
    expect(await rank()).toBe('done');
    expect(bench.sweeps.map(({ resumed }) => resumed)).toEqual([0, 4]);
    expect(store.ranking.value?.value.rows.map(({ score }) => score)).toEqual(
      Array.from({ length: 12 }, (_, index) => fakeScore(index)),
    );
    expect(store.states.value.sensitivity).toBe('done');
  });

  test('progress never falls', async () => {
    const seen: number[] = [];
    const stop = store.job.subscribe((job) => {
      if (job?.title === 'Ranking') seen.push(job.done / job.total);
    });
    await openBundled(bench.bundled[0]!);
    stop();
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(1);
  });
});
