// Calibrating, and whatever is missing up to the ranking.
import { announce } from '../state/announce';
import { calibrated, encodingsKey, planned, samples, session, states, step } from '../state/store';
import { counted } from '../text/format';
import { type Outcome, runJob } from './job';
import { rank } from './rank';

export async function calibrate(): Promise<Outcome> {
  const [model, made, set] = [session.value?.model, planned.value?.value, samples.value?.set];
  if (model === undefined || made === undefined || set === undefined) return 'failed';
  const key = encodingsKey.value;
  const outcome = await runJob('calibrate', 'Calibrating', async ({ signal, onProgress }) => {
    const value = await model.calibrate(made, set, { signal, onProgress, method: 'minmax' });
    calibrated.value = { value, key };
  });
  if (outcome === 'done') announce(`Calibrated with ${counted(set.count, 'sample')}.`);
  return outcome;
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
