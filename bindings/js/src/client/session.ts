// A session in one worker, released whatever happens.
import type { Operations, Skeleton, StoredFile } from '../shared/protocol.js';
import type { RunMode } from '../shared/session_options.js';
import type { Connection } from './connection.js';

export async function withSession<T>(
  worker: Connection,
  skeleton: Skeleton,
  files: StoredFile[],
  mode: RunMode,
  signal: AbortSignal | undefined,
  use: (session: number) => Promise<T>,
): Promise<T> {
  const transfer = buffersOf(skeleton);
  const { session } = await worker.call(
    'session.create',
    { model: skeleton, files, mode },
    { signal, transfer },
  );
  try {
    return await use(session);
  } finally {
    await tidy(worker, 'session.release', { session }, signal);
  }
}

/** Handed over with a skeleton, which is used once. */
export function buffersOf(skeleton: Skeleton): ArrayBuffer[] {
  return [skeleton.model.buffer, ...skeleton.buffers.map((buffer) => buffer.bytes.buffer)];
}

/** A job in a worker's core; dropped unless it was ended. */
export async function withJob<T>(
  worker: Connection,
  job: number,
  signal: AbortSignal | undefined,
  use: (job: number) => Promise<T>,
): Promise<T> {
  try {
    return await use(job);
  } finally {
    await tidy(worker, 'job.drop', { job }, signal);
  }
}

/** After a cancel nobody waits for a worker that hangs. */
const TIDY_AFTER_CANCEL_MS = 100;

/** Puts away what a job left in a worker. A worker that is gone has nothing left; a failure here changes no result. */
export async function tidy<T extends 'session.release' | 'switched.close' | 'job.drop' | 'reset'>(
  worker: Connection,
  t: T,
  payload: Operations[T]['in'],
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!worker.connected) return;
  const deadlineMs = signal?.aborted ? TIDY_AFTER_CANCEL_MS : undefined;
  await worker.call(t, payload, { deadlineMs }).catch(() => {});
}
