// The sweep: each group of quantizers alone, or everything but it, scored against the float model over all samples.
//
// Samples are loaded in blocks that fit the workers; within a block each worker takes the next group, builds a session of that
// variant behind its cut, and runs the block's samples. A row is made of what each sample gave, in the order of samples, so
// neither the number of workers nor blocks nor cuts change a number.
import { cancelled, HalftoneError } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import type { SweepInfo, SweepModel } from '../shared/protocol.js';
import type {
  Encodings,
  Plan,
  SampleSet,
  SensitivityOptions,
  SensitivityResults,
  SensitivityRow,
  SensitivityRun,
  Warning,
} from '../types.js';
import type { Connection } from './connection.js';
import type { ModelHandle } from './model.js';
import { provenanceOf } from './provenance.js';
import { RowQueue } from './row_queue.js';
import { requireSamples } from './sample_feed.js';
import { sampleWarnings } from './sample_warnings.js';
import { adaptiveSchedule } from './sweep/adaptive.js';
import { CostSum } from './sweep/costs.js';
import { givenGroups, groupingName } from './sweep/grouping.js';
import { SampleDigests } from './sweep/identity.js';
import { ProvenCuts } from './sweep/proven_cuts.js';
import { resultsOf } from './sweep/results.js';
import { checkResumable, resume } from './sweep/resume.js';
import { Row, rowsOf } from './sweep/rows.js';
import { FullSchedule, type Schedule, type Task, type Top } from './sweep/schedule.js';
import { type LaneJob, ScoreLane } from './sweep/score_lane.js';
import { type Scoring, scoresOf, scoringOf, sensitivityOf } from './sweep/scoring.js';
import { SweepModels } from './sweep/sweep_models.js';
import { checkSweepOptions, scoreChoice } from './sweep/sweep_options.js';
import { SwitchedSweep } from './sweep/switched/switched_sweep.js';
import { TaskQueue } from './sweep/task_queue.js';

export function sensitivity(
  model: ModelHandle,
  plan: Plan | Promise<Plan>,
  encodings: Encodings,
  samples: SampleSet,
  options: SensitivityOptions,
): SensitivityRun {
  const sweep = new Sweep(model, encodings, samples, options);
  const finished = sweep.start(plan);
  finished.catch(() => {});
  return {
    [Symbol.asyncIterator]: () => sweep.queue.iterate(),
    results: async () => {
      await finished;
      return sweep.ranked(false);
    },
    partial: () => sweep.ranked(true),
    costs: () => sweep.costs.sum(),
  };
}

class Sweep {
  readonly queue = new RowQueue<SensitivityRow>();
  readonly costs = new CostSum();
  private scoring!: Scoring;
  private plan: Plan | null = null;
  private started: SweepInfo | null = null;
  private rows: Row[] = [];
  private warnings: Warning[] = [];
  private digests: SampleDigests | null = null;
  private ended = false;

  constructor(
    private readonly model: ModelHandle,
    private readonly encodings: Encodings,
    private readonly samples: SampleSet,
    private readonly options: SensitivityOptions,
  ) {}

  async start(plan: Plan | Promise<Plan>): Promise<void> {
    let release = () => {};
    try {
      this.scoring = scoringOf(this.options);
      checkSweepOptions(this.options);
      provenanceOf(this.encodings);
      requireSamples(this.samples);
      release = this.model.lock.take('a sensitivity run');
      this.plan = await plan;
      await this.run(this.plan);
      this.ended = true;
      this.queue.end(null);
    } catch (error) {
      this.queue.end(error);
      throw error;
    } finally {
      release();
    }
  }

  private async run(plan: Plan): Promise<void> {
    const { signal, only, sweep } = this.options;
    const { core, model } = await this.model.core(this.options);
    this.digests = new SampleDigests(core);
    const choice = {
      score: scoreChoice(this.options.score),
      by: groupingName(this.options.by),
      groups: givenGroups(plan, this.encodings, this.options),
      only: only ?? ('' as const),
      sweep: sweep ?? ('enable' as const),
    };
    const started = await core.call(
      'sweep.start',
      { model, plan, encodings: this.encodings, choice },
      { signal },
    );
    this.started = started;
    try {
      this.rows = this.share(rowsOf(started.groups, plan, choice.by === 'quantizer'));
      await this.goOn(core);
      await this.measure(core, started);
    } finally {
      if (core.connected) await core.call('sweep.end', { sweep: started.sweep }).catch(() => {});
    }
  }

  /** This machine's part of the groups. */
  private share(rows: Row[]): Row[] {
    const { shard } = this.options;
    if (shard === undefined) return rows;
    const mine = rows.filter((row) => row.order % shard.count === shard.index - 1);
    if (mine.length > 0) return mine;
    throw new HalftoneError(
      'invalid_policy',
      `Shard ${shard.index} of ${shard.count} has no groups: there are ${rows.length}.`,
      { next: 'Use fewer shards.' },
    );
  }

  private async goOn(core: Connection): Promise<void> {
    const { resume: from } = this.options;
    if (from === undefined) return;
    await checkResumable(core, from, {
      plan: this.plan!,
      encodings: this.encodings,
      scoring: this.scoring,
      started: this.started!,
      options: this.options,
      samples: this.samples.count,
      facts: await this.model.facts(),
    });
    for (const row of resume(this.rows, from, this.samples.count)) this.queue.push(row.public());
  }

  private async measure(core: Connection, started: SweepInfo): Promise<void> {
    const { signal, onProgress } = this.options;
    const { count } = this.samples;
    const pending = this.rows.filter((row) => !row.resumed);
    const size = this.model.engine.pool.size(this.model.bytes, Math.max(1, pending.length));
    this.warnings = [...sampleWarnings(this.samples), ...size.warnings];
    const progress = new ProgressReporter('sensitivity', 'runs', pending.length * count, onProgress);
    const { inputs } = (await this.model.inspect()).model;
    const job: LaneJob = {
      model: this.model,
      samples: this.samples,
      inputs,
      models: new SweepModels(this.model, started.sweep),
      scored: started.scored,
      cuts: fewCuts(started.cuts, pending.length),
      base: this.options.sweep === 'disable' ? 'base' : 'float',
      seen: (index, sample) => this.digests!.see(index, sample),
    };
    const variants = async (schedule: Schedule) => {
      for (let from = 0; from < count; )
        from = await this.block(core, job, schedule, from, size.workers, progress);
    };
    const complete = await this.switched(core, job, size.workers, progress, variants);
    if (!complete) await variants(this.schedule(core, this.rows));
    if (signal?.aborted) throw cancelled();
    if (this.options.resume !== undefined) await this.checkSamples();
    progress.finish();
  }

  /** By switches, where nearly all rows can be; whether nothing is left for variants of their own. */
  private async switched(
    core: Connection,
    job: LaneJob,
    workers: number,
    progress: ProgressReporter,
    variants: (schedule: Schedule) => Promise<void>,
  ): Promise<boolean> {
    const started = this.started!;
    const pending = this.rows.filter((row) => !row.resumed);
    const rows = pending.filter((row) => started.switchable[row.order]);
    const all = this.options.top !== undefined;
    const others = pending.filter((row) => !started.switchable[row.order]);
    const few = others.length <= FEW_VARIANTS * pending.length;
    if (pending.length === 0) return true;
    if (this.scoring.metric === null || rows.length < others.length) return false;
    // Which rows are given up depends on all others.
    if (all && !few) await variants(new FullSchedule(others));
    const sweep = new SwitchedSweep(
      {
        lane: job,
        started,
        encodings: this.encodings,
        scoring: this.scoring,
        pool: this.model.engine.pool,
        workers,
        signal: this.options.signal,
        allOrNothing: all,
        measured: (row, samples, terms) => {
          row.add(samples, terms);
          this.unscored.add(row);
          if (this.options.onRow !== undefined || row.samples === this.samples.count) void this.heard(core);
        },
        settle: () => this.settle(core),
        runs: (done) => progress.advance(done),
        costs: (costs) => this.costs.add(costs),
      },
      rows,
    );
    const left = await sweep.run(this.schedule(core, few || all ? this.rows : rows, sweep));
    return left.size === 0 && (few || all);
  }

  private schedule(core: Connection, rows: Row[], sweep: SwitchedSweep | null = null): Schedule {
    const { top, confidence } = this.options;
    if (top === undefined) return new FullSchedule(rows);
    const wanted: Top = {
      count: top,
      confidence: confidence ?? DEFAULT_CONFIDENCE,
      sensitivity: (row) => sensitivityOf(row.result.score, this.scoring),
      sensitivities: async (values) => {
        const scores = await scoresOf(core, this.scoring, values, this.started!.scored.length);
        return scores.map(({ score }) => sensitivityOf(score, this.scoring));
      },
    };
    return adaptiveSchedule(rows, wanted, sweep);
  }

  /** One block of samples, on all workers; the number of the sample behind it. */
  private async block(
    core: Connection,
    job: LaneJob,
    schedule: Schedule,
    from: number,
    workers: number,
    progress: ProgressReporter,
  ): Promise<number> {
    const proven = new ProvenCuts(job.cuts.length);
    let to = from;
    const queue = new TaskQueue<Task>(async () => {
      await this.settle(core);
      return schedule.next({ from, to });
    });
    await this.model.engine.pool.run(workers, this.options.signal, async (worker, signal) => {
      const lane = new ScoreLane(job, worker, signal);
      await lane.use(async () => {
        to = await lane.load(from);
        await proven.prove((cut) => lane.proves(cut));
        for (let task = await queue.take(signal); task !== null; task = await queue.take(signal)) {
          const running = this.runTask(
            core,
            lane,
            await this.variant(task.row, proven, lane),
            task,
            progress,
          );
          // Heard at its await below, also if preparing the next one fails first.
          running.catch(() => {});
          const ahead = queue.peek();
          if (ahead !== undefined) job.models.prepare(await this.variant(ahead.row, proven, lane), signal);
          await running;
          queue.done();
        }
      });
    });
    await this.settle(core);
    return to;
  }

  private async variant({ order }: Row, proven: ProvenCuts, lane: ScoreLane): Promise<SweepModel> {
    const cut = await proven.usable(this.started!.cutOf[order] ?? -1, lane.cuts);
    return { kind: 'group', index: order, ...(cut !== null && { cut }) };
  }

  /** Rows whose last task is done, but which have no score of it yet. */
  private unscored = new Set<Row>();

  private async runTask(
    core: Connection,
    lane: ScoreLane,
    what: SweepModel,
    { row, samples }: Task,
    progress: ProgressReporter,
  ): Promise<void> {
    const { metric, user } = this.scoring;
    let ticked = 0;
    const tickTo = (done: number) => {
      progress.advance(done - ticked);
      ticked = Math.max(ticked, done);
    };
    if (metric !== null) {
      const { terms, costs } = await lane.terms(what, 'exact', samples, metric, ({ done, terms: some }) => {
        tickTo(done);
        if (some !== undefined && done > 0 && done < samples.length)
          void this.refine(core, row, samples.slice(0, done), some);
      });
      this.costs.add(costs);
      row.add(samples, terms);
    } else {
      const values: number[] = [];
      await lane.pairs(what, 'exact', samples, async (expected, actual, { index, name }) => {
        values.push(Number(await user!.sample(expected, actual, { index, name })));
        tickTo(values.length);
      });
      row.add(samples, Float64Array.from(values));
    }
    tickTo(samples.length);
    this.unscored.add(row);
    await this.settle(core);
  }

  /** A score with the samples so far of a task that is running; left out if an older one isn't answered yet. */
  private async refine(core: Connection, row: Row, samples: number[], terms: Float64Array): Promise<void> {
    const { onRow } = this.options;
    if (onRow === undefined || this.refining || row.samples > 0) return;
    this.refining = true;
    try {
      const now = new Row(row.group, row.order, undefined);
      now.add(samples, terms);
      const [result] = await scoresOf(core, this.scoring, [now.values()], this.started!.scored.length);
      if (row.samples === 0) onRow(row.public(result, samples.length));
    } catch {
      // The run itself hears of what is wrong.
    } finally {
      this.refining = false;
    }
  }

  private refining = false;

  /** Scores rows while others run; what goes wrong, the next settle() hears of. */
  private async heard(core: Connection): Promise<void> {
    if (this.hearing) return;
    this.hearing = true;
    await this.settle(core).catch(() => {});
    this.hearing = false;
  }

  private hearing = false;

  /** Scores what was measured, in one call for all rows that wait. */
  private async settle(core: Connection): Promise<void> {
    const rows = [...this.unscored];
    if (rows.length === 0) return;
    this.unscored.clear();
    const { length } = this.started!.scored;
    const values = rows.map((row) => row.values());
    // Other lanes add to rows meanwhile.
    const counts = rows.map((row) => row.samples);
    const results = await scoresOf(core, this.scoring, values, length).catch((error) => {
      for (const row of rows) this.unscored.add(row);
      throw error;
    });
    for (const [i, row] of rows.entries()) {
      row.result = results[i]!;
      row.scoredSamples = counts[i]!;
      const told = row.public(row.result, counts[i]);
      this.options.onRow?.(told);
      if (counts[i] === this.samples.count) this.queue.push(told);
    }
  }

  /** The samples of a run that goes on are known only when they were loaded. */
  private async checkSamples(): Promise<void> {
    const known = this.options.resume?.halftone.samples_sha256;
    await this.digests!.seeRest(this.samples);
    if (known === undefined || known === (await this.digests!.all())) return;
    throw new HalftoneError('invalid_state', 'The results to go on from were made with other samples.', {
      next: 'Give the same samples in the same order, or start again without them.',
    });
  }

  async ranked(partial: boolean): Promise<SensitivityResults> {
    const { core } = await this.model.core();
    return resultsOf(core, {
      model: this.model,
      plan: this.plan,
      encodings: this.encodings,
      samples: this.samples,
      options: this.options,
      scoring: this.scoring,
      started: this.started,
      rows: this.rows,
      digests: this.digests,
      warnings: this.warnings,
      partial: partial && !this.ended,
    });
  }
}

/** Of all rows: so few variants need no cuts and samples of their own. */
const FEW_VARIANTS = 0.1;
const DEFAULT_CONFIDENCE = 0.95;
/** A cut costs a session and a run of each sample before it saves variants of their own anything. */
const VARIANTS_PER_CUT = 16;

/** Of all cuts those that pay for so many variants, spread evenly; nothing crosses the others. */
function fewCuts(cuts: string[][], variants: number): string[][] {
  const wanted = Math.max(1, Math.floor(variants / VARIANTS_PER_CUT));
  const step = Math.max(1, Math.ceil((cuts.length - 1) / wanted));
  return cuts.map((tensors, cut) => (cut % step === 0 ? tensors : []));
}
