// One worker's part in scoring: the float outputs of the samples (kept if they fit, computed again if not), then one variant
// after another.
import type { SweepModel } from '../shared/protocol.js';
import type { RunMode } from '../shared/session_options.js';
import type { SampleSet, ValueInfo } from '../types.js';
import type { Connection } from './connection.js';
import type { ModelHandle } from './model.js';
import { SampleFeed } from './sample_feed.js';
import { tidy, withJob, withSession } from './session.js';

export class ScoreLane {
  private readonly feed: SampleFeed;
  /** Set while some float outputs weren't kept. */
  private reference: number | null = null;

  constructor(
    private readonly model: ModelHandle,
    private readonly worker: Connection,
    private readonly samples: SampleSet,
    inputs: readonly ValueInfo[],
    private readonly sweep: number,
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

  /** The worst PSNR over the scored tensors; NaN if it is not a number. */
  score(what: SweepModel, mode: RunMode, tick: () => void): Promise<number> {
    return this.session(what, mode, async (session) => {
      const { signal, worker } = this;
      const { job } = await worker.call('score.start', { tensors: this.scored }, { signal });
      return withJob(worker, job, signal, async () => {
        for (let index = 0; index < this.samples.count; index++) {
          const { sample, transfer } = await this.feed.repeated(index, { signal });
          await worker.call(
            'score.feed',
            { job, session, reference: this.reference, sample },
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
    const { core } = await this.model.core({ signal: this.signal });
    const skeleton = await core.call('sweep.model', { sweep: this.sweep, what }, { signal: this.signal });
    return withSession(this.worker, skeleton, this.model.files, mode, this.signal, use);
  }
}
