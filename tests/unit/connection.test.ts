// The client's half of the protocol's laws, against a fake worker.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Connection } from '../../bindings/js/src/client/connection.js';
import { HalftoneError } from '../../bindings/js/src/shared/errors.js';
import { FakePort } from './fake_port.js';

const GRACE_MS = 250;

function connected(): { connection: Connection; port: FakePort; ports: FakePort[]; lost: HalftoneError[] } {
  const ports: FakePort[] = [];
  const lost: HalftoneError[] = [];
  const connection = new Connection(
    () => {
      const port = new FakePort();
      ports.push(port);
      return port;
    },
    { cancelGraceMs: GRACE_MS, onLost: (error) => lost.push(error) },
  );
  connection.connect();
  return { connection, port: ports[0]!, ports, lost };
}

async function rejection(promise: Promise<unknown>): Promise<HalftoneError> {
  const error = await promise.then(
    () => null,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(HalftoneError);
  return error as HalftoneError;
}

describe('law 1: every request ends in exactly one of ok, error or cancelled, and progress comes only before that', () => {
  it('resolves with the value of ok and ignores whatever the worker says of it later', async () => {
    const { connection, port } = connected();
    const heard: number[] = [];
    const call = connection.call('live', null, { onProgress: (progress) => heard.push(progress.done) });
    const { id } = port.last();
    port.say({ id, t: 'progress', progress: { phase: 'open', done: 1, total: 2, unit: 'bytes' } });
    port.say({ id, t: 'ok', value: 7 });
    port.say({ id, t: 'progress', progress: { phase: 'open', done: 2, total: 2, unit: 'bytes' } });
    port.say({
      id,
      t: 'error',
      error: { name: '', message: 'late', code: 'internal', where: '', next: '', stack: '' },
    });
    expect(await call).toBe(7);
    expect(heard).toEqual([1]);
  });

  it('rejects with `cancelled` when the worker says so', async () => {
    const { connection, port } = connected();
    const call = connection.call('live', null);
    port.say({ id: port.last().id, t: 'cancelled' });
    expect((await rejection(call)).code).toBe('cancelled');
  });

  it('matches answers by id, in any order', async () => {
    const { connection, port } = connected();
    const calls = [
      connection.call('live', null),
      connection.call('live', null),
      connection.call('live', null),
    ];
    const ids = port.posted.map(({ message }) => message.id);
    for (const id of [...ids].reverse()) port.say({ id, t: 'ok', value: id * 10 });
    expect(await Promise.all(calls)).toEqual(ids.map((id) => id * 10));
  });
});

describe('law 2: a failure rejects all pending requests, and later ones at once until connect()', () => {
  it.each([
    ['error', (port: FakePort) => port.fail('The worker failed: boom'), 'internal', 'boom'],
    [
      'messageerror',
      (port: FakePort) => port.fail('A message from the worker could not be read.'),
      'internal',
      'read',
    ],
    [
      'fatal',
      (port: FakePort) =>
        port.say({
          t: 'fatal',
          error: {
            name: 'HalftoneError',
            message: 'dead core',
            code: 'out_of_memory',
            where: '',
            next: '',
            stack: '',
          },
        }),
      'out_of_memory',
      'dead core',
    ],
  ] as const)('%s', async (_name, breakIt, code, words) => {
    const { connection, port, ports, lost } = connected();
    const calls = [connection.call('live', null), connection.call('live', null)];
    breakIt(port);
    for (const call of calls) {
      const error = await rejection(call);
      expect(error.code).toBe(code);
      expect(error.message).toContain(words);
    }
    expect(port.terminated).toBe(true);
    expect(lost).toHaveLength(1);
    expect((await rejection(connection.call('live', null))).message).toContain(words);
    connection.connect();
    const again = connection.call('live', null);
    ports[1]!.say({ id: ports[1]!.last().id, t: 'ok', value: 0 });
    expect(await again).toBe(0);
  });

  it('terminate() rejects pending requests as cancelled and later ones as invalid_state', async () => {
    const { connection, port } = connected();
    const call = connection.call('live', null);
    connection.terminate();
    expect((await rejection(call)).code).toBe('cancelled');
    expect((await rejection(connection.call('live', null))).code).toBe('invalid_state');
    expect(port.terminated).toBe(true);
  });

  it('a dead worker that still speaks is not heard', async () => {
    const { connection, ports } = connected();
    connection.terminate();
    connection.connect();
    const call = connection.call('live', null);
    ports[0]!.say({ id: ports[1]!.last().id, t: 'ok', value: 'from the dead' });
    ports[1]!.say({ id: ports[1]!.last().id, t: 'ok', value: 1 });
    expect(await call).toBe(1);
  });
});

describe('law 4: cancel is asked for, and forced if it is not answered in time', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('posts cancel with the target, and an answer in time keeps the worker', async () => {
    const { connection, port } = connected();
    const abort = new AbortController();
    const call = connection.call('live', null, { signal: abort.signal });
    const { id } = port.last();
    abort.abort();
    expect(port.last()).toMatchObject({ t: 'cancel', target: id });
    port.say({ id, t: 'cancelled' });
    expect((await rejection(call)).code).toBe('cancelled');
    vi.advanceTimersByTime(10 * GRACE_MS);
    expect(port.terminated).toBe(false);
  });

  it('ends the worker after the grace time and rejects everything pending as cancelled', async () => {
    const { connection, port } = connected();
    const abort = new AbortController();
    const call = connection.call('live', null, { signal: abort.signal });
    const other = connection.call('live', null);
    abort.abort();
    vi.advanceTimersByTime(GRACE_MS - 1);
    expect(port.terminated).toBe(false);
    vi.advanceTimersByTime(1);
    expect(port.terminated).toBe(true);
    expect((await rejection(call)).code).toBe('cancelled');
    expect((await rejection(other)).code).toBe('cancelled');
  });

  it('ends the worker when a request with a deadline is not answered by it, and not when it is', async () => {
    const { connection, port } = connected();
    const answered = connection.call('reset', null, { deadlineMs: 100 });
    port.say({ id: port.last().id, t: 'ok', value: null });
    await answered;
    vi.advanceTimersByTime(100);
    expect(port.terminated).toBe(false);
    const unanswered = connection.call('reset', null, { deadlineMs: 100 });
    vi.advanceTimersByTime(100);
    expect((await rejection(unanswered)).code).toBe('cancelled');
    expect(port.terminated).toBe(true);
  });

  it('refuses a request whose signal is aborted already, without posting it', async () => {
    const { connection, port } = connected();
    expect((await rejection(connection.call('live', null, { signal: AbortSignal.abort() }))).code).toBe(
      'cancelled',
    );
    expect(port.posted).toHaveLength(0);
  });
});

describe('law 6: transferred buffers are empty afterwards', () => {
  it('detaches what is in the transfer list and nothing else', () => {
    const { connection, port } = connected();
    const moved = new Float32Array([1, 2]);
    const kept = new Float32Array([3]);
    connection
      .call(
        'sample.put',
        {
          index: 0,
          tensors: {
            a: { type: 'float32', dims: [2], data: moved },
            b: { type: 'float32', dims: [1], data: kept },
          },
        },
        { transfer: [moved.buffer] },
      )
      .catch(() => {});
    expect(moved.byteLength).toBe(0);
    expect(kept.byteLength).toBe(4);
    const { tensors } = port.last().payload as { tensors: Record<string, { data: Float32Array }> };
    expect([...tensors.a!.data]).toEqual([1, 2]);
  });

  it('a request that cannot be cloned is rejected, not thrown or lost', async () => {
    const { connection } = connected();
    const error = await rejection(connection.call('rank', { results: (() => {}) as never }));
    expect(error.code).toBe('internal');
    expect(connection.load).toBe(0);
  });
});

describe('law 8: errors carry name, message, code, where, next and stack as plain data', () => {
  it('comes back as a HalftoneError with all of them', async () => {
    const { connection, port } = connected();
    const call = connection.call('live', null);
    const error = {
      name: 'HalftoneError',
      message: 'm',
      code: 'truncated',
      where: 'byte 12',
      next: 'n',
      stack: 'at worker',
    };
    port.say({ id: port.last().id, t: 'error', error: structuredClone(error) });
    const caught = await rejection(call);
    expect({ ...caught.toJSON().error, stack: caught.stack, name: caught.name }).toEqual(error);
  });
});

it('lets Node exit while nothing is asked', async () => {
  const { connection, port } = connected();
  expect(port.alive).toBe(false);
  const call = connection.call('live', null);
  expect(port.alive).toBe(true);
  port.say({ id: port.last().id, t: 'ok', value: 0 });
  await call;
  expect(port.alive).toBe(false);
});
