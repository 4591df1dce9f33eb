// A session in one worker, released whatever happens.
import type { Skeleton, StoredFile } from '../shared/protocol.js';
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
  const transfer = [skeleton.model.buffer, ...skeleton.buffers.map((buffer) => buffer.bytes.buffer)];
  const { session } = await worker.call(
    'session.create',
    { model: skeleton, files, mode },
    { signal, transfer },
  );
  try {
    return await use(session);
  } finally {
    if (worker.connected) await worker.call('session.release', { session }).catch(() => {});
  }
}

/** A job in a worker's core; dropped unless it was ended. */
export async function withJob<T>(
  worker: Connection,
  job: number,
  use: (job: number) => Promise<T>,
): Promise<T> {
  try {
    return await use(job);
  } finally {
    if (worker.connected) await worker.call('job.drop', { job }).catch(() => {});
  }
}
