// Progress that keeps its laws: done never falls, total is constant within a phase, the last done equals total, and there
// are at most twenty reports a second.
import type { Progress } from '../types.js';

const INTERVAL_MS = 50;

export class ProgressReporter {
  private done = 0;
  private reported = -1;
  private lastTime = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly phase: Progress['phase'],
    private readonly unit: Progress['unit'],
    private readonly total: number,
    private readonly report: ((progress: Progress) => void) | undefined,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.send(true);
  }

  advance(by: number): void {
    this.done = Math.min(this.total, this.done + Math.max(0, by));
    this.send(false);
  }

  /** Says that everything is done. */
  finish(): void {
    this.done = this.total;
    this.send(true);
  }

  private send(always: boolean): void {
    if (this.report === undefined || this.done === this.reported) return;
    const time = this.now();
    if (!always && (this.done === this.total || time - this.lastTime < INTERVAL_MS)) return;
    this.lastTime = time;
    this.reported = this.done;
    this.report({ phase: this.phase, done: this.done, total: this.total, unit: this.unit });
  }
}
