// Values of the selected tensor: range, histogram, clipping, noise. Read also while a job runs, kept while they hold.
import { effect, signal } from '@preact/signals';
import type { Encoding, TensorStatistics } from '../package';
import { isCancel, type Problem, problemFrom } from '../state/problem';
import { encodings, pending, samples, selected, session, siteByTensor } from '../state/store';

export type Reading =
  | { state: 'none' }
  | { state: 'needs samples' }
  | { state: 'reading' }
  | { state: 'failed'; problem: Problem }
  | { state: 'read'; statistics: TensorStatistics };

export const reading = signal<Reading>({ state: 'none' });

const kBins = 64;
const kKept = 256;
const kept = new Map<string, TensorStatistics>();

/** The encoding that the last calibration chose for a tensor, stale or not. */
export function encodingOf(tensor: string): Encoding | null {
  const all = encodings.value?.value.encodings;
  return all !== undefined && Object.hasOwn(all, tensor) ? (all[tensor] ?? null) : null;
}

export function startInspecting(): void {
  let controller = new AbortController();
  effect(() => {
    const tensor = selected.value;
    const current = session.value;
    const set = samples.value;
    const key = `${current?.revision}|${set?.revision}|${encodings.value?.key}|${tensor}`;
    controller.abort();
    controller = new AbortController();
    if (tensor === null || current === null || !siteByTensor.value.has(tensor)) {
      reading.value = { state: 'none' };
      return;
    }
    const known = kept.get(key);
    if (known !== undefined) reading.value = { state: 'read', statistics: known };
    else if (siteByTensor.value.get(tensor)?.role === 'activation' && set === null)
      reading.value = { state: 'needs samples' };
    else void read(tensor, key, controller.signal);
  });
}

async function read(tensor: string, key: string, signal: AbortSignal, again = false): Promise<void> {
  const model = session.peek()?.model;
  if (model === undefined) return;
  const encoding = encodingOf(tensor);
  reading.value = { state: 'reading' };
  pending.value = pending.peek() + 1;
  try {
    const request = { bins: kBins, signal, ...(encoding === null ? {} : { encoding }) };
    const constant = siteByTensor.peek().get(tensor)?.role !== 'activation';
    const statistics = await model.statistics(
      tensor,
      constant ? null : (samples.peek()?.set ?? null),
      request,
    );
    if (signal.aborted) return;
    if (kept.size >= kKept) kept.clear();
    kept.set(key, statistics);
    reading.value = { state: 'read', statistics };
  } catch (cause) {
    if (signal.aborted) return;
    // A cancelled job may take the worker with it that was reading for us.
    if (isCancel(cause) && !again) return read(tensor, key, signal, true);
    reading.value = { state: 'failed', problem: problemFrom(cause, `Reading ${tensor}`) };
  } finally {
    pending.value = pending.peek() - 1;
  }
}
