// The long steps: calibrate, rank. Each says what it does, can be cancelled, and keeps what is complete.
import type { SensitivityResults, SensitivityRow, SensitivityRun } from '../package';
import { announce } from '../state/announce';
import {
  encodings,
  encodingsKey,
  pending,
  plan,
  ranking,
  rowSites,
  samples,
  session,
  states,
  step,
} from '../state/store';
import { counted } from '../text/format';
import { type JobContext, type Outcome, runJob } from './job';

export async function calibrate(): Promise<Outcome> {
  const [model, made, set] = [session.value?.model, plan.value?.value, samples.value?.set];
  if (model === undefined || made === undefined || set === undefined) return 'failed';
  const key = encodingsKey.value;
  const outcome = await runJob('calibrate', 'Calibrating', async ({ signal, onProgress }) => {
    const value = await model.calibrate(made, set, { signal, onProgress, method: 'minmax' });
    encodings.value = { value, key };
  });
  if (outcome === 'done') announce(`Calibrated with ${counted(set.count, 'sample')}.`);
  return outcome;
}

export async function rank(): Promise<Outcome> {
  const [model, made, set] = [session.value?.model, plan.value?.value, samples.value?.set];
  const found = encodings.value;
  if (model === undefined || made === undefined || set === undefined || found === null) return 'failed';
  const key = found.key;
  const total = rowSites.value.length;
  const outcome = await runJob('sensitivity', 'Ranking', async (context) => {
    ranking.value = { value: { rows: [], total, results: null, complete: false }, key };
    const run = model.sensitivity(made, found.value, set, {
      signal: context.signal,
      onProgress: context.onProgress,
      by: 'quantizer',
      metric: 'psnr',
    });
    await collect(run, key, total, context);
  });
  const rows = ranking.value?.value.rows.length ?? 0;
  if (outcome === 'done') announce(`Ranked ${counted(rows, 'quantizer')}.`);
  if (outcome === 'cancelled' && rows > 0) announce(`Cancelled. ${rows} of ${total} rows are kept.`);
  return outcome;
}

/** Rows appear at most once a frame, however fast they come. */
async function collect(
  run: SensitivityRun,
  key: string,
  total: number,
  { signal }: JobContext,
): Promise<void> {
  const rows: SensitivityRow[] = [];
  let scheduled = false;
  let ended = false;
  const show = (): void => {
    scheduled = false;
    if (!ended && ranking.value?.key === key) {
      ranking.value = { value: { rows: rows.slice(), total, results: null, complete: false }, key };
    }
  };
  try {
    for await (const row of run) {
      rows.push(row);
      if (!scheduled) {
        scheduled = true;
        requestAnimationFrame(show);
      }
    }
    const results = await run.results();
    ended = true;
    ranking.value = { value: { rows, total, results, complete: true }, key };
  } catch (cause) {
    ended = true;
    void keepPartial(run, rows, key, total);
    if (!signal.aborted) throw cause;
    throw new DOMException('Cancelled.', 'AbortError');
  }
}

/** What is complete stays; a cancel is answered before it is ranked. */
async function keepPartial(
  run: SensitivityRun,
  rows: SensitivityRow[],
  key: string,
  total: number,
): Promise<void> {
  const show = (results: SensitivityResults | null): void => {
    ranking.value = rows.length === 0 ? null : { value: { rows, total, results, complete: false }, key };
  };
  show(null);
  if (rows.length === 0) return;
  const shown = ranking.value;
  pending.value += 1;
  const results = await run.partial().catch(() => null);
  pending.value -= 1;
  if (ranking.value === shown) show(results);
}

/** Whatever is missing or stale up to the ranking, in order. */
export async function runAll(): Promise<void> {
  if (states.value.calibrate !== 'done') {
    step.value = 'calibrate';
    if ((await calibrate()) !== 'done') return;
  }
  step.value = 'sensitivity';
  if (states.value.sensitivity !== 'done') await rank();
}
