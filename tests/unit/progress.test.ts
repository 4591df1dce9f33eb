import { describe, expect, it } from 'vitest';
import { ProgressReporter } from '../../bindings/js/src/shared/progress.js';
import type { Progress } from '../../bindings/js/src/types.js';

describe('law 5: progress is monotone, its total constant, its last equal to the total, and at most 20 a second', () => {
  function driven(total: number, steps: number, msPerStep: number): { reports: Progress[]; times: number[] } {
    const reports: Progress[] = [];
    const times: number[] = [];
    let time = 0;
    const reporter = new ProgressReporter(
      'calibrate',
      'runs',
      total,
      (progress) => {
        reports.push(progress);
        times.push(time);
      },
      () => time,
    );
    for (let i = 0; i < steps; i++) {
      time += msPerStep;
      reporter.advance(total / steps);
    }
    reporter.finish();
    return { reports, times };
  }

  it.each([
    [1000, 1000, 1],
    [1000, 1000, 49],
    [8, 8, 100],
    [1, 1, 0],
  ])('total %i in %i steps of %i ms', (total, steps, ms) => {
    const { reports, times } = driven(total, steps, ms);
    expect(reports[0]!.done).toBe(0);
    expect(reports.at(-1)!.done).toBe(total);
    for (let i = 1; i < reports.length; i++) {
      expect(reports[i]!.done).toBeGreaterThan(reports[i - 1]!.done);
      expect(reports[i]!.total).toBe(total);
      if (i < reports.length - 1) expect(times[i]! - times[i - 1]!).toBeGreaterThanOrEqual(50);
    }
  });

  it('never passes the total and never falls, whatever it is fed', () => {
    const seen: number[] = [];
    let time = 0;
    const reporter = new ProgressReporter(
      'write',
      'bytes',
      10,
      (progress) => seen.push(progress.done),
      () => (time += 60),
    );
    reporter.advance(4);
    reporter.advance(-3);
    reporter.advance(100);
    reporter.finish();
    reporter.finish();
    expect(seen).toEqual([0, 4, 10]);
  });
});
