// Which rows are measured on which samples, round by round. A round is decided when the one before is complete, from all of its
// scores, so the schedule is the same for any number of workers.
import type { SampleRange } from './block.js';
import type { Row } from './rows.js';

export interface Task {
  row: Row;
  range: SampleRange;
}

export interface Schedule {
  /** The next round within a block of samples that is loaded; none: the block is done. */
  next(block: SampleRange): Promise<Task[]>;
}

/** Every row on every sample. */
export class FullSchedule implements Schedule {
  constructor(private readonly rows: Row[]) {}

  async next({ to }: SampleRange): Promise<Task[]> {
    return tasksTo(
      this.rows.filter((row) => row.samples < to),
      to,
    );
  }
}

export interface Top {
  count: number;
  /** That a row given up on is not among them. */
  confidence: number;
  sensitivity(row: Row): number;
  /** Student's t, two-sided. */
  student(confidence: number, degrees: number): Promise<number>;
}

/** Rows that are measured completely beyond those wanted, to know how far the first samples are from all. */
const COMPANY = 1;

/**
 * Few samples for every row, then all samples for those that may be among the worst. How far a score of few samples is from
 * that of all is learnt from the rows that have both: s_all - s_few has a mean and a spread over them, and a row is given up
 * when even s_few + mean + t * spread * sqrt(1 + 1/m) stays below the last of the wanted. A row is never given up because of
 * fewer than three such differences.
 */
export class TopSchedule implements Schedule {
  private readonly early = new Map<Row, number>();

  constructor(
    private readonly rows: Row[],
    private readonly samples: number,
    private readonly top: Top,
  ) {}

  async next({ from, to }: SampleRange): Promise<Task[]> {
    if (this.early.size === 0) {
      const few = Math.min(to, Math.max(1, Math.floor(this.samples / EARLY_SHARE)));
      const starting = this.rows.filter((row) => row.samples < few);
      if (starting.length > 0) return tasksTo(starting, few);
      for (const row of this.rows) this.early.set(row, this.top.sensitivity(row));
    }
    // A row that an earlier block gave up on has samples that aren't loaded any more.
    const behind = this.rows.filter((row) => row.samples >= from && row.samples < to);
    const measured = this.rows.filter((row) => row.samples >= to);
    const wanted = (1 + COMPANY) * this.top.count;
    if (measured.length < Math.min(wanted, this.rows.length)) {
      const most = this.top.sensitivity;
      const best = [...behind].sort((a, b) => most(b) - most(a) || a.order - b.order);
      return tasksTo(best.slice(0, wanted - measured.length), to);
    }
    const within = await this.mayReach(behind, measured);
    return tasksTo(within, to);
  }

  private async mayReach(behind: Row[], measured: Row[]): Promise<Row[]> {
    const scores = measured.map((row) => this.top.sensitivity(row)).sort((a, b) => b - a);
    const last = scores[this.top.count - 1];
    if (last === undefined) return behind;
    const shifts = measured
      .filter((row) => !row.resumed)
      .map((row) => this.top.sensitivity(row) - this.early.get(row)!)
      .filter((shift) => Number.isFinite(shift));
    if (shifts.length < FEWEST_SHIFTS) return behind;
    const mean = shifts.reduce((sum, shift) => sum + shift, 0) / shifts.length;
    const squares = shifts.reduce((sum, shift) => sum + (shift - mean) ** 2, 0);
    const spread = Math.sqrt((squares / (shifts.length - 1)) * (1 + 1 / shifts.length));
    // One-sided: the share above t is half of what lies outside of ±t.
    const t = await this.top.student(2 * this.top.confidence - 1, shifts.length - 1);
    return behind.filter((row) => this.early.get(row)! + mean + t * spread >= last);
  }
}

/** Of all samples, for the first round. */
const EARLY_SHARE = 8;
const FEWEST_SHIFTS = 3;

function tasksTo(rows: Row[], to: number): Task[] {
  return rows.map((row) => ({ row, range: { from: row.samples, to } }));
}
