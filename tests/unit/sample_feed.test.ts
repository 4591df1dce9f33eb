import { describe, expect, it } from 'vitest';
import { checkSample } from '../../bindings/js/src/client/check_sample.js';
import { movable } from '../../bindings/js/src/client/sample_feed.js';
import type { HalftoneError } from '../../bindings/js/src/shared/errors.js';
import type { Sample, ValueInfo } from '../../bindings/js/src/types.js';

const inputs: ValueInfo[] = [
  { name: 'x', type: 'float32', shape: ['N', 3, null] },
  { name: 'mask', type: 'bool', shape: null },
];

function refusal(sample: Sample): HalftoneError {
  try {
    checkSample(inputs, sample, 'k3');
  } catch (error) {
    return error as HalftoneError;
  }
  throw new Error('The sample was accepted.');
}

describe('checkSample', () => {
  it('takes symbols and unknown dimensions as they come, and lets inputs be missing', () => {
    checkSample(inputs, { x: { type: 'float32', dims: [2, 3, 4], data: new Float32Array(24) } }, 'k3');
    checkSample(inputs, { mask: { type: 'bool', dims: [], data: new Uint8Array(1) } }, 'k3');
  });

  it.each<[string, Sample, string[]]>([
    [
      'type',
      { x: { type: 'int64', dims: [1, 3, 1], data: new BigInt64Array(3) } },
      ['"x"', 'int64', 'float32'],
    ],
    ['rank', { x: { type: 'float32', dims: [3], data: new Float32Array(3) } }, ['[3]', '[N, 3, ?]']],
    [
      'dimension',
      { x: { type: 'float32', dims: [1, 4, 1], data: new Float32Array(4) } },
      ['[1, 4, 1]', '[N, 3, ?]'],
    ],
    ['length', { x: { type: 'float32', dims: [1, 3, 2], data: new Float32Array(5) } }, ['5 values', '6']],
    [
      'detached',
      { x: { type: 'float32', dims: [1, 3, 1], data: new Float32Array(0) } },
      ['handed over', 'fresh'],
    ],
    ['name', { y: { type: 'float32', dims: [1], data: new Float32Array(1) } }, ['"y"', 'no input']],
  ])('refuses a wrong %s, saying what was given and what is needed', (_what, sample, words) => {
    const error = refusal(sample);
    expect(error.code).toBe('invalid_sample');
    expect(error.where).toBe('k3');
    for (const word of words) expect(error.message).toContain(word);
    expect(error.next).not.toBe('');
  });
});

describe('movable (law 6: sample buffers are transferred)', () => {
  it('hands over a buffer that a tensor fills alone', () => {
    const data = new Float32Array([1, 2]);
    const { sample, transfer } = movable({ x: { type: 'float32', dims: [2], data } });
    expect(transfer).toEqual([data.buffer]);
    structuredClone(sample, { transfer });
    expect(data.byteLength).toBe(0);
  });

  it('copies a view of a part, so that the rest of the buffer stays whole', () => {
    const whole = new Float32Array([1, 2, 3, 4]);
    const { sample, transfer } = movable({ x: { type: 'float32', dims: [2], data: whole.subarray(2) } });
    const moved = structuredClone(sample, { transfer });
    expect([...(moved.x!.data as Float32Array)]).toEqual([3, 4]);
    expect([...whole]).toEqual([1, 2, 3, 4]);
  });

  it('copies the second tensor of a shared buffer', () => {
    const shared = new Int32Array([7]);
    const { sample, transfer } = movable({
      a: { type: 'int32', dims: [1], data: shared },
      b: { type: 'int32', dims: [1], data: shared },
    });
    const moved = structuredClone(sample, { transfer });
    expect([...(moved.a!.data as Int32Array), ...(moved.b!.data as Int32Array)]).toEqual([7, 7]);
  });
});
