// The sweep: its rows as they come, what is kept of one that was stopped, and going on from there.
import type { Model, SensitivityResults, SensitivityRow, SensitivityRun } from '../package';
import { announce } from '../state/announce';
import {
  calibrated,
  keptRankings,
  pending,
  planned,
  type Ranking,
  ranking,
  rankingKey,
  rowSites,
  samples,
  session,
  sweep,
} from '../state/store';
import { kRowWords, measureOf, type SweepChoice, sweepKey, sweepOptions } from '../state/sweep';
import { counted } from '../text/format';
import { type JobContext, type Outcome, runJob } from './job';

const kKept = 16;

/** One sweep with what is known of it. */
interface Sweep {
  readonly key: string;
  readonly choice: SweepChoice;
  readonly rows: Map<string, SensitivityRow>;
  readonly total: number | null;
}

function show(
  { key, choice, rows, total }: Sweep,
  results: SensitivityResults | null,
  complete: boolean,
): void {
  const { k, higher_is_worse: worse } = results?.halftone ?? {};
  const measure = {
    ...measureOf(choice),
    ...(k !== undefined && { k }),
    ...(worse !== undefined && { higherIsWorse: worse }),
  };
  const value: Ranking = { rows: [...rows.values()], total, choice, measure, results, complete };
  ranking.value = { value, key };
  if (results === null) return;
  keptRankings.delete(key);
  keptRankings.set(key, ranking.value);
  const [oldest] = keptRankings.keys();
  if (keptRankings.size > kKept && oldest !== undefined) keptRankings.delete(oldest);
}

/** Another sweep is shown at once where it was run before; otherwise the old one stays, marked as stale. */
export function chooseSweep(part: Partial<SweepChoice>): void {
  sweep.value = { ...sweep.value, ...part };
  const kept = keptRankings.get(rankingKey.value);
  if (kept !== undefined) ranking.value = kept;
}

/** What a stopped sweep of this very kind left to go on from. */
export function resumable(): Ranking | null {
  const made = ranking.value;
  return made !== null && made.key === rankingKey.value && !made.value.complete && made.value.results !== null
    ? made.value
    : null;
}

function totalOf({ by, only }: SweepChoice): number | null {
  if (by !== 'quantizer') return null;
  if (only === 'all') return rowSites.value.length;
  return rowSites.value.filter(({ role }) => (role === 'weight') === (only === 'weights')).length;
}

export async function rank(): Promise<Outcome> {
  const [model, made, set] = [session.value?.model, planned.value?.value, samples.value?.set];
  const found = calibrated.value;
  if (model === undefined || made === undefined || set === undefined || found === null) return 'failed';
  const choice = sweep.value;
  const before = resumable();
  const own: Sweep = {
    key: `${found.key}|${sweepKey(choice)}`,
    choice,
    rows: new Map(before?.rows.map((row) => [row.name, row])),
    total: totalOf(choice),
  };
  const outcome = await runJob('sensitivity', 'Ranking', async (context) => {
    show(own, null, false);
    await collect(model, made, found.value, set, own, before?.results ?? null, context);
  });
  const rows = [...own.rows.values()].filter((row) => row.samples === set.count).length;
  const word = kRowWords[choice.by];
  if (outcome === 'done') announce(`Ranked ${counted(rows, word)}.`);
  if (outcome === 'cancelled' && rows > 0)
    announce(`Cancelled. ${own.total === null ? rows : `${rows} of ${own.total}`} rows are kept.`);
  return outcome;
}

/** Rows appear at most once a frame, however fast they come. */
async function collect(
  model: Model,
  ...[plan, encodings, set, own, resume, { signal, onProgress }]: [
    Parameters<Model['sensitivity']>[0],
    Parameters<Model['sensitivity']>[1],
    Parameters<Model['sensitivity']>[2],
    Sweep,
    SensitivityResults | null,
    JobContext,
  ]
): Promise<void> {
  let scheduled = false;
  let ended = false;
  const onRow = (row: SensitivityRow): void => {
    own.rows.set(row.name, row);
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(() => {
      scheduled = false;
      if (!ended && ranking.value?.key === own.key) show(own, null, false);
    });
  };
  const given = { ...sweepOptions(own.choice), ...(resume !== null && { resume }) };
  const run = model.sensitivity(plan, encodings, set, { ...given, signal, onProgress, onRow });
  try {
    for await (const row of run) onRow(row);
    const results = await run.results();
    ended = true;
    show(own, results, true);
  } catch (cause) {
    ended = true;
    void keepPartial(run, own);
    if (!signal.aborted) throw cause;
    throw new DOMException('Cancelled.', 'AbortError');
  }
}

/** What is complete stays; a cancel is answered before it is ranked. */
async function keepPartial(run: SensitivityRun, own: Sweep): Promise<void> {
  if (own.rows.size === 0) {
    ranking.value = null;
    return;
  }
  show(own, null, false);
  const shown = ranking.value;
  pending.value += 1;
  const results = await run.partial().catch(() => null);
  pending.value -= 1;
  if (ranking.value !== shown || results === null) return;
  // A row of some of its samples is no result: a later run makes it anew.
  const complete = new Set(results.ranking.map(({ name }) => name));
  for (const name of own.rows.keys()) if (!complete.has(name)) own.rows.delete(name);
  show(own, results, false);
}
