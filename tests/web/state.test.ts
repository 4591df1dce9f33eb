// Address, steps, problems and drops: the page's decisions, without a page.
import { describe, expect, test } from 'vitest';
import { knownFormat } from '../../web/src/actions/known_formats.js';
import { sortDrop } from '../../web/src/actions/sort_drop.js';
import { kDefaultAddress, readAddress, writeAddress } from '../../web/src/state/address.js';
import { flagsOf, kDefaultOptions, planOptions } from '../../web/src/state/options.js';
import { problemDetails, problemFrom } from '../../web/src/state/problem.js';
import { topClass } from '../../web/src/state/saved.js';
import { type Inputs, stepStates } from '../../web/src/state/steps.js';

describe('address', () => {
  test('says nothing at the defaults and reads back what it wrote', () => {
    expect(writeAddress(kDefaultAddress)).toBe('');
    const address = {
      ...kDefaultAddress,
      step: 'sensitivity' as const,
      presentation: 'table' as const,
      order: 'graph' as const,
      listing: 'inputs' as const,
      tensor: 'a&b=#c d/é<img>',
      options: {
        target: 'tensorrt' as const,
        activations: 'int16' as const,
        weights: 'uint8' as const,
        perChannel: false,
        precision: 'float8e4m3fn' as const,
        matchModelOpt: true,
        matchAimet: true,
        config: null,
        dla: true,
        floatWeights: true,
        directIo: true,
        concatGroups: false,
        rawExcluded: true,
        include: ['glob:a*', 're:[&=#]+'],
        exclude: ['op:Softmax'],
      },
      picture: 'graph' as const,
      sweep: {
        by: 'pattern' as const,
        pattern: '(layer\\d+)&=#',
        metric: 'kl' as const,
        sweep: 'disable' as const,
        only: 'weights' as const,
        top: 10,
      },
    };
    expect(readAddress(`#${writeAddress(address)}`)).toEqual({ address, ignored: [] });
  });

  test('leaves out what it does not understand and names the keys', () => {
    const { address, ignored } = readAddress('#step=launch&view=table&weights=float8&model=x.onnx&tensor=');
    expect(ignored).toEqual(['step', 'weights', 'model', 'tensor']);
    expect(address).toEqual({ ...kDefaultAddress, presentation: 'table' });
  });

  test('patterns are read once each, and neither empty nor without end', () => {
    const long = 'x'.repeat(1025);
    const { address, ignored } = readAddress(`#exclude=a&exclude=a&exclude=&include=${long}&include=b`);
    expect(ignored).toEqual(['exclude', 'exclude', 'include']);
    expect(address.options).toEqual({ ...kDefaultOptions, exclude: ['a'], include: ['b'] });
    expect(kDefaultOptions.exclude).toEqual([]);
    const many = Array.from({ length: 130 }, (_, index) => `include=p${index}`).join('&');
    expect(readAddress(`#${many}`).address.options.include).toHaveLength(100);
    expect(readAddress('#target=qnn&precision=int16&constructor=true&by=all&top=-1').ignored).toEqual([
      'target',
      'precision',
      'constructor',
      'by',
      'top',
    ]);
  });
});

describe('options', () => {
  test('only chosen ones reach the plan', () => {
    expect(planOptions(kDefaultOptions)).toEqual({ target: 'onnxruntime' });
    expect(planOptions({ ...kDefaultOptions, activations: 'int8', perChannel: false })).toEqual({
      target: 'onnxruntime',
      activations: 'int8',
      perChannel: false,
    });
    expect(planOptions({ ...kDefaultOptions, target: 'tensorrt', concatGroups: false, dla: true })).toEqual({
      target: 'tensorrt',
      concatGroups: false,
      dla: true,
    });
  });

  test('those of the other target are kept, but neither offered nor sent', () => {
    const chosen = { ...kDefaultOptions, activations: 'int16', weights: 'int4', dla: true } as const;
    expect(flagsOf(chosen)).toEqual(['perChannel']);
    expect(planOptions({ ...chosen, directIo: true, exclude: ['a'] })).toEqual({
      target: 'onnxruntime',
      activations: 'int16',
      weights: 'int4',
      exclude: ['a'],
    });
    expect(planOptions({ ...chosen, target: 'tensorrt' })).toEqual({ target: 'tensorrt', dla: true });
  });

  test('a configuration is sent to the target that reads it, and is never part of the address', () => {
    const config = { name: 'default_config.json', value: { defaults: { ops: {} } } };
    const aimet = { ...kDefaultOptions, target: 'aimet', config, matchAimet: true, dla: true } as const;
    expect(flagsOf(aimet)).toEqual(['perChannel', 'matchAimet']);
    expect(planOptions(aimet)).toEqual({ target: 'aimet', match: 'aimet', config: config.value });
    expect(planOptions({ ...aimet, target: 'onnxruntime' })).toEqual({ target: 'onnxruntime' });
    expect(writeAddress({ ...kDefaultAddress, options: aimet })).toBe('target=aimet&aimet=true&dla=true');
  });

  test('what contradicts another choice is neither offered nor sent', () => {
    const tensorrt = { ...kDefaultOptions, target: 'tensorrt' } as const;
    const float8 = { ...tensorrt, precision: 'float8e4m3fn', dla: true } as const;
    expect(flagsOf(float8)).not.toContain('dla');
    expect(planOptions(float8)).toEqual({
      target: 'tensorrt',
      activations: 'float8e4m3fn',
      weights: 'float8e4m3fn',
    });
    const peer = { ...tensorrt, matchModelOpt: true, perChannel: false, rawExcluded: true };
    expect(flagsOf(peer)).toEqual(['matchModelOpt', 'dla', 'floatWeights', 'directIo', 'concatGroups']);
    expect(planOptions(peer)).toEqual({ target: 'tensorrt', match: 'modelopt' });
  });
});

describe('steps', () => {
  const nothing: Inputs = {
    running: null,
    hasModel: false,
    hasSamples: false,
    planKey: 'p',
    plan: null,
    encodingsKey: 'e',
    encodings: null,
    rankingKey: 'r',
    workKey: 'w',
    ranking: null,
    rankingComplete: false,
    saved: null,
    formatsKey: 'f',
    compared: null,
  };
  const made = (key: string) => ({ value: null, key });

  test('follow from what there is', () => {
    expect(Object.values(stepStates(nothing))).toEqual(Array(6).fill('nothing yet'));
    expect(stepStates({ ...nothing, hasModel: true })).toMatchObject({
      model: 'done',
      plan: 'ready',
      formats: 'ready',
    });
    const planned = { ...nothing, hasModel: true, hasSamples: true, plan: made('p') };
    expect(stepStates(planned)).toMatchObject({
      plan: 'done',
      calibrate: 'ready',
      sensitivity: 'nothing yet',
    });
    const ranked = { ...planned, encodings: made('e'), ranking: made('r'), rankingComplete: true };
    expect(stepStates(ranked)).toMatchObject({ calibrate: 'done', sensitivity: 'done', save: 'ready' });
    expect(stepStates({ ...ranked, rankingComplete: false }).sensitivity).toBe('ready');
    expect(stepStates({ ...ranked, running: 'save' }).save).toBe('running');
  });

  test('become stale below a change, and fresh again when it is taken back', () => {
    const all = {
      ...nothing,
      hasModel: true,
      hasSamples: true,
      plan: made('q'),
      planKey: 'q',
      encodingsKey: 'q',
      encodings: made('e'),
      rankingKey: 'q r',
      ranking: made('e r'),
      rankingComplete: true,
      workKey: 'q w',
      saved: made('e w'),
      compared: made('old f'),
    };
    expect(Object.values(stepStates(all))).toEqual([...['done', 'done', 'stale', 'stale', 'stale', 'stale']]);
    const back = { ...all, encodingsKey: 'e', rankingKey: 'e r', workKey: 'e w', formatsKey: 'old f' };
    expect(Object.values(stepStates(back))).toEqual(Array(6).fill('done'));
    expect(stepStates({ ...back, rankingKey: 'e other' }).sensitivity).toBe('stale');
    expect(stepStates({ ...back, workKey: 'e raised' })).toMatchObject({
      sensitivity: 'done',
      save: 'stale',
    });
  });
});

describe('problems', () => {
  test('have a sentence, a next step, and details with code, place and version', () => {
    const problem = problemFrom(
      { code: 'truncated', message: 'the file ends early', where: 'byte 12' },
      'Opening m.onnx',
    );
    expect(problem.message).toBe('The file ends early.');
    expect(problem.next).not.toBe('');
    const text = problemDetails(problem, { version: '0.1.0', commit: 'abc' });
    for (const part of [
      'code: truncated',
      'where: byte 12',
      'during: Opening m.onnx',
      'halftone 0.1.0 (abc)',
    ]) {
      expect(text).toContain(part);
    }
  });

  test("the core's advice is preferred, and names keep their case", () => {
    expect(problemFrom({ code: 'x', message: 'conv_1.w is bad', next: 'Do this' }, '')).toMatchObject({
      message: 'conv_1.w is bad.',
      next: 'Do this.',
    });
    expect(problemFrom(null, '').code).toBe('internal');
  });

  test('other formats are known by their first bytes', () => {
    const head = (text: string) => Uint8Array.from([...text].map((letter) => letter.charCodeAt(0)));
    expect(knownFormat(head('\u001c\0\0\0TFL3'), 'm.tflite')?.what).toContain('TensorFlow Lite');
    expect(knownFormat(head('PK\u0003\u0004'), 'm.pt')?.what).toContain('PyTorch');
    expect(knownFormat(head('PK\u0003\u0004'), 'm.zip')?.what).toContain('zip');
    expect(knownFormat(head('\b\u0007'), 'm.onnx')).toBeNull();
    expect(knownFormat(new Uint8Array(0), 'm.onnx')).toBeNull();
  });
});

describe('drops', () => {
  const items = (...paths: string[]) =>
    paths.map((path) => ({ path, file: new File([], path.slice(path.lastIndexOf('/') + 1)) }));
  const empty = { hasModel: false, waiting: false };
  const loaded = { hasModel: true, waiting: false };
  const kindOf = (paths: string[], context = empty) => sortDrop(items(...paths), context).kind;
  const refusal = (paths: string[], context = empty): string => {
    const decision = sortDrop(items(...paths), context);
    return decision.kind === 'refused' ? decision.message : `not refused: ${decision.kind}`;
  };

  test('a model takes its data and its samples along', () => {
    const decision = sortDrop(items('m.onnx', 'm.data', 'x.npy', 'set/y.pb', '.DS_Store'), empty);
    expect(decision).toMatchObject({ kind: 'model', model: { path: 'm.onnx' } });
    if (decision.kind !== 'model') return;
    expect(decision.externalData.map((item) => item.path)).toEqual(['m.data']);
    expect(decision.samples.map((item) => item.path)).toEqual(['x.npy', 'set/y.pb']);
  });

  test('samples and data alone go where they are needed', () => {
    expect(kindOf(['a.png', 'b.jpg'], loaded)).toBe('samples');
    expect(kindOf(['set/a.npy', 'set/notes.txt'], loaded)).toBe('samples');
    expect(kindOf(['m.data'], { hasModel: false, waiting: true })).toBe('data');
    expect(kindOf(['strange.bin'])).toBe('model');
    expect(kindOf(['a.npy'])).toBe('array');
    expect(kindOf(['a.npy'], loaded)).toBe('samples');
  });

  test('each other drop is refused in its own words', () => {
    const sentences = [
      refusal(['a.onnx', 'b.onnx']),
      refusal(['a.png']),
      refusal(['set/a.npy', 'set/b.npy']),
      refusal(['box/m.onnx']),
      refusal(['a.txt', 'b.txt']),
      refusal(['docs/a.txt']),
      refusal([]),
    ];
    expect(new Set(sentences).size).toBe(sentences.length);
    expect(sentences[0]).toContain('a.onnx, b.onnx');
    expect(sentences[2]).toContain('set is a folder');
    for (const sentence of sentences) expect(sentence).not.toContain('not refused');
  });
});

describe('predictions', () => {
  test('are the largest of probabilities that sum to one', () => {
    expect(topClass([1, 3], [0.2, 0.7, 0.1])).toEqual({ index: 1, probability: 0.7 });
    expect(topClass([1, 3], [2, 7, 1])).toBeNull();
    expect(topClass([1, 3], [0.2, Number.NaN, 0.8])).toBeNull();
    expect(topClass([1, 1, 1, 96], new Float32Array(96))).toBeNull();
    expect(topClass([2, 2], [0.5, 0.5, 0.5, 0.5])).toBeNull();
  });
});
