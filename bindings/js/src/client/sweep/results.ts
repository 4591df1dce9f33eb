// The results file of a sweep, from what was measured so far; the core ranks, completes and checks it.
import type { SweepInfo } from '../../shared/protocol.js';
import type {
  Encodings,
  Plan,
  SampleSet,
  SensitivityOptions,
  SensitivityResults,
  Warning,
} from '../../types.js';
import type { Connection } from '../connection.js';
import type { ModelHandle } from '../model.js';
import { groupingName } from './grouping.js';
import { identityOf, type SampleDigests } from './identity.js';
import type { Row } from './rows.js';
import type { Scoring } from './scoring.js';

export interface Measured {
  model: ModelHandle;
  plan: Plan | null;
  encodings: Encodings;
  samples: SampleSet;
  options: SensitivityOptions;
  scoring: Scoring;
  started: SweepInfo | null;
  rows: Row[];
  digests: SampleDigests | null;
  warnings: Warning[];
  partial: boolean;
}

/** Of a run for the top only, rows of fewer samples are told apart: they aren't ranked among the others. */
export async function resultsOf(core: Connection, run: Measured): Promise<SensitivityResults> {
  const { plan, started, scoring, options, digests } = run;
  const all = run.samples.count;
  const complete = run.rows.filter((row) => (row.resumed || row.scoredSamples) === all);
  const early = options.top === undefined || run.partial ? [] : run.rows.filter((row) => row.samples < all);
  const file = await run.model.facts();
  const identity =
    plan === null || digests === null ? {} : await identityOf(core, plan, run.encodings, digests);
  const { shard, only } = options;
  const block: SensitivityResults['halftone'] = {
    version: '',
    model_sha256: file.sha256,
    ...identity,
    target: plan?.target ?? '',
    method: run.encodings.method,
    metric: scoring.name,
    ...(scoring.k !== null && { k: scoring.k }),
    higher_is_worse: scoring.higherIsWorse,
    scored: started?.scored ?? [],
    samples: all,
    by: groupingName(options.by),
    sweep: options.sweep ?? 'enable',
    ...(only !== undefined && { only }),
    interval: complete.map((row) => row.result.interval),
    ...((shard !== undefined || run.partial) && {
      order: complete.map((row) => row.order),
      groups: started?.groups.length ?? 0,
    }),
    // The core warns with it, and writes it only into shards, where no one knows yet.
    unsaturated: started?.unsaturated ?? [],
    ...(shard !== undefined && { shard }),
    ...(run.partial && { partial: true }),
    skipped: [
      ...(started?.skipped ?? []),
      ...early.map((row) => ({ name: row.group.key, why: givenUp(row, all, options) })),
    ],
    warnings: run.warnings,
  };
  const ranking = complete.map((row, index) => ({
    rank: index + 1,
    name: row.group.key,
    score: row.result.score,
    ...(row.group.detail !== '' && { detail: row.group.detail }),
  }));
  return core.call('rank', { results: { ranking, halftone: block } });
}

function givenUp(row: Row, all: number, { top, confidence }: SensitivityOptions): string {
  const score = row.result.score === null ? 'no number' : row.result.score.toPrecision(6);
  const percent = 100 * (confidence ?? 0.95);
  return `after ${row.samples} of ${all} samples its score is ${score}: not among the worst ${top} (${percent} %)`;
}
