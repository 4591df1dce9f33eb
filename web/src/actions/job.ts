// One long job at a time: its progress, its cancel, its failure. Every long action runs through here.
import { dropUnusedBlobs } from '../exports/unused_blobs';
import type { Progress } from '../package';
import type { Step } from '../state/address';
import { alarm, announce } from '../state/announce';
import { isCancel, problemFrom } from '../state/problem';
import { job, problem } from '../state/store';
import { secondsLeft } from '../text/remaining';

export interface JobContext {
  signal: AbortSignal;
  /** Progress within the phase that `begin` named last. */
  onProgress(progress: Pick<Progress, 'done' | 'total'>): void;
  /** Starts another phase with a title of its own; its progress begins at zero. */
  begin(title: string, total: number): void;
}

let controller: AbortController | null = null;

export type Outcome = 'done' | 'cancelled' | 'failed';

/** Runs `work` as the job of `step`. Resolves when it ended, however it ended; failures are shown beside the step. */
export async function runJob(
  step: Step,
  title: string,
  work: (context: JobContext) => Promise<void>,
): Promise<Outcome> {
  if (job.value !== null) return 'failed';
  const own = new AbortController();
  controller = own;
  problem.value = null;
  let startedMs = performance.now();
  const begin = (phase: string, total: number): void => {
    startedMs = performance.now();
    job.value = { step, title: phase, done: 0, total, secondsLeft: null, cancelling: own.signal.aborted };
  };
  const onProgress = ({ done, total }: Pick<Progress, 'done' | 'total'>): void => {
    const current = job.value;
    if (current === null || own !== controller) return;
    const forward = Math.max(done, current.done); // A phase never runs backwards in front of a person.
    const left = secondsLeft({ startedMs, nowMs: performance.now(), done: forward, total });
    job.value = { ...current, done: forward, total, secondsLeft: left };
  };
  begin(title, 1);
  try {
    await work({ signal: own.signal, onProgress, begin });
    return 'done';
  } catch (cause) {
    dropUnusedBlobs();
    if (own.signal.aborted || isCancel(cause)) {
      announce(`${title}: cancelled.`);
      return 'cancelled';
    }
    const failure = problemFrom(cause, title);
    problem.value = { at: step, problem: failure };
    alarm(`${failure.message} ${failure.next}`);
    return 'failed';
  } finally {
    if (controller === own) {
      controller = null;
      job.value = null;
    }
  }
}

/** Asks the running job to stop. It is honoured between runs of the model, at the latest when the worker is ended. */
export function cancelJob(): boolean {
  if (controller === null || controller.signal.aborted) return false;
  if (job.value !== null) job.value = { ...job.value, cancelling: true };
  controller.abort();
  return true;
}
