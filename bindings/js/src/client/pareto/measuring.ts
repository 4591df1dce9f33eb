// Scores of plans at mixed precision, over all samples, on all workers. Samples and the float model's outputs stay in the
// workers from one plan to the next where all of them fit there.
import { asHalftoneError } from '../../shared/errors.js';
import type { MetricChoice, Skeleton, SweepModel } from '../../shared/protocol.js';
import type { Connection } from '../connection.js';
import { type LaneJob, ScoreLane } from '../sweep/score_lane.js';
import { SweepModels } from '../sweep/sweep_models.js';
import { TaskQueue } from '../sweep/task_queue.js';

const PSNR: MetricChoice = { name: 'psnr', k: 1 };

/** The models of a search. */
export class MixedModels extends SweepModels {
  protected override async ask(what: SweepModel, signal: AbortSignal): Promise<Skeleton> {
    const { core } = await this.model.core({ signal });
    const tensors = what.kind === 'mixed' ? what.tensors : null;
    return core.call('mixed.model', { search: this.number, tensors }, { signal });
  }
}

interface Task {
  what: SweepModel;
  /** Of each block of samples that was run. */
  terms: Float64Array[];
}

export class Measuring {
  private give: ((tasks: Task[]) => void) | null = null;
  private idle = deferred();
  private closed = false;
  /** Not all samples fit into a worker at once. */
  private inBlocks = false;

  constructor(
    private readonly job: LaneJob,
    private readonly core: Connection,
    private readonly workers: number,
    private readonly signal: AbortSignal | undefined,
    private readonly onRuns: (runs: number) => void,
  ) {}

  /** Runs `work`, during which measure() works. */
  async during(work: () => Promise<void>): Promise<void> {
    const stop = () => this.close();
    this.signal?.addEventListener('abort', stop);
    const serving = this.serveAll().catch((thrown) => {
      this.idle.reject(asHalftoneError(thrown));
    });
    try {
      await work();
    } finally {
      this.close();
      await serving;
      this.signal?.removeEventListener('abort', stop);
    }
  }

  /** PSNR of each plan, in dB; NaN where an output isn't a number. */
  async measure(plans: string[][]): Promise<number[]> {
    const batch = plans.map((tensors): Task => ({ what: { kind: 'mixed', tensors }, terms: [] }));
    await this.idle.promise;
    if (this.inBlocks) await this.runInBlocks(batch);
    else await this.runServed(batch);
    const rows = batch.map(({ terms }) => Float64Array.from(terms.flatMap((part) => Array.from(part))));
    const { length: tensors } = this.job.scored;
    const scores = await this.core.call(
      'metric.scores',
      { metric: PSNR, rows, tensors },
      { signal: this.signal },
    );
    return scores.map(({ score }) => score ?? Number.NaN);
  }

  private close(): void {
    this.closed = true;
    this.give?.([]);
    this.give = null;
  }

  private async runServed(batch: Task[]): Promise<void> {
    const { give } = this;
    this.give = null;
    this.idle = deferred();
    // The queue empties what it is given.
    give?.([...batch]);
    await this.idle.promise;
  }

  private async runInBlocks(batch: Task[]): Promise<void> {
    for (let from = 0; from < this.job.samples.count; ) {
      let given = false;
      const queue = new TaskQueue<Task>(async () => {
        const tasks = given ? [] : [...batch];
        given = true;
        return tasks;
      });
      from = await this.serve(from, queue, () => true);
    }
  }

  /** One queue for the whole search, if the samples fit. */
  private async serveAll(): Promise<void> {
    const queue = new TaskQueue<Task>(() => this.next());
    await this.serve(0, queue, (to) => to === this.job.samples.count);
    this.inBlocks = !this.closed;
    this.idle.resolve();
  }

  private next(): Promise<Task[]> {
    if (this.closed) return Promise.resolve([]);
    return new Promise((resolve) => {
      this.give = resolve;
      this.idle.resolve();
    });
  }

  /** Runs the queue's tasks over the block of samples from number `from` on; the number behind its last sample. */
  private async serve(from: number, queue: TaskQueue<Task>, fits: (to: number) => boolean): Promise<number> {
    let to = from;
    await this.job.model.engine.pool.run(this.workers, this.signal, async (worker, signal) => {
      const lane = new ScoreLane(this.job, worker, signal);
      await lane.use(async () => {
        to = await lane.load(from);
        const block = Array.from({ length: to - from }, (_, i) => from + i);
        if (!fits(to)) return;
        for (let task = await queue.take(signal); task !== null; task = await queue.take(signal)) {
          const running = this.run(lane, task, block);
          running.catch(() => {});
          const ahead = queue.peek();
          if (ahead !== undefined) this.job.models.prepare(ahead.what, signal);
          await running;
          queue.done();
        }
      });
    });
    return to;
  }

  private async run(lane: ScoreLane, task: Task, block: readonly number[]): Promise<void> {
    let ticked = 0;
    const { terms } = await lane.terms(task.what, 'exact', block, PSNR, ({ done }) => {
      this.onRuns(Math.max(0, done - ticked));
      ticked = Math.max(ticked, done);
    });
    this.onRuns(block.length - ticked);
    task.terms.push(terms);
  }
}

function deferred(): { promise: Promise<void>; resolve: () => void; reject: (error: unknown) => void } {
  let settle: { resolve: () => void; reject: (error: unknown) => void } | undefined;
  const promise = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // Who waits hears of a failure; often nobody does.
  promise.catch(() => {});
  return { promise, ...settle! };
}
