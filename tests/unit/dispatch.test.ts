// The worker's half of the protocol's laws.
import { describe, expect, it } from 'vitest';
import { cancelled, HalftoneError } from '../../bindings/js/src/shared/errors.js';
import type { HostPort } from '../../bindings/js/src/shared/port.js';
import { dispatch, type Handlers } from '../../bindings/js/src/worker/dispatch.js';

interface Said {
  id: number;
  t: string;
  value?: unknown;
  error?: Record<string, unknown>;
  progress?: { done: number };
}

function host(handlers: Handlers): {
  ask(message: unknown): void;
  said: Said[];
  transfers: ArrayBuffer[][];
  settled(count: number): Promise<void>;
} {
  const said: Said[] = [];
  const transfers: ArrayBuffer[][] = [];
  let hear: (message: unknown) => void = () => {};
  let wake: () => void = () => {};
  const port: HostPort = {
    post: (message, transfer) => {
      said.push(structuredClone(message) as Said);
      transfers.push(transfer);
      wake();
    },
    listen: (onMessage) => {
      hear = onMessage;
    },
  };
  dispatch(port, handlers);
  const settled = async (count: number) => {
    while (said.filter((message) => message.t !== 'progress').length < count) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return { ask: (message) => hear(message), said, transfers, settled };
}

describe('law 1: one terminal answer for each request, progress only before it', () => {
  it('for a value, an error, a cancel and a thrown string', async () => {
    const worker = host({
      live: () => 3,
      reset: () => {
        throw new HalftoneError('non_finite', 'NaN here.', { where: 'conv1' });
      },
      close: () => Promise.reject(cancelled()),
      hash: () => Promise.reject('a string'),
    });
    worker.ask({ id: 1, t: 'live', payload: null });
    worker.ask({ id: 2, t: 'reset', payload: null });
    worker.ask({ id: 3, t: 'close', payload: { model: 1 } });
    worker.ask({ id: 4, t: 'hash', payload: null });
    await worker.settled(4);
    const byId = Object.fromEntries(worker.said.map((message) => [message.id, message]));
    expect(worker.said).toHaveLength(4);
    expect(byId[1]).toEqual({ id: 1, t: 'ok', value: 3 });
    expect(byId[2]).toMatchObject({ t: 'error', error: { code: 'non_finite', where: 'conv1' } });
    expect(byId[3]).toEqual({ id: 3, t: 'cancelled' });
    expect(byId[4]).toMatchObject({ t: 'error', error: { code: 'internal', message: 'a string' } });
  });

  it('progress after the answer is not sent', async () => {
    let late: () => void = () => {};
    const worker = host({
      live: (_payload, context) => {
        const progress = { phase: 'open', done: 1, total: 1, unit: 'bytes' } as const;
        context.progress(progress);
        late = () => context.progress(progress);
        return 0;
      },
    });
    worker.ask({ id: 1, t: 'live', payload: null });
    await worker.settled(1);
    late();
    expect(worker.said.map((message) => message.t)).toEqual(['progress', 'ok']);
  });
});

describe('law 3: unknown types answer error, never silence', () => {
  it.each(['nonsense', 'toString', '__proto__', 'constructor', ''])('%s', async (t) => {
    const worker = host({});
    worker.ask({ id: 9, t, payload: null });
    await worker.settled(1);
    expect(worker.said[0]).toMatchObject({ id: 9, t: 'error', error: { code: 'internal' } });
    expect(String(worker.said[0]!.error!.next)).toContain('reload');
  });
});

describe('law 4: cancel aborts the signal of its target only', () => {
  it('and a cancel of something unknown or finished is nothing', async () => {
    const signals: AbortSignal[] = [];
    const release: (() => void)[] = [];
    const worker = host({
      live: (_payload, { signal }) => {
        signals.push(signal);
        return new Promise((resolve, reject) => {
          release.push(() => (signal.aborted ? reject(cancelled()) : resolve(1)));
        });
      },
    });
    worker.ask({ id: 1, t: 'live', payload: null });
    worker.ask({ id: 2, t: 'live', payload: null });
    worker.ask({ id: 3, t: 'cancel', target: 2 });
    worker.ask({ id: 4, t: 'cancel', target: 77 });
    expect(signals.map((signal) => signal.aborted)).toEqual([false, true]);
    for (const done of release) done();
    await worker.settled(2);
    worker.ask({ id: 5, t: 'cancel', target: 1 });
    expect(worker.said.map(({ id, t }) => [id, t])).toEqual([
      [1, 'ok'],
      [2, 'cancelled'],
    ]);
  });
});

describe('law 6: results are transferred out', () => {
  it('with the buffers the handler named', async () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const worker = host({
      'feed.next': (_payload, context) => {
        context.transfer(bytes.buffer);
        return { pieces: [[0, bytes]], read: 3, done: true };
      },
    });
    worker.ask({ id: 1, t: 'feed.next', payload: null });
    await worker.settled(1);
    expect(worker.transfers[0]).toEqual([bytes.buffer]);
  });
});

describe('law 8: errors are plain data', () => {
  it('with exactly name, message, code, where, next and stack', async () => {
    const worker = host({
      live: () => {
        throw new RangeError('Array buffer allocation failed');
      },
    });
    worker.ask({ id: 1, t: 'live', payload: null });
    await worker.settled(1);
    const { error } = worker.said[0]!;
    expect(Object.keys(error!).sort()).toEqual(['code', 'message', 'name', 'next', 'stack', 'where']);
    expect(error!.code).toBe('out_of_memory');
    expect(Object.getPrototypeOf(error)).toBe(Object.prototype);
  });
});
