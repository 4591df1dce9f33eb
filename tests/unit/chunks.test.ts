import { describe, expect, it } from 'vitest';
import { chunked } from '../../bindings/js/src/client/calibrate.js';
import type { CalibrationTarget } from '../../bindings/js/src/shared/protocol.js';

const MIB = 2 ** 20;

function targets(count: number, bytes: number, graphInput = false): CalibrationTarget[] {
  return Array.from({ length: count }, (_, i) => ({ tensor: `t${i}`, graphInput, bytes }));
}

describe('which tensors are watched together', () => {
  it('keeps all of them in their order, each once', () => {
    const all = targets(1000, MIB);
    expect(chunked(all).flat()).toEqual(all);
  });

  it('bounds the bytes of one sample and the number of tensors', () => {
    for (const chunk of chunked(targets(1000, MIB))) {
      expect(chunk.reduce((sum, target) => sum + target.bytes, 0)).toBeLessThanOrEqual(128 * MIB);
    }
    expect(chunked(targets(600, 4)).map((chunk) => chunk.length)).toEqual([256, 256, 88]);
  });

  it('gives a tensor that is larger than the bound a session of its own', () => {
    const chunks = chunked([...targets(1, MIB), ...targets(1, 500 * MIB), ...targets(1, MIB)]);
    expect(chunks.map((chunk) => chunk.length)).toEqual([1, 1, 1]);
  });

  it('counts graph inputs as nothing, since they are not outputs of a session', () => {
    expect(chunked(targets(3, 500 * MIB, true))).toHaveLength(1);
  });

  it('is empty for nothing', () => {
    expect(chunked([])).toEqual([]);
  });
});
