// One worker's part in a sweep of switched parts: it loads the samples that it is given, with their float outputs, opens parts, and
// runs rows of them.
import type { MetricChoice, SampleRef, Shapes } from '../../../shared/protocol.js';
import type { RunCosts, Sample } from '../../../types.js';
import type { Connection } from '../../connection.js';
import { SampleFeed } from '../../sample_feed.js';
import { buffersOf, tidy } from '../../session.js';
import type { LaneJob, RunProgress } from '../score_lane.js';
import type { Part, PartModels, RunPrices } from './parts.js';

export interface PartRun {
  equal: boolean;
  exact: boolean[];
  /** [row][sample][tensor][TERMS] */
  terms: Float64Array;
  costs: RunCosts;
}

export class SwitchedLane {
  /** Measured at the first sample. */
  prices: RunPrices = { create: 0, run: 0 };
  /** Of the first sample. */
  bytesPerSample = 0;
  /** Of the scored tensors, for the first sample. */
  scoredBytes = 0;
  /** The shapes of the last sample's inputs; null after samples of different shapes. */
  shapes: Shapes | null = [];
  private readonly loaded = new Map<number, SampleRef>();
  private readonly open = new Map<Part, number>();
  /** What making a part's session took, until a run of it tells. */
  private readonly uncounted = new Map<Part, number>();
  private readonly feed: SampleFeed;
  /** Of what runs now. */
  signal = new AbortController().signal;
  private float: number | null = null;

  constructor(
    private readonly job: LaneJob,
    private readonly encodings: Record<string, string>,
    readonly worker: Connection,
    /** Sessions that may be open at a time, so that a worker's copies of the weights stay bounded. */
    private readonly most: number,
  ) {
    this.feed = new SampleFeed(worker, job.samples, job.inputs);
  }

  has(sample: number): boolean {
    return this.loaded.has(sample);
  }

  /** Brings samples here that aren't, with their float outputs. */
  async load(samples: readonly number[]): Promise<void> {
    for (const index of samples) if (!this.loaded.has(index)) await this.loadFloat(index);
  }

  async run(
    part: Part,
    models: PartModels,
    rows: readonly { sites: string[]; cut: number }[],
    samples: readonly number[],
    metric: MetricChoice,
    onProgress: (progress: RunProgress) => void,
  ): Promise<PartRun> {
    const { signal } = this;
    const { borders } = await models.get(part);
    const number = await this.opened(part, models);
    const request = {
      part: number,
      rows: rows.map(({ sites, cut }) => ({
        sites,
        skips: borders.filter((border) => border.cut <= cut).length,
      })),
      samples: this.refs(samples),
      tensors: this.job.scored,
      metric,
    };
    const run = await this.worker.call('switched.run', request, { signal, onProgress });
    const createMs = this.uncounted.get(part);
    this.uncounted.delete(part);
    if (createMs !== undefined) {
      run.costs.sessions = 1;
      run.costs.create_ms = createMs;
    }
    return run;
  }

  /** The whole model with a group's sites on, in a session of its own: for what can't be switched. */
  async variant(
    index: number,
    samples: readonly number[],
    metric: MetricChoice,
  ): Promise<{ terms: Float64Array; costs: RunCosts }> {
    const { job, signal } = this;
    const model = await job.models.take({ kind: 'group', index }, signal);
    const request = {
      model,
      files: job.model.files,
      mode: 'exact' as const,
      tensors: job.scored,
      samples: this.refs(samples),
      cut: null,
      metric,
    };
    return this.worker.call('score.run', request, { signal, transfer: buffersOf(model) });
  }

  /** Samples of a block that is done go; sessions stay. */
  async forget(): Promise<void> {
    this.loaded.clear();
    await tidy(this.worker, 'reset', null, this.signal);
  }

  /** Leaves the worker as it was. */
  async end(): Promise<void> {
    await Promise.all([this.closeSessions(), this.forget()]);
  }

  async closeSessions(): Promise<void> {
    await Promise.all([this.closeLoading(), ...[...this.open.keys()].map((part) => this.close(part))]);
  }

  private get sessions(): number {
    return this.open.size + (this.float === null ? 0 : 1);
  }

  private async loadFloat(index: number): Promise<void> {
    const { signal, job } = this;
    const first = this.float === null && this.bytesPerSample === 0;
    const start = performance.now();
    this.float ??= await this.createFloat();
    const created = performance.now();
    const put = await this.feed.keep(index, { signal }, (sample) => {
      this.see(sample);
      return job.seen(index, sample);
    });
    const request = { session: this.float, which: 'float' as const, tensors: job.scored, sample: put.sample };
    const fed = performance.now();
    const { bytes } = await this.worker.call('reference.feed', request, { signal });
    this.prices.run = performance.now() - fed;
    if (first) {
      this.prices.create = created - start;
      this.bytesPerSample = put.bytes + bytes;
      this.scoredBytes = bytes;
    }
    this.loaded.set(index, put.sample);
  }

  private see(sample: Sample): void {
    const shapes: Shapes = Object.entries(sample).map(([name, { dims }]) => [name, [...dims]]);
    const first = this.loaded.size === 0;
    if (!first && JSON.stringify(shapes) !== JSON.stringify(this.shapes)) this.shapes = null;
    else this.shapes = shapes;
  }

  /** Of samples that are here. */
  refs(samples: readonly number[]): SampleRef[] {
    return samples.map((sample) => this.loaded.get(sample)!);
  }

  private async createFloat(): Promise<number> {
    const skeleton = await this.job.models.take({ kind: 'float' }, this.signal);
    const { files } = this.job.model;
    const options = { signal: this.signal, transfer: buffersOf(skeleton) };
    const { session } = await this.worker.call(
      'session.create',
      { model: skeleton, files, mode: 'exact' },
      options,
    );
    return session;
  }

  /** The worker's number of a part, which is opened if it isn't. */
  async opened(part: Part, models: PartModels): Promise<number> {
    const known = this.open.get(part);
    if (known !== undefined) return known;
    const { switches, start, feeds, borders, ...model } = await models.get(part);
    while (this.sessions >= this.most && this.open.size > 0) await this.close([...this.open.keys()][0]!);
    if (this.sessions >= this.most) await this.closeLoading();
    const encodings = Object.fromEntries(
      switches.flatMap(({ tensor, kind }) => (kind === 'values' ? [] : [[tensor, this.encodings[tensor]!]])),
    );
    const { files } = this.job.model;
    const request = {
      model,
      files,
      mode: 'exact' as const,
      switches,
      stages: { start, feeds, borders },
      encodings,
    };
    const began = performance.now();
    const { part: number } = await this.worker.call('switched.open', request, { signal: this.signal });
    this.uncounted.set(part, performance.now() - began);
    this.open.set(part, number);
    return number;
  }

  async close(part: Part): Promise<void> {
    const number = this.open.get(part);
    this.open.delete(part);
    if (number !== undefined) await tidy(this.worker, 'switched.close', { part: number }, this.signal);
  }

  private async closeLoading(): Promise<void> {
    const session = this.float;
    this.float = null;
    if (session !== null) await tidy(this.worker, 'session.release', { session }, this.signal);
  }
}
