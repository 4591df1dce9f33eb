// One worker's part in scoring: the float outputs of the samples (kept if they fit, computed again if not), then one variant
// after another.
import {
  CUT_BUDGET_BYTES,
  type SampleRef,
  type SessionRequest,
  type SweepModel,
} from '../shared/protocol.js';
import type { RunMode } from '../shared/session_options.js';
import type { SampleSet, ValueInfo } from '../types.js';
import type { Connection } from './connection.js';
import type { ModelHandle } from './model.js';
import { SampleFeed } from './sample_feed.js';
import { buffersOf, tidy, withJob, withSession } from './session.js';
import type { SweepModels } from './sweep_models.js';

export class ScoreLane {
  private readonly feed: SampleFeed;
  /** Set while some float outputs weren't kept. */
  private reference: number | null = null;
  private readonly kept = new Set<number>();

  constructor(
    private readonly model: ModelHandle,
    private readonly worker: Connection,
    private readonly samples: SampleSet,
    inputs: readonly ValueInfo[],
    private readonly models: SweepModels,
    private readonly scored: string[],
    private readonly signal: AbortSignal,
  ) {
    this.feed = new SampleFeed(worker, samples, inputs);
  }

  /**
   * Prepares the float outputs, runs `work`, and leaves the worker as it was. The float session is closed before `work` if
   * all outputs could be kept, so that a worker holds one copy of the weights, not two.
   */
  async use(work: () => Promise<void>): Promise<void> {
    try {
      const all = await this.session({ kind: 'float' }, 'exact', async (session) => {
        if (await this.keepReference(session)) return true;
        this.reference = session;
        await work();
        return false;
      });
      if (all) await work();
    } finally {
      this.reference = null;
      await tidy(this.worker, 'reset', null, this.signal);
    }
  }

  /** The cuts whose values for all samples are in this worker. */
  get cuts(): ReadonlySet<number> {
    return this.kept;
  }

  /** Keeps what crosses the cuts, for as many cuts as have room for all samples. None if float outputs had no room. */
  async keepCuts(cuts: string[][]): Promise<void> {
    if (cuts.length === 0 || this.reference !== null) return;
    const { signal, worker } = this;
    let wanted = cuts.map((tensors, cut) => ({ cut, tensors }));
    await this.session({ kind: 'cuts' }, 'exact', async (session) => {
      for (let index = 0; index < this.samples.count && wanted.length > 0; index++) {
        const { sample, transfer } = await this.feed.repeated(index, { signal });
        const { bytes } = await worker.call(
          'cuts.keep',
          { session, cuts: wanted, sample },
          { signal, transfer },
        );
        const sizes = new Map(wanted.map(({ cut }, i) => [cut, bytes[i]!]));
        wanted = fitting(wanted, sizes, index === 0 ? this.samples.count : 1);
      }
    });
    for (const { cut } of wanted) this.kept.add(cut);
  }

  /** Whether the float model behind a cut gives the float outputs, bit for bit, for all samples. */
  async proves(cut: number): Promise<boolean> {
    const samples = this.keptSamples();
    if (!this.kept.has(cut) || samples === null) return false;
    const { request, transfer } = await this.request({ kind: 'float', cut }, 'exact');
    const { equal } = await this.worker.call(
      'cuts.prove',
      { ...request, cut, tensors: this.scored, samples },
      { signal: this.signal, transfer },
    );
    return equal;
  }

  /** The worst PSNR over the scored tensors; NaN if it is not a number. */
  async score(what: SweepModel, mode: RunMode, tick: () => void): Promise<number> {
    const cut = what.kind === 'variant' ? (what.cut ?? null) : null;
    const samples = this.keptSamples();
    return samples === null
      ? this.scoreFed(what, mode, cut, tick)
      : this.scoreKept(what, mode, cut, samples, tick);
  }

  /** All samples, if they and their float outputs are in the worker. */
  private keptSamples(): SampleRef[] | null {
    return this.reference === null ? this.feed.allKept() : null;
  }

  private async scoreKept(
    what: SweepModel,
    mode: RunMode,
    cut: number | null,
    samples: SampleRef[],
    tick: () => void,
  ): Promise<number> {
    const { request, transfer } = await this.request(what, mode);
    let ticked = 0;
    const tickTo = (done: number) => {
      for (; ticked < done; ticked++) tick();
    };
    const { score } = await this.worker.call(
      'score.kept',
      { ...request, tensors: this.scored, samples, cut },
      { signal: this.signal, transfer, onProgress: ({ done }) => tickTo(done) },
    );
    tickTo(samples.length);
    return score ?? Number.NaN;
  }

  private scoreFed(what: SweepModel, mode: RunMode, cut: number | null, tick: () => void): Promise<number> {
    return this.session(what, mode, async (session) => {
      const { signal, worker } = this;
      const { job } = await worker.call('score.start', { tensors: this.scored }, { signal });
      return withJob(worker, job, signal, async () => {
        for (let index = 0; index < this.samples.count; index++) {
          const { sample, transfer } = await this.feed.repeated(index, { signal });
          await worker.call(
            'score.feed',
            { job, session, reference: this.reference, sample, cut },
            { signal, transfer },
          );
          tick();
        }
        const { score } = await worker.call('score.end', { job }, { signal });
        return score ?? Number.NaN;
      });
    });
  }

  private async keepReference(session: number): Promise<boolean> {
    for (let index = 0; index < this.samples.count; index++) {
      const { sample, transfer } = await this.feed.repeated(index, { signal: this.signal });
      const { kept } = await this.worker.call(
        'reference.feed',
        { session, tensors: this.scored, sample },
        { signal: this.signal, transfer },
      );
      if (!kept) return false;
    }
    return true;
  }

  private async session<T>(
    what: SweepModel,
    mode: RunMode,
    use: (session: number) => Promise<T>,
  ): Promise<T> {
    const skeleton = await this.models.take(what, this.signal);
    return withSession(this.worker, skeleton, this.model.files, mode, this.signal, use);
  }

  private async request(
    what: SweepModel,
    mode: RunMode,
  ): Promise<{ request: SessionRequest; transfer: ArrayBuffer[] }> {
    const model = await this.models.take(what, this.signal);
    return { request: { model, files: this.model.files, mode }, transfer: buffersOf(model) };
  }
}

/** The smallest first, as many as have room for `samples` samples of the sizes seen; those without a size had none. */
function fitting<T extends { cut: number }>(
  cuts: T[],
  sizes: ReadonlyMap<number, number | null>,
  samples: number,
): T[] {
  const size = (cut: T) => sizes.get(cut.cut) ?? Number.POSITIVE_INFINITY;
  let room = CUT_BUDGET_BYTES;
  const chosen = new Set<T>();
  for (const cut of [...cuts].sort((a, b) => size(a) - size(b))) {
    room -= size(cut) * samples;
    if (room >= 0) chosen.add(cut);
  }
  return cuts.filter((cut) => chosen.has(cut));
}
