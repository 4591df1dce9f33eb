// The sweep: each quantizer alone, all others off, scored against the float model over all samples.
//
// Each worker takes the next quantizer in site order, builds a session of that variant, and runs all samples. A row depends
// on its own variant only, so neither the number of workers nor the order in which rows come in changes a number.
import { cancelled, HalftoneError } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import type { RankInput, SweepInfo, SweepModel } from '../shared/protocol.js';
import type {
  Encodings,
  Plan,
  SampleSet,
  SensitivityOptions,
  SensitivityResults,
  SensitivityRow,
  SensitivityRun,
  Site,
  Warning,
} from '../types.js';
import type { ModelHandle } from './model.js';
import { ProvenCuts } from './proven_cuts.js';
import { provenanceOf } from './provenance.js';
import { RowQueue } from './row_queue.js';
import { requireSamples } from './sample_feed.js';
import { sampleWarnings } from './sample_warnings.js';
import { ScoreLane } from './score_lane.js';
import { SweepModels } from './sweep_models.js';

const CLIP_DB = 100;
const CLIPPED_SHARE = 1 / 3;

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
    [Symbol.asyncIterator]: () => sweep.rows.iterate(),
    results: async () => {
      await finished;
      return sweep.ranked();
    },
    partial: () => sweep.ranked(),
  };
}

class Sweep {
  readonly rows = new RowQueue<SensitivityRow>();
  private target = 'onnxruntime';
  private scored: string[] = [];
  private skipped: { name: string; why: string }[] = [];
  private warnings: Warning[] = [];

  constructor(
    private readonly model: ModelHandle,
    private readonly encodings: Encodings,
    private readonly samples: SampleSet,
    private readonly options: SensitivityOptions,
  ) {}

  async start(plan: Plan | Promise<Plan>): Promise<void> {
    let release = () => {};
    try {
      this.checkOptions();
      release = this.model.lock.take('a sensitivity run');
      await this.run(await plan);
      this.rows.end(null);
    } catch (error) {
      this.rows.end(error);
      throw error;
    } finally {
      release();
    }
  }

  private checkOptions(): void {
    const { by, metric } = this.options;
    if (by !== undefined && by !== 'quantizer') {
      throw new HalftoneError('invalid_policy', `There is no grouping "${String(by)}".`, {
        next: 'Use by quantizer.',
      });
    }
    if (metric !== undefined && metric !== 'psnr') {
      throw new HalftoneError('invalid_policy', `There is no metric "${String(metric)}".`, {
        next: 'Use psnr.',
      });
    }
    provenanceOf(this.encodings);
    requireSamples(this.samples);
  }

  private async run(plan: Plan): Promise<void> {
    const { signal } = this.options;
    const { core, model } = await this.model.core(this.options);
    const started = await core.call(
      'sweep.start',
      { model, plan, encodings: this.encodings, score: this.options.score ?? '' },
      { signal },
    );
    this.target = plan.target;
    this.scored = started.scored;
    this.skipped = started.skipped;
    try {
      await this.runSites(started, rowSites(plan, started.skipped));
    } finally {
      if (core.connected) await core.call('sweep.end', { sweep: started.sweep }).catch(() => {});
    }
  }

  private async runSites(started: SweepInfo, sites: { site: Site; order: number }[]): Promise<void> {
    const { signal, onProgress } = this.options;
    if (sites.length === 0) {
      throw new HalftoneError('invalid_state', 'The plan has no quantizer that can be scored.', {
        next: 'Quantize at least one weight or activation, and calibrate.',
      });
    }
    const size = this.model.engine.pool.size(this.model.bytes, sites.length);
    this.warnings = [...sampleWarnings(this.samples), ...size.warnings];
    const progress = new ProgressReporter(
      'sensitivity',
      'runs',
      sites.length * this.samples.count,
      onProgress,
    );
    const { inputs } = (await this.model.inspect()).model;
    const models = new SweepModels(this.model, started.sweep);
    const proven = new ProvenCuts(started.cuts.length);
    let next = 0;
    await this.model.engine.pool.run(size.workers, signal, async (worker, laneSignal) => {
      const lane = new ScoreLane(this.model, worker, this.samples, inputs, models, this.scored, laneSignal);
      const variant = async ({ site, order }: { site: Site; order: number }): Promise<SweepModel> => {
        const cut = await proven.usable(started.cutOf[order] ?? -1, lane.cuts);
        return { kind: 'variant', site: site.tensor, ...(cut !== null && { cut }) };
      };
      await lane.use(async () => {
        await lane.keepCuts(started.cuts);
        await proven.prove((cut) => lane.proves(cut));
        while (next < sites.length && !laneSignal.aborted) {
          const entry = sites[next++]!;
          const scoring = lane.score(await variant(entry), 'exact', () => progress.advance(1));
          // Heard at its await below, also if preparing the next one fails first.
          scoring.catch(() => {});
          const ahead = sites[next];
          if (ahead !== undefined) models.prepare(await variant(ahead), laneSignal);
          const { site, order } = entry;
          const role = site.role as 'activation' | 'weight';
          this.rows.push({ name: site.tensor, score: await scoring, role, order });
        }
      });
    });
    if (signal?.aborted) throw cancelled();
    progress.finish();
  }

  async ranked(): Promise<SensitivityResults> {
    const rows = [...this.rows.all()].sort((a, b) => a.order - b.order);
    const results: RankInput = {
      rows: rows.map((row) => ({ name: row.name, score: Number.isNaN(row.score) ? null : row.score })),
      target: this.target,
      method: this.encodings.method,
      metric: 'psnr',
      higher_is_worse: false,
      scored: this.scored,
      samples: this.samples.count,
      by: 'quantizer',
      skipped: this.skipped,
      warnings: [...this.warnings, ...(await this.clipWarning(rows))],
    };
    const { core } = await this.model.core();
    return core.call('rank', { results, file: await this.model.facts() });
  }

  private async clipWarning(rows: SensitivityRow[]): Promise<Warning[]> {
    const clipped = rows.filter((row) => Math.abs(row.score) >= CLIP_DB).length;
    if (clipped <= rows.length * CLIPPED_SHARE) return [];
    const { core, model } = await this.model.core();
    const better = await core.call('scored', { model, choice: '' });
    const other = better.filter((name) => !this.scored.includes(name));
    const advice =
      other.length > 0
        ? `Score ${other.join(', ')} instead, which ${other.length === 1 ? 'does' : 'do'} not saturate.`
        : 'Score a tensor nearer to the quantizers.';
    return [
      {
        code: 'scores_clipped',
        message: `${clipped} of ${rows.length} scores are at the limit of ${CLIP_DB} dB and tell nothing. ${advice}`,
        where: this.scored.join(', '),
      },
    ];
  }
}

/** The sites that get a row: quantized weights and activations that have an encoding, in site order. */
function rowSites(plan: Plan, skipped: { name: string }[]): { site: Site; order: number }[] {
  const without = new Set(skipped.map((entry) => entry.name));
  return plan.sites
    .map((site, order) => ({ site, order }))
    .filter(({ site }) => site.quantized && site.role !== 'bias' && !without.has(site.tensor));
}
