// The sweep by switches: rows whose quantizers can be switched on in a session that is there already run so, round by round, on
// all lanes. Rows for which that isn't possible, or not exact, are left to variants of their own.
import { asHalftoneError } from '../../../shared/errors.js';
import type { SweepInfo } from '../../../shared/protocol.js';
import type { Encodings, RunCosts } from '../../../types.js';
import type { Connection } from '../../connection.js';
import type { Pool } from '../../pool.js';
import { BLOCK_BYTES } from '../block.js';
import type { Row } from '../rows.js';
import type { Schedule } from '../schedule.js';
import type { LaneJob } from '../score_lane.js';
import type { Scoring } from '../scoring.js';
import { SwitchedLane } from './lane.js';
import { bestBorderCount, bestPartCount, type Part, PartModels, partsOf, withFewerStages } from './parts.js';
import { type Share, sharesOf } from './shares.js';
import { type Unit, UnitQueue, unitsOf } from './units.js';

/** Runtime memory for sessions of one worker. */
const SESSION_BYTES = 256 * 2 ** 20;
const SESSION_BYTES_PER_MODEL_BYTE = 2.2;
/** Of all runs, of a schedule that gives rows up: about. */
const RUNS_OF_TOP = 0.6;

export interface SwitchedJob {
  lane: LaneJob;
  started: SweepInfo;
  encodings: Encodings;
  scoring: Scoring;
  pool: Pool;
  workers: number;
  signal: AbortSignal | undefined;
  /** Of a schedule that gives rows up depending on others: one part that can't be switched ends it. */
  allOrNothing: boolean;
  measured(row: Row, samples: readonly number[], terms: Float64Array): void;
  /** Before the next round is decided. */
  settle(): Promise<void>;
  runs(done: number): void;
  costs(costs: RunCosts): void;
}

export class SwitchedSweep {
  readonly lanes: SwitchedLane[] = [];
  private readonly laneOf = new Map<Connection, number>();
  private models!: PartModels;
  private readonly broken = new Set<Row>();
  private readonly switched: ReadonlySet<Row>;
  private parts: Part[] = [];
  /** Sessions that a worker may have at a time. */
  readonly most: number;
  private readonly encodings: Record<string, string>;

  constructor(
    readonly job: SwitchedJob,
    /** That can be switched. */
    private readonly rows: readonly Row[],
  ) {
    this.switched = new Set(rows);
    const { bytes } = job.lane.model;
    this.most = Math.max(1, Math.floor(SESSION_BYTES / Math.max(1, SESSION_BYTES_PER_MODEL_BYTE * bytes)));
    const { encodings } = job.encodings;
    this.encodings = Object.fromEntries(
      Object.entries(encodings).map(([name, encoding]) => [name, JSON.stringify(encoding)]),
    );
  }

  /** Runs what `schedule` wants of the rows; answers the rows that are left. */
  async run(schedule: Schedule): Promise<ReadonlySet<Row>> {
    const { lane: job, started, pool, workers, signal } = this.job;
    const { core } = await job.model.core({ signal });
    this.models = new PartModels(core, started.sweep, signal);
    for (let i = 0; i < workers; i++) {
      const worker = await pool.worker(i, { signal });
      this.lanes.push(new SwitchedLane(job, this.encodings, worker, this.most));
      this.laneOf.set(worker, i);
    }
    try {
      await this.prepare();
      const { count } = job.samples;
      for (let from = 0; from < count && !this.stopped(); ) {
        const to = Math.min(count, from + this.room());
        await this.block(schedule, from, to);
        from = to;
        if (from < count) await this.onLanes((lane) => lane.forget());
      }
    } finally {
      await Promise.all(this.lanes.map((lane) => lane.end()));
    }
    return this.broken;
  }

  /** On all lanes at once; the first failure ends the others. */
  onLanes(work: (lane: SwitchedLane, index: number) => Promise<void>): Promise<void> {
    const { pool, workers, signal } = this.job;
    return pool.run(workers, signal, async (worker, stop) => {
      const index = this.laneOf.get(worker)!;
      const lane = this.lanes[index]!;
      lane.signal = stop;
      await work(lane, index);
    });
  }

  private stopped(): boolean {
    return this.broken.size > 0 && (this.job.allOrNothing || this.broken.size === this.rows.length);
  }

  /** The parts, from what the first sample costs; and what a sample holds in a worker. */
  private async prepare(): Promise<void> {
    const { lane: job, started } = this.job;
    const { count } = job.samples;
    await this.onLanes((lane, i) => lane.load([Math.min(i, count - 1)]));
    const { prices } = this.lanes[0]!;
    const share = this.job.allOrNothing ? RUNS_OF_TOP : 1;
    const runs = (share * this.rows.length * count) / this.lanes.length;
    const parts = bestPartCount(prices, this.rows.length, { runs, samples: count / this.lanes.length });
    this.parts = partsOf(this.rows, started, parts, bestBorderCount(prices));
  }

  /** Has the core make the models of parts, before anything that it is asked for after this. */
  askForParts(): void {
    for (const part of this.parts) void this.models.get(part);
  }

  /** Opens the first part ahead of its first run, which tells if anything is wrong with it. */
  async openAhead(lane: SwitchedLane): Promise<void> {
    const [part] = this.parts;
    if (part !== undefined) await lane.opened(part, this.models).catch(() => {});
  }

  private async block(schedule: Schedule, from: number, to: number): Promise<void> {
    while (!this.stopped()) {
      await this.job.settle();
      const tasks = (await schedule.next({ from, to })).filter(({ row }) => !this.broken.has(row));
      if (tasks.length === 0) return;
      this.askForParts();
      const home = (sample: number) =>
        new Set([...this.lanes.keys()].filter((lane) => this.lanes[lane]!.has(sample)));
      const shares = sharesOf(tasks, this.lanes.length, home);
      const queue = new UnitQueue(shares.map((some) => unitsOf(some, this.parts)));
      await this.onLanes((lane, i) => this.work(lane, i, shares[i]!, queue));
    }
    await this.job.settle();
  }

  /** Samples that fit a worker, as the first one does. */
  private room(): number {
    const bytes = this.lanes.map((lane) => lane.bytesPerSample);
    return Math.max(1, Math.floor(BLOCK_BYTES / Math.max(1, ...bytes)));
  }

  private async work(lane: SwitchedLane, index: number, shares: Share[], queue: UnitQueue): Promise<void> {
    await lane.load([...new Set(shares.flatMap((share) => share.samples))].sort((a, b) => a - b));
    for (const { row, samples } of shares)
      if (!this.switched.has(row)) await this.variant(lane, row, samples);
    const here = (sample: number) => lane.has(sample);
    const next = () => (this.stopped() ? null : queue.take(index, here));
    for (let unit = next(); unit !== null; unit = next()) await this.unit(lane, unit);
  }

  /** Of a part that another lane found wrong, the rows come again in the next round. */
  private async unit(lane: SwitchedLane, { part, rows, sample }: Unit): Promise<void> {
    await lane.load([sample]);
    const left = rows.filter((row) => !this.broken.has(row));
    if (left.length === 0 || !this.parts.includes(part)) return;
    if (!(await this.call(lane, part, left, [sample]))) this.simplify(part);
  }

  private async variant(lane: SwitchedLane, row: Row, samples: number[]): Promise<void> {
    const { terms, costs } = await lane.variant(row.order, samples, this.job.scoring.metric!);
    this.job.costs(costs);
    this.job.measured(row, samples, terms);
    this.job.runs(samples.length);
  }

  /** Whether the part with everything off gives the float outputs; if not, nothing of it counts. */
  private async call(lane: SwitchedLane, part: Part, rows: Row[], samples: number[]): Promise<boolean> {
    const metric = this.job.scoring.metric!;
    const { cutOf } = this.job.started;
    const wanted = rows.map((row) => ({ sites: row.group.sites, cut: cutOf[row.order] ?? -1 }));
    let told = 0;
    const tell = (done: number) => {
      this.job.runs(done - told);
      told = done;
    };
    let run: Awaited<ReturnType<SwitchedLane['run']>>;
    try {
      run = await lane.run(part, this.models, wanted, samples, metric, ({ done }) => tell(done));
    } catch (thrown) {
      const error = asHalftoneError(thrown);
      // What a runtime refuses here it may take as a variant.
      if (error.code !== 'unsupported_op' && error.code !== 'invalid_sample') throw error;
      run = { equal: false, exact: [], terms: new Float64Array(0), costs: NO_COSTS };
    }
    this.job.costs(run.costs);
    if (!run.equal) return false;
    const each = run.terms.length / rows.length;
    for (const [i, row] of rows.entries()) {
      if (!run.exact[i]) this.broken.add(row);
      else this.job.measured(row, samples, run.terms.subarray(i * each, (i + 1) * each));
    }
    tell(rows.length * samples.length);
    return true;
  }

  private simplify(part: Part): void {
    const at = this.parts.indexOf(part);
    if (at < 0) return;
    this.models.forget(part);
    const next = withFewerStages(part, this.job.started);
    if (next === null) for (const row of part.rows) this.broken.add(row);
    else this.parts[at] = next;
  }
}

const NO_COSTS = { sessions: 0, create_ms: 0, runs: 0, run_ms: 0, metric_ms: 0 };
