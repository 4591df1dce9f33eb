// Which rows are measured on which samples, round by round. A round is decided when the one before is complete, from all of its
// scores, so the schedule is the same for any number of workers.
import type { SampleRange } from './block.js';
import type { Row } from './rows.js';

export interface Task {
  row: Row;
  /** Of the block that is loaded. */
  samples: number[];
}

export interface Schedule {
  /** The next round within a block of samples that is loaded; none: the block is done. */
  next(block: SampleRange): Promise<Task[]>;
}

/** Every row on every sample. */
export class FullSchedule implements Schedule {
  constructor(private readonly rows: Row[]) {}

  async next(block: SampleRange): Promise<Task[]> {
    return tasksFor(this.rows, samplesOf(block));
  }
}

export interface Top {
  count: number;
  /** That a row given up on is not among them. */
  confidence: number;
  /** Of all that was measured of a row: bigger is more sensitive. */
  sensitivity(row: Row): number;
  /** The same of terms, or of a user's values, for many rows. */
  sensitivities(values: Float64Array[]): Promise<number[]>;
}

/**
 * All samples for those that may be among the worst, fewer for the others.
 *
 * Pilots, spread evenly over the graph, are measured on all samples. They tell how far a row gets from its score of some samples
 * to that of all, and the samples from which they get least far come first for the other rows. A new row gets farther than the
 * r-th smallest of m such shifts with probability 1 - r / (m + 1), whatever their distribution is, as long as rows are alike
 * (a little more, since samples were chosen for small shifts). A row is given up when not even that shift brings it to the last of
 * the wanted.
 * The bound is taken over pilots and over all rows that were measured completely, and the larger one counts. The likeliest rows
 * are completed first, which raises the bar; the others get a quarter of the samples at a time.
 */
export class TopSchedule implements Schedule {
  private readonly pilots: Row[];
  private telling: number[] | null = null;
  private barRaised = false;

  constructor(
    private readonly rows: Row[],
    private readonly top: Top,
  ) {
    const fresh = rows.filter((row) => row.resumed === 0);
    const wanted = Math.max(PILOTS, Math.ceil(top.confidence / (1 - top.confidence)), 2 * top.count);
    this.pilots = spread(fresh, wanted);
  }

  async next(block: SampleRange): Promise<Task[]> {
    const all = samplesOf(block);
    // Later blocks are for the rows that are still wanted.
    if (block.from > 0)
      return tasksFor(
        this.rows.filter((row) => row.samples >= block.from),
        all,
      );
    const piloting = tasksFor(this.pilots, all);
    if (piloting.length > 0) return piloting;
    this.telling ??= await this.tellingOrder(all);
    const starting = tasksFor(this.rows, this.telling.slice(0, stageOf(all.length, 1)));
    if (starting.length > 0) return starting;
    const within = await this.mayReach(all.length);
    if (this.barRaised) return tasksFor(within, this.telling.slice(0, this.nextStage(within, all.length)));
    this.barRaised = true;
    return tasksFor(within.slice(0, this.top.count), all);
  }

  /**
   * Samples, those first that tell most: from whose scores pilots get least far. The first few are chosen together, each with those
   * before it; of the others each counts alone.
   */
  private async tellingOrder(samples: number[]): Promise<number[]> {
    const chosen: number[] = [];
    let left = samples;
    let ordered: number[] = [];
    while (left.length > 0 && chosen.length < CHOSEN_TOGETHER) {
      const far = await Promise.all(left.map((sample) => this.farFrom([...chosen, sample])));
      ordered = [...left.keys()].sort((a, b) => far[a]! - far[b]! || a - b).map((at) => left[at]!);
      chosen.push(ordered[0]!);
      left = left.filter((sample) => sample !== ordered[0]);
    }
    return [...chosen, ...ordered.slice(1)];
  }

  /** How far pilots get from their scores of these samples to those of all. */
  private async farFrom(samples: number[]): Promise<number> {
    const early = await this.measured(this.pilots, samples);
    const shifts = this.pilots.map((row, i) => this.top.sensitivity(row) - early[i]!);
    return quantile(shifts, this.top.confidence);
  }

  private measured(rows: readonly Row[], samples: readonly number[]): Promise<number[]> {
    return this.top.sensitivities(rows.map((row) => row.values(samples)));
  }

  private nextStage(rows: Row[], samples: number): number {
    const fewest = Math.min(...rows.map((row) => row.samples));
    for (let stage = 1; stage <= STAGES; stage++)
      if (stageOf(samples, stage) > fewest) return stageOf(samples, stage);
    return samples;
  }

  /** The rows that aren't complete and may be among the wanted, the likeliest first. */
  private async mayReach(samples: number): Promise<Row[]> {
    const behind = this.rows.filter((row) => row.samples < samples);
    const complete = this.rows.filter((row) => row.samples >= samples);
    const scores = complete.map((row) => this.top.sensitivity(row)).sort((a, b) => b - a);
    const last = scores[this.top.count - 1];
    const bounds = new Map<number, number>();
    for (const { samples: few } of behind)
      if (!bounds.has(few)) bounds.set(few, await this.bound(complete, few));
    const within = behind.filter(
      (row) => last === undefined || this.top.sensitivity(row) + bounds.get(row.samples)! >= last,
    );
    return within.sort((a, b) => this.top.sensitivity(b) - this.top.sensitivity(a) || a.order - b.order);
  }

  /** How far a row may get from its score of the `few` most telling samples to that of all. */
  private async bound(complete: Row[], few: number): Promise<number> {
    const measured = complete.filter((row) => row.resumed === 0);
    const early = await this.measured(measured, this.telling!.slice(0, few));
    const shifts = new Map(measured.map((row, i) => [row, this.top.sensitivity(row) - early[i]!]));
    const pilots = this.pilots.map((row) => shifts.get(row)!);
    const { confidence } = this.top;
    return Math.max(quantile(pilots, confidence), quantile([...shifts.values()], confidence));
  }
}

export const PILOTS = 20;
/** After each of which rows are given up. */
const STAGES = 4;
const CHOSEN_TOGETHER = 4;

/** Samples of the first `stage` stages. */
function stageOf(samples: number, stage: number): number {
  return Math.max(1, Math.floor((samples * stage) / STAGES));
}

/** The r-th smallest of m values, r = ceil((m + 1) p); infinite where m is too small to tell. */
export function quantile(values: number[], probability: number): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  return sorted[Math.ceil((sorted.length + 1) * probability) - 1] ?? Number.POSITIVE_INFINITY;
}

export function spread<T>(all: T[], count: number): T[] {
  if (count >= all.length) return [...all];
  return Array.from({ length: count }, (_, i) => all[Math.round((i * (all.length - 1)) / (count - 1))]!);
}

export function samplesOf({ from, to }: SampleRange): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

export function tasksFor(rows: Row[], samples: number[]): Task[] {
  return rows
    .map((row) => ({ row, samples: samples.filter((sample) => !row.has(sample)) }))
    .filter((task) => task.samples.length > 0);
}
