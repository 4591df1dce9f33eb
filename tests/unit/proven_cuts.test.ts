// Cuts are used only where the float model proved them.
import { describe, expect, it } from 'vitest';
import { ProvenCuts } from '../../bindings/js/src/client/sweep/proven_cuts.js';
import { cancelled, HalftoneError } from '../../bindings/js/src/shared/errors.js';

const all = new Set([0, 1, 2, 3]);

describe('a cut', () => {
  it('is used if the float model gives the same bits behind it, else the one in front of it, else none', async () => {
    const cuts = new ProvenCuts(4);
    await cuts.prove(async (cut) => cut === 1);
    expect(await cuts.usable(3, all)).toBe(1);
    expect(await cuts.usable(1, all)).toBe(1);
    expect(await cuts.usable(0, all)).toBe(null);
    expect(await cuts.usable(-1, all)).toBe(null);
  });

  it('is not used in a worker that does not keep its values', async () => {
    const cuts = new ProvenCuts(2);
    await cuts.prove(async () => true);
    expect(await cuts.usable(1, new Set([0]))).toBe(0);
    expect(await cuts.usable(1, new Set())).toBe(null);
  });

  it('that the runtime refuses is not used, and the sweep goes on', async () => {
    const cuts = new ProvenCuts(3);
    await cuts.prove(async (cut) => {
      if (cut === 2) throw new HalftoneError('unsupported_op', 'No.');
      return true;
    });
    expect(await cuts.usable(2, all)).toBe(1);
  });

  it('is proved once, by whichever lane comes first', async () => {
    const cuts = new ProvenCuts(4);
    const tried: number[] = [];
    const lane = () =>
      cuts.prove(async (cut) => {
        tried.push(cut);
        await Promise.resolve();
        return true;
      });
    await Promise.all([lane(), lane(), lane()]);
    expect(tried.toSorted()).toEqual([0, 1, 2, 3]);
  });

  it('of a cancelled sweep ends everyone who waits for it', async () => {
    const cuts = new ProvenCuts(2);
    const proving = cuts.prove(async () => {
      throw cancelled();
    });
    const waiting = cuts.usable(0, all);
    await expect(proving).rejects.toMatchObject({ code: 'cancelled' });
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
  });
});
