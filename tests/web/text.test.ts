// Numbers as people read them.
import { describe, expect, test } from 'vitest';
import * as format from '../../web/src/text/format.js';
import { guessImageOptions } from '../../web/src/text/image_input.js';
import { secondsLeft } from '../../web/src/text/remaining.js';

describe('format', () => {
  test('sizes are decimal, with three digits at most', () => {
    expect([0, 999, 1000, 578966, 999_499, 999_500, 1326578, 4.7e9].map(format.bytes)).toEqual([
      '0\u00a0B',
      '999\u00a0B',
      '1.00\u00a0kB',
      '579\u00a0kB',
      '999\u00a0kB',
      '1.00\u00a0MB',
      '1.33\u00a0MB',
      '4.70\u00a0GB',
    ]);
  });

  test('counts are grouped and pluralised', () => {
    expect(format.count(1234567)).toBe('1\u202f234\u202f567');
    expect(format.counted(1, 'file')).toBe('1\u00a0file');
    expect(format.counted(0, 'kind of operator', 'kinds of operators')).toBe('0\u00a0kinds of operators');
  });

  test('figures keep their sign and say when there is none', () => {
    expect(format.decibel(-3.456)).toBe('\u22123.46\u00a0dB');
    expect(format.decibel(null)).toBe('\u2013');
    expect(format.decibel(Number.NaN)).toBe('\u2013');
    expect([0, 0.1, -12.3456, 1234567, 0.00001234, -1e-9].map((value) => format.significant(value))).toEqual([
      '0',
      '0.1',
      '\u221212.35',
      '1.235e6',
      '1.234e\u22125',
      '\u22121e\u22129',
    ]);
  });

  test('a share that is not zero never reads as zero', () => {
    expect([0, 0.00001, 0.0002, 0.5, 1].map(format.percent)).toEqual([
      '0\u00a0%',
      '<\u00a00.01\u00a0%',
      '0.02\u00a0%',
      '50.0\u00a0%',
      '100.0\u00a0%',
    ]);
  });

  test('hostile names become visible and short', () => {
    expect(format.printable('a\u0000b\u202ec\u200bd\n')).toBe('a\ufffdb\ufffdc\ufffdd\ufffd');
    expect(format.printable('<img src=x>')).toBe('<img src=x>');
    const long = format.printable('x'.repeat(5000), 20);
    expect(long).toHaveLength(20);
    expect(long).toContain('\u2026');
  });
});

describe('time left', () => {
  test('is proportional, and unknown at first', () => {
    expect(secondsLeft({ startedMs: 0, nowMs: 100, done: 50, total: 100 })).toBeNull();
    expect(secondsLeft({ startedMs: 0, nowMs: 4000, done: 0, total: 100 })).toBeNull();
    expect(secondsLeft({ startedMs: 1000, nowMs: 5000, done: 25, total: 100 })).toBe(12);
    expect(secondsLeft({ startedMs: 0, nowMs: 5000, done: 100, total: 100 })).toBe(0);
  });

  test('reads as a person says it', () => {
    expect([0.2, 12.4, 99.4, 150].map(format.timeLeft)).toEqual([
      'under 1\u00a0s left',
      '12\u00a0s left',
      '99\u00a0s left',
      '3\u00a0min left',
    ]);
  });
});

describe('image inputs', () => {
  const input = (shape: (number | string | null)[], type = 'float32') => [{ name: 'x', type, shape }];

  test('layout and size come from the shape', () => {
    expect(guessImageOptions(input(['n', 3, 48, 192]))).toMatchObject({
      layout: 'nchw',
      size: [48, 192],
      scale: 1 / 255,
    });
    expect(guessImageOptions(input([1, 224, 160, 1], 'uint8'))).toMatchObject({
      layout: 'nhwc',
      size: [224, 160],
      scale: 1,
    });
    expect(guessImageOptions(input([1, 3, 'h', 'w']))).not.toHaveProperty('size');
  });

  test('other inputs take none', () => {
    expect(guessImageOptions(input([1, 76, 32, 7]))).toBeNull();
    expect(guessImageOptions(input([1, 3]))).toBeNull();
  });
});
