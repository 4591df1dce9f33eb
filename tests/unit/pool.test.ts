import { describe, expect, it } from 'vitest';
import { Connection } from '../../bindings/js/src/client/connection.js';
import { JobLock } from '../../bindings/js/src/client/job_lock.js';
import { Pool } from '../../bindings/js/src/client/pool.js';
import { RowQueue } from '../../bindings/js/src/client/row_queue.js';
import { HalftoneError } from '../../bindings/js/src/shared/errors.js';
import { FakePort } from './fake_port.js';

const MB = 1e6;

function poolOf(wanted: number, memoryBudget: number): { pool: Pool; greeted: number[] } {
  const greeted: number[] = [];
  const pool = new Pool({
    wanted,
    memoryBudget,
    create: (onLost) => new Connection(() => new FakePort(), { cancelGraceMs: 250, onLost: () => onLost() }),
    greet: async (connection) => {
      greeted.push(greeted.length);
      connection.connect();
    },
  });
  return { pool, greeted };
}

describe('the size of the pool', () => {
  it('is what is wanted when memory allows, and never more than there are tasks', () => {
    const { pool } = poolOf(4, 10_000 * MB);
    expect(pool.size(10 * MB, 100)).toEqual({ workers: 4, warnings: [] });
    expect(pool.size(10 * MB, 3)).toEqual({ workers: 3, warnings: [] });
  });

  it('is bounded by the bytes of the model, and says so with both numbers', () => {
    const { pool } = poolOf(4, 1000 * MB);
    const { workers, warnings } = pool.size(150 * MB, 100);
    expect(workers).toBe(2);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]!.code).toBe('workers_bounded');
    expect(warnings[0]!.message).toContain('2 of 4 workers');
    expect(warnings[0]!.message).toContain('397 MB');
    expect(warnings[0]!.message).toContain('1000 MB');
  });

  it('is at least one, however large the model', () => {
    expect(poolOf(2, MB).pool.size(1e12, 5).workers).toBe(1);
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses %s workers', (workers) => {
    expect(() => poolOf(workers, MB)).toThrow(HalftoneError);
  });
});

describe('running on the pool', () => {
  it('greets each worker once and starts no more than asked for', async () => {
    const { pool, greeted } = poolOf(4, 1e12);
    await pool.run(2, undefined, async () => {});
    await pool.run(2, undefined, async () => {});
    expect(greeted).toHaveLength(2);
  });

  it('ends the other lanes when one fails, and throws the first failure after all have ended', async () => {
    const { pool } = poolOf(3, 1e12);
    const ended: number[] = [];
    let lane = 0;
    const run = pool.run(3, undefined, async (_worker, signal) => {
      const mine = lane++;
      if (mine === 1) throw new HalftoneError('non_finite', 'NaN');
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve());
      });
      ended.push(mine);
    });
    await expect(run).rejects.toMatchObject({ code: 'non_finite' });
    expect(ended.sort()).toEqual([0, 2]);
  });

  it('is `cancelled` when the caller aborts, whatever the lanes threw', async () => {
    const { pool } = poolOf(1, 1e12);
    const abort = new AbortController();
    const run = pool.run(1, abort.signal, async () => {
      abort.abort();
      throw new Error('a session that was taken away');
    });
    await expect(run).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('greets a worker again after it was lost (the spare takes over)', async () => {
    const { pool, greeted } = poolOf(1, 1e12);
    (await pool.worker(0)).terminate();
    await pool.worker(0);
    expect(greeted).toHaveLength(2);
  });
});

describe('law 7: one job per model at a time', () => {
  it('refuses a second with invalid_state, naming the first, and takes the next after it', async () => {
    const lock = new JobLock();
    const release = lock.take('a calibration');
    expect(() => lock.take('scoring')).toThrowError(expect.objectContaining({ code: 'invalid_state' }));
    expect(() => lock.take('scoring')).toThrow(/a calibration/);
    release();
    lock.take('scoring')();
  });
});

describe('rows as they come', () => {
  it('are seen by every reader, early or late, and an error comes after them', async () => {
    const queue = new RowQueue<number>();
    const read = async () => {
      const seen: number[] = [];
      let error: unknown = null;
      try {
        for await (const row of queue.iterate()) seen.push(row);
      } catch (thrown) {
        error = thrown;
      }
      return { seen, error };
    };
    const early = read();
    queue.push(1);
    await Promise.resolve();
    queue.push(2);
    queue.end('stopped');
    expect(await early).toEqual({ seen: [1, 2], error: 'stopped' });
    expect(await read()).toEqual({ seen: [1, 2], error: 'stopped' });
    expect(queue.all()).toEqual([1, 2]);
  });
});
