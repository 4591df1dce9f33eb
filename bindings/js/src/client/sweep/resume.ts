// Going on from results of an earlier, stopped run.
import { HalftoneError } from '../../shared/errors.js';
import type { FileFacts, SweepInfo } from '../../shared/protocol.js';
import type { Encodings, Plan, SensitivityOptions, SensitivityResults } from '../../types.js';
import type { Connection } from '../connection.js';
import { groupingName } from './grouping.js';
import { identityOf, SampleDigests } from './identity.js';
import type { Row } from './rows.js';
import type { Scoring } from './scoring.js';

export interface RunFacts {
  plan: Plan;
  encodings: Encodings;
  scoring: Scoring;
  started: SweepInfo;
  options: SensitivityOptions;
  samples: number;
  facts: FileFacts;
}

/** Refuses results of another run. Their samples are compared when this run has read its own. */
export async function checkResumable(
  core: Connection,
  { halftone: from }: SensitivityResults,
  run: RunFacts,
): Promise<void> {
  const { plan_sha256, encodings_sha256 } = await identityOf(
    core,
    run.plan,
    run.encodings,
    new SampleDigests(core),
  );
  const { sweep, only, shard } = run.options;
  const pairs: [string, unknown, unknown][] = [
    ['model', from.model_sha256, run.facts.sha256],
    ['plan', from.plan_sha256, plan_sha256],
    ['encodings', from.encodings_sha256, encodings_sha256],
    ['metric', from.metric, run.scoring.name],
    ['k', from.k, run.scoring.k ?? undefined],
    ['grouping', from.by, groupingName(run.options.by)],
    ['kind of sweep', from.sweep ?? 'enable', sweep ?? 'enable'],
    ['choice of quantizers', from.only, only],
    ['scored tensors', JSON.stringify(from.scored), JSON.stringify(run.started.scored)],
    ['number of samples', from.samples, run.samples],
    ['shard', JSON.stringify(from.shard), JSON.stringify(shard)],
  ];
  const other = pairs.find(([, a, b]) => a !== b);
  if (other === undefined) return;
  throw new HalftoneError('invalid_state', `The results to go on from are of another ${other[0]}.`, {
    next: 'Use the same files and options as then, or start again without them.',
  });
}

/** Gives rows what they have in the results, where that is of all samples; the rows that got it. */
export function resume(rows: Row[], { ranking, halftone }: SensitivityResults, samples: number): Row[] {
  const known = new Map(ranking.map((row, index) => [row.name, { ...row, index }]));
  return rows.filter((row) => {
    const found = known.get(row.group.key);
    if (found === undefined || (halftone.samples_used?.[found.index] ?? samples) !== samples) return false;
    row.result = { score: found.score, interval: halftone.interval[found.index] ?? null };
    row.resumed = samples;
    return true;
  });
}
