// The plan follows model and options at once: it is cheap, and everything below it only becomes stale.
import { alarm, announce } from '../state/announce';
import { kDefaultOptions, type Options, planOptions, sameOptions } from '../state/options';
import { isCancel, problemFrom } from '../state/problem';
import { encodings, options, pending, plan, planKey, problem, ranking, saved, session } from '../state/store';

/** Makes the plan that fits the current options. An older answer never replaces a newer one. */
export async function updatePlan(): Promise<void> {
  const current = session.value;
  if (current === null || current.summary.quantized.pairs > 0) return;
  const key = planKey.value;
  pending.value += 1;
  try {
    const value = await current.model.plan(planOptions(options.value));
    if (planKey.value === key) plan.value = { value, key };
  } catch (cause) {
    if (planKey.value !== key || isCancel(cause)) return;
    const failure = problemFrom(cause, 'Planning');
    plan.value = null;
    problem.value = { at: 'plan', problem: failure };
    alarm(`${failure.message} ${failure.next}`);
  } finally {
    pending.value -= 1;
  }
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
