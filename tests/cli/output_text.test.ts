import { describe, expect, it } from 'vitest';
import {
  bar,
  decibels,
  ProgressLine,
  printable,
  shortened,
  sizeText,
  table,
} from '../../bindings/js/src/cli/terminal.js';
import { jsonFile, sensitivityCsv } from '../../bindings/js/src/shared/result_files.js';
import type { SensitivityResults } from '../../bindings/js/src/types.js';
import { SHA } from './fake_package.js';

const EVIL = 'a"<img src=x onerror=alert(1)>\u001b[2J\u202e\u0085\nb';

const RESULTS: SensitivityResults = {
  ranking: [
    { rank: 1, name: EVIL, score: 46.8 },
    { rank: 2, name: '=1+1,"x"', score: null },
  ],
  halftone: {
    version: '0.1.0',
    model_sha256: SHA,
    target: 'onnxruntime',
    method: 'minmax',
    metric: 'psnr',
    higher_is_worse: false,
    scored: [EVIL],
    samples: 8,
    by: 'quantizer',
    interval: [],
    skipped: [],
    warnings: [{ code: 'c', message: `About ${EVIL}.`, where: EVIL }],
  },
};

describe('text for a terminal', () => {
  it('names lose what could steer it', () => {
    expect(printable(EVIL)).toBe('a"<img src=x onerror=alert(1)>[2Jb');
    expect(printable('层/conv_Ünïcode.w')).toBe('层/conv_Ünïcode.w');
  });

  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1500, '1.5 kB'],
    [123_456, '123 kB'],
    [578_966, '579 kB'],
    [1_326_578, '1.33 MB'],
    [2_000_000_000, '2.00 GB'],
  ])('%i bytes are %s', (bytes, text) => {
    expect(sizeText(bytes)).toBe(text);
  });

  it('bars have eighths', () => {
    expect([
      bar(0, 4),
      bar(1, 4),
      bar(0.5, 4),
      bar(1 / 32, 4),
      bar(7 / 32, 4),
      bar(9, 2),
      bar(-1, 2),
    ]).toEqual(['    ', '████', '██  ', '▏   ', '▉   ', '██', '  ']);
  });

  it('decibels that are none say so', () => {
    expect([decibels(46.789), decibels(null), decibels(Number.NaN)]).toEqual(['46.79 dB', 'n/a', 'n/a']);
  });

  it('tables align, and cut long names in the middle', () => {
    expect(
      table(
        [{ title: 'a' }, { title: 'n', right: true }],
        [
          ['xx', '1'],
          ['y', '10'],
        ],
      ),
    ).toBe('a    n\nxx   1\ny   10\n');
    expect(shortened('abcdefghij', 5)).toBe('ab…ij');
  });

  it('progress says the time that is left, for each phase by itself', () => {
    let [text, time] = ['', 0];
    const line = new ProgressLine(
      { out: () => {}, err: (part) => (text = part), errIsTty: true, now: () => time },
      false,
    );
    line.update({ phase: 'sensitivity', done: 0, total: 100, unit: 'runs' });
    expect(text).toBe(`\r\x1b[KScoring quantizers ${' '.repeat(20)} 0 %`);
    time = 6000;
    line.update({ phase: 'sensitivity', done: 25, total: 100, unit: 'runs' });
    expect(text).toBe(`\r\x1b[KScoring quantizers █████${' '.repeat(15)} 25 %  18 s left`);
    time = 600_000;
    line.update({ phase: 'sensitivity', done: 50, total: 100, unit: 'runs' });
    expect(text).toContain('50 %  10 min left');
    line.update({ phase: 'score', done: 1, total: 2, unit: 'runs' });
    expect(text).toBe(`\r\x1b[KScoring the model ${'█'.repeat(10)}${' '.repeat(10)} 50 %`);
    line.clear();
    expect(text).toBe('\r\x1b[K');
  });
});

describe('files', () => {
  it('JSON has two spaces, null for what is no number, and no character that steers a terminal', () => {
    expect(jsonFile({ a: [0.1, Number.NaN, Number.POSITIVE_INFINITY] })).toBe(
      '{\n  "a": [\n    0.1,\n    null,\n    null\n  ]\n}\n',
    );
    const text = jsonFile({ name: EVIL });
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(JSON.parse(text)).toEqual({ name: EVIL });
  });

  it('CSV numbers read back exactly, and names can not become formulas', () => {
    const csv = sensitivityCsv({
      ...RESULTS,
      ranking: [
        { rank: 1, name: 'w,"1"', score: 46.81234567890123, detail: 'a detail' },
        RESULTS.ranking[1]!,
      ],
      halftone: { ...RESULTS.halftone, interval: [[46.5, 47.25], null] },
    });
    expect(csv).toBe(
      'rank,name,score,low,high,samples,detail\r\n' +
        '1,"w,""1""",46.81234567890123,46.5,47.25,8,a detail\r\n' +
        '2,"\'=1+1,""x""",,,,8,\r\n',
    );
  });
});
