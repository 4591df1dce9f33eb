// What a worker keeps of runs with everything off.
import { describe, expect, it } from 'vitest';
import type { Sample } from '../../bindings/js/src/types.js';
import { OffRuns } from '../../bindings/js/src/worker/off_runs.js';
import { SampleSwitches, type SwitchedSession } from '../../bindings/js/src/worker/sample_switches.js';

const kBytes = 40;
const value = () => ({ type: 'float32', dims: [kBytes / 4], data: new Float32Array(kBytes / 4) });
const values = (tensors: readonly string[]): Sample =>
  Object.fromEntries(tensors.map((name) => [name, value()]));

/** Sites s0 … s3, of which all but the last get an addend, and borders behind which t0 and t1 are needed. */
function part(): SwitchedSession {
  const names = ['s0', 's1', 's2', 's3'];
  return {
    session: 1,
    switches: new Map(
      names.map((tensor, i) => [
        tensor,
        {
          tensor,
          kind: i < 3 ? ('addend' as const) : ('values' as const),
          feed: `${tensor}_fed`,
          rank: 1,
          dims: [1],
          off: new Float32Array(1),
          on: new Float32Array(1),
        },
      ]),
    ),
    stages: {
      start: 'start',
      feeds: ['t0', 't1'].map((tensor) => ({ tensor, feed: `${tensor}_fed`, type: 'float32', rank: 1 })),
      borders: [
        { cut: 0, crossing: [0] },
        { cut: 1, crossing: [0, 1] },
      ],
    },
    encodings: {},
    off: {},
  };
}

const switchesOf = (of: SwitchedSession) => new SampleSwitches(null as never, of, {});
const row = (sites: string[], skips = 0) => ({ sites, skips });

describe('what rows need of a run with everything off', () => {
  it('are the values of their activations and of what crosses where they begin', () => {
    const switches = switchesOf(part());
    expect(switches.missing([row(['s3'])])).toEqual([]);
    expect(switches.missing([row(['s1', 's3']), row(['s1'])])).toEqual(['s1']);
    expect(switches.missing([row(['s2'], 1)])).toEqual(['s2', 't0']);
    expect(switches.missing([row(['s3'], 2), row(['s3'], 1)])).toEqual(['t0', 't1']);
  });
});

describe('runs with everything off', () => {
  it('are kept by part and sample, and give all that rows may need once sizes are known', () => {
    const kept = new OffRuns();
    const [one, other] = [part(), part()];
    const first = switchesOf(one);
    expect(kept.find(one, 0)).toBeUndefined();
    expect(kept.wanted(one, first, first.missing([row(['s0'])]))).toEqual(['s0']);
    kept.observe(one, 0, first, ['s0'], values(['s0']));
    expect(kept.find(one, 0)).toBe(first);
    expect(kept.find(other, 0)).toBeUndefined();
    expect(kept.find(one, 1)).toBeUndefined();
    expect(first.missing([row(['s0'])])).toEqual([]);
    const second = switchesOf(one);
    expect(new Set(kept.wanted(one, second, ['s1']))).toEqual(new Set(['s0', 's1', 's2', 't0', 't1']));
    expect(kept.wanted(other, switchesOf(other), ['s1'])).toEqual(['s1']);
  });

  it('ask for nothing beyond what is needed where all of it does not fit', () => {
    const kept = new OffRuns(4 * kBytes);
    const one = part();
    const first = switchesOf(one);
    kept.observe(one, 0, first, ['s0', 's1'], values(['s0', 's1']));
    expect(kept.find(one, 0)).toBe(first);
    const second = switchesOf(one);
    expect(kept.wanted(one, second, ['s0', 's2'])).toEqual(['s0', 's2']);
    kept.observe(one, 1, second, ['s0', 's2'], values(['s0', 's2']));
    expect(kept.find(one, 1)).toBe(second);
    const third = switchesOf(one);
    kept.observe(one, 2, third, ['s0'], values(['s0']));
    expect(kept.find(one, 2)).toBeUndefined();
  });

  it('that outgrow the room are let go of whole, and leave it to others', () => {
    const kept = new OffRuns(3 * kBytes);
    const one = part();
    const first = switchesOf(one);
    kept.observe(one, 0, first, ['s0', 's1'], values(['s0', 's1']));
    kept.observe(one, 0, first, ['t0', 't1'], values(['t0', 't1']));
    expect(kept.find(one, 0)).toBeUndefined();
    // What was fetched is there all the same, for the rows at hand.
    expect(first.missing([row(['s0'], 2)])).toEqual([]);
    const second = switchesOf(one);
    kept.observe(one, 1, second, ['s0', 's1', 's2'], values(['s0', 's1', 's2']));
    expect(kept.find(one, 1)).toBe(second);
  });

  it('make room when their part is closed, and when samples go', () => {
    const kept = new OffRuns(2 * kBytes);
    for (const end of [(of: SwitchedSession) => kept.drop(of), () => kept.clear()]) {
      const one = part();
      const switches = switchesOf(one);
      kept.observe(one, 0, switches, ['s0', 's1'], values(['s0', 's1']));
      expect(kept.find(one, 0)).toBe(switches);
      end(one);
      expect(kept.find(one, 0)).toBeUndefined();
    }
    kept.drop(part());
  });

  it('of rows that need nothing of them are kept as proof', () => {
    const kept = new OffRuns(0);
    const one = part();
    const switches = switchesOf(one);
    expect(switches.missing([row(['s3'])])).toEqual([]);
    kept.observe(one, 0, switches, [], {});
    expect(kept.find(one, 0)).toBe(switches);
  });
});
