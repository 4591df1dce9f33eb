// The plan follows model and options at once: it is cheap, and everything below it only becomes stale.
import type { Plan } from '../package';
import { alarm, announce } from '../state/announce';
import { kDefaultOptions, type Options, planOptions, sameOptions } from '../state/options';
import { isCancel, problemFrom } from '../state/problem';
import {
  encodings,
  options,
  pending,
  planKey,
  planned,
  problem,
  ranking,
  type Session,
  saved,
  session,
  shapeSamples,
} from '../state/store';

/** Shapes that a run of the first sample told, so that the next plan needs no run. */
let measured: { samples: number; session: number; shapes: [tensor: string, shape: number[]][] } | null = null;

/** Makes the plan that fits the current options. An older answer never replaces a newer one. */
export async function updatePlan(again = false): Promise<void> {
  const current = session.value;
  if (current === null || current.summary.quantized.pairs > 0) return;
  const key = planKey.value;
  pending.value += 1;
  try {
    const value = await makePlan(current);
    if (planKey.value === key) planned.value = { value, key };
  } catch (cause) {
    if (planKey.value !== key) return;
    // A cancelled job may take the worker with it that was running a sample for us.
    if (isCancel(cause)) return again ? undefined : updatePlan(true);
    const failure = problemFrom(cause, 'Planning');
    planned.value = null;
    problem.value = { at: 'plan', problem: failure };
    alarm(`${failure.message} ${failure.next}`);
  } finally {
    pending.value -= 1;
  }
}

async function makePlan({ model, revision }: Session): Promise<Plan> {
  const chosen = planOptions(options.value);
  const known = shapeSamples.value;
  if (known === null) return model.plan(chosen);
  const fits = measured?.session === revision && measured.samples === known.revision;
  const sampleShapes = fits ? (measured?.shapes ?? []) : [];
  try {
    const made = await model.plan({ ...chosen, ...(sampleShapes.length > 0 && { sampleShapes }) }, known.set);
    measured = { session: revision, samples: known.revision, shapes: shapesOf(made) };
    return made;
  } catch (cause) {
    if (isCancel(cause)) throw cause;
    return model.plan(chosen); // What is wrong with the samples is said where they are used.
  }
}

function shapesOf({ options: said }: Plan): [tensor: string, shape: number[]][] {
  const list = said.sample_shapes as { tensor: string; shape: number[] }[] | undefined;
  return (list ?? []).map(({ tensor, shape }) => [tensor, shape]);
}

export async function chooseOptions(change: Partial<Options>): Promise<void> {
  const chosen = { ...options.value, ...change };
  if (sameOptions(chosen, options.value)) return;
  options.value = chosen;
  if (problem.value?.at === 'plan') problem.value = null;
  await updatePlan();
  announce(`The plan was made again.${staleSentence()}`);
}

export function resetOptions(): Promise<void> {
  return chooseOptions(kDefaultOptions);
}

/** Which results no longer belong to the plan, as one sentence. */
export function staleSentence(): string {
  const stale = [
    encodings.value === null ? '' : 'calibration',
    ranking.value === null ? '' : 'sensitivity',
    saved.value === null ? '' : 'the saved model',
  ].filter((what) => what !== '');
  if (stale.length === 0 || encodings.value?.key.startsWith(`${planKey.value}|`)) return '';
  const last = stale.pop() ?? '';
  const list = stale.length === 0 ? last : `${stale.join(', ')} and ${last}`;
  return ` Stale now: ${list}.`;
}
