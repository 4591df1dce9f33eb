// One worker's part in scoring: it loads a block of samples with their outputs and the values at cuts, then runs one variant
// after another over samples of the block.
import type {
  MetricChoice,
  Reference,
  SampleRef,
  SessionRequest,
  SweepModel,
} from '../../shared/protocol.js';
import type { RunMode } from '../../shared/session_options.js';
import type { Progress, RunCosts, Sample, SampleSet, ValueInfo } from '../../types.js';
import type { Connection } from '../connection.js';
import type { ModelHandle } from '../model.js';
import { SampleFeed } from '../sample_feed.js';
import { buffersOf, tidy, withSession } from '../session.js';
import { roomFor, roomWithCuts } from './block.js';
import type { SweepModels } from './sweep_models.js';

/** What the lanes of one sweep have in common. */
export interface LaneJob {
  model: ModelHandle;
  samples: SampleSet;
  inputs: readonly ValueInfo[];
  models: SweepModels;
  scored: string[];
  /** The tensors that cross each cut; none at one that isn't used, and no cuts where variants run whole. */
  cuts: string[][];
  /** What variants differ from by their group only. */
  base: Reference;
  /** Sees every sample that is loaded. */
  seen(index: number, sample: Sample): Promise<void>;
}

/** Terms of the samples that were run so far ride along with progress. */
export type RunProgress = Progress & { terms?: Float64Array };

export class ScoreLane {
  private block: SampleRef[] = [];
  private first = 0;
  private readonly kept = new Set<number>();
  private readonly feed: SampleFeed;

  constructor(
    private readonly job: LaneJob,
    private readonly worker: Connection,
    private readonly signal: AbortSignal,
  ) {
    this.feed = new SampleFeed(worker, job.samples, job.inputs);
  }

  /** Runs `work`, and leaves the worker as it was. */
  async use(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } finally {
      await tidy(this.worker, 'reset', null, this.signal);
    }
  }

  /** The cuts whose values for all samples of the block are in this worker. */
  get cuts(): ReadonlySet<number> {
    return this.kept;
  }

  /**
   * Loads as many samples as fit, from number `from` on; returns the number behind the last. The same on every lane, since
   * it depends on sizes only. One session is open at a time, so that a worker holds one copy of the weights.
   */
  async load(from: number): Promise<number> {
    this.first = from;
    let bytes = 0;
    let to = this.job.samples.count;
    await this.session({ kind: 'float' }, 'exact', async (session) => {
      for (let index = from; index < to; index++) {
        const { signal } = this;
        const put = await this.feed.keep(index, { signal }, (sample) => this.job.seen(index, sample));
        this.block.push(put.sample);
        const outputs = await this.keepOutputs(session, 'float', put.sample);
        if (index > from) continue;
        bytes = put.bytes + outputs * (this.job.base === 'base' ? 2 : 1);
        to = Math.min(to, from + roomFor(bytes, this.job.cuts.length > 0));
      }
    });
    if (this.job.cuts.length > 0) await this.keepCuts(bytes);
    if (this.job.base === 'base') await this.keepBase();
    return from + this.block.length;
  }

  /** Whether the base behind a cut gives the base's outputs, bit for bit, for all samples of the block. */
  async proves(cut: number): Promise<boolean> {
    if (!this.kept.has(cut)) return false;
    const { request, transfer } = await this.request({ kind: 'base', cut }, 'exact');
    const { base: which, scored: tensors } = this.job;
    const { equal } = await this.worker.call(
      'cuts.prove',
      { ...request, cut, which, tensors, samples: this.block },
      { signal: this.signal, transfer },
    );
    return equal;
  }

  /** The metric's terms of each of `samples`, [sample][tensor][TERMS]. */
  async terms(
    what: SweepModel,
    mode: RunMode,
    samples: readonly number[],
    metric: MetricChoice,
    onRun: (progress: RunProgress) => void,
  ): Promise<{ terms: Float64Array; costs: RunCosts }> {
    const { request, transfer } = await this.request(what, mode);
    return this.worker.call(
      'score.run',
      { ...request, tensors: this.job.scored, samples: this.loaded(samples), cut: cutOf(what), metric },
      { signal: this.signal, transfer, onProgress: onRun },
    );
  }

  /** For a metric outside of the core: both models' outputs, sample by sample. */
  pairs(
    what: SweepModel,
    mode: RunMode,
    samples: readonly number[],
    use: (expected: Sample, actual: Sample, sample: SampleRef) => Promise<void>,
  ): Promise<void> {
    return this.session(what, mode, async (session) => {
      for (const sample of this.loaded(samples)) {
        const { signal } = this;
        const request = { session, sample, tensors: this.job.scored, cut: cutOf(what) };
        const { expected, actual } = await this.worker.call('score.pair', request, { signal });
        await use(expected, actual, sample);
      }
    });
  }

  private loaded(samples: readonly number[]): SampleRef[] {
    return samples.map((index) => this.block[index - this.first]!);
  }

  private async keepOutputs(session: number, which: Reference, sample: SampleRef): Promise<number> {
    const { signal } = this;
    const request = { session, which, tensors: this.job.scored, sample };
    return (await this.worker.call('reference.feed', request, { signal })).bytes;
  }

  private keepBase(): Promise<void> {
    return this.session({ kind: 'base' }, 'exact', async (session) => {
      for (const sample of this.block) await this.keepOutputs(session, 'base', sample);
    });
  }

  private async keepCuts(bytes: number): Promise<void> {
    const { signal } = this;
    let wanted = this.job.cuts
      .map((tensors, cut) => ({ cut, tensors }))
      .filter(({ tensors }) => tensors.length > 0);
    await this.session({ kind: 'cuts' }, 'exact', async (session) => {
      for (let at = 0; at < this.block.length && wanted.length > 0; at++) {
        const request = { session, cuts: wanted, sample: this.block[at]! };
        const { bytes: sizes } = await this.worker.call('cuts.keep', request, { signal });
        if (at > 0) continue;
        const room = roomWithCuts(
          bytes,
          wanted.map(({ cut }, i) => ({ cut, bytes: sizes[i]! })),
        );
        const dropped = wanted.map(({ cut }) => cut).filter((cut) => !room.kept.includes(cut));
        if (dropped.length > 0) await this.worker.call('cuts.forget', { cuts: dropped }, { signal });
        wanted = wanted.filter(({ cut }) => room.kept.includes(cut));
        this.block.length = Math.min(this.block.length, room.samples);
      }
    });
    for (const { cut } of wanted) this.kept.add(cut);
  }

  private async session<T>(
    what: SweepModel,
    mode: RunMode,
    use: (session: number) => Promise<T>,
  ): Promise<T> {
    const skeleton = await this.job.models.take(what, this.signal);
    return withSession(this.worker, skeleton, this.job.model.files, mode, this.signal, use);
  }

  private async request(
    what: SweepModel,
    mode: RunMode,
  ): Promise<{ request: SessionRequest; transfer: ArrayBuffer[] }> {
    const model = await this.job.models.take(what, this.signal);
    return { request: { model, files: this.job.model.files, mode }, transfer: buffersOf(model) };
  }
}

function cutOf(what: SweepModel): number | null {
  return what.kind === 'group' || what.kind === 'base' ? (what.cut ?? null) : null;
}
