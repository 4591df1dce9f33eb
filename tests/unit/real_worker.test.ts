// The protocol's laws against the real worker: the built script in a thread, with the real core.
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Connection } from '../../bindings/js/src/client/connection.js';
import { ERROR_CODES, HalftoneError } from '../../bindings/js/src/index.js';
import { startWorker } from '../../bindings/js/src/platform/start_worker.js';
import { PROTOCOL } from '../../bindings/js/src/shared/protocol.js';
import type { Progress } from '../../bindings/js/src/types.js';
import { MODULE_NAMES } from '../../bindings/js/src/worker/core.js';
import { graphPath } from './golden_models.js';

const dist = new URL('../../bindings/js/dist/', import.meta.url);
const GRACE_MS = 2000;

let core: WebAssembly.Module;
let worker: Connection;

beforeAll(async () => {
  core = await WebAssembly.compile(readFileSync(new URL('halftone.wasm', dist)));
});

beforeEach(() => {
  worker = new Connection(() => startWorker({ file: new URL('worker.js', dist) }), {
    cancelGraceMs: GRACE_MS,
  });
  worker.connect();
});

afterEach(() => worker.terminate());

function greet(protocol = PROTOCOL, testHooks = false) {
  return worker.call('hello', { protocol, core, runtime: null, runner: 'web', testHooks });
}

async function rejection(promise: Promise<unknown>): Promise<HalftoneError> {
  const error = await promise.then(
    () => null,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(HalftoneError);
  return error as HalftoneError;
}

function fileBlob(path: string): Blob {
  return new Blob([readFileSync(path)]);
}

it('law 1: many requests, good and bad, each end once', async () => {
  await greet();
  const source = fileBlob(graphPath('g01_res_identity'));
  const calls = Array.from({ length: 20 }, (_, i) =>
    i % 2 === 0
      ? worker.call('open', { source })
      : worker.call('open', { source: new Blob([`not a model ${i}`]) }),
  );
  const ends = await Promise.allSettled(calls);
  expect(ends.map((end) => end.status)).toEqual(ends.map((_, i) => (i % 2 === 0 ? 'fulfilled' : 'rejected')));
  for (const end of ends) if (end.status === 'rejected') expect(end.reason.code).toBe('not_onnx');
  expect(worker.load).toBe(0);
});

describe('law 2: a worker that dies rejects what is pending, and a new one can be started', () => {
  it.each([
    ['throws at its start', 'throw new Error("boom")', 'boom'],
    [
      'throws later',
      'require("node:worker_threads").parentPort.on("message", () => { throw new Error("later"); })',
      'later',
    ],
    ['ends by itself', 'process.exit(3)', 'ended by itself'],
  ])('one that %s', async (_what, text, words) => {
    const scripts = [{ text }, { file: new URL('worker.js', dist) }];
    const dying = new Connection(() => startWorker(scripts.shift()!), { cancelGraceMs: GRACE_MS });
    dying.connect();
    const calls = [dying.call('live', null), dying.call('live', null)];
    for (const call of calls) expect((await rejection(call)).message).toContain(words);
    expect((await rejection(dying.call('live', null))).message).toContain(words);
    dying.connect();
    expect(await dying.call('live', null)).toBe(0);
    dying.terminate();
  });
});

describe('law 3', () => {
  it('a hello of another protocol fails clearly, and the worker can still be greeted', async () => {
    const error = await rejection(greet(PROTOCOL + 1));
    expect(error.message).toContain(`protocol ${PROTOCOL}`);
    expect(error.next).toContain('reload');
    expect((await greet()).version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it('an unknown request is an error', async () => {
    await greet();
    expect((await rejection(worker.call('nonsense' as 'live', null))).message).toContain('nonsense');
  });

  it('a request before hello is an error, not a crash', async () => {
    expect((await rejection(worker.call('open', { source: new Blob(['x']) }))).code).toBe('invalid_state');
    expect((await greet()).errorCodes.length).toBeGreaterThan(0);
  });
});

describe('law 4', () => {
  it('a cancel between slices ends the opening as cancelled; the worker and its other models live on', async () => {
    await greet();
    const kept = await worker.call('open', { source: fileBlob(graphPath('g01_res_identity')) });
    await worker.call('open.finish', { model: kept.model });
    const before = await worker.call('live', null);
    const abort = new AbortController();
    const big = new Blob(Array.from({ length: 16 }, () => new Uint8Array(16 * 2 ** 20)));
    const call = worker.call(
      'open',
      { source: big },
      { signal: abort.signal, onProgress: ({ done }) => done > 0 && abort.abort() },
    );
    expect((await rejection(call)).code).toBe('cancelled');
    expect(worker.connected).toBe(true);
    expect(await worker.call('live', null)).toBe(before);
    expect(await worker.call('scored', { model: kept.model, choice: 'output' })).toHaveLength(1);
  });

  it('a worker that hangs is ended after the grace time, and a new one takes over', async () => {
    await greet(PROTOCOL, true);
    const abort = new AbortController();
    const hanging = worker.call('test.hang', null, { signal: abort.signal });
    abort.abort();
    expect((await rejection(hanging)).code).toBe('cancelled');
    expect(worker.connected).toBe(false);
    worker.connect();
    expect((await greet()).errorCodes.length).toBeGreaterThan(0);
  });

  it('the hook that makes a worker hang is refused without test hooks', async () => {
    await greet();
    expect((await rejection(worker.call('test.hang', null))).code).toBe('invalid_state');
  });
});

it('law 5: progress of opening is monotone, has a constant total, and ends at it', async () => {
  await greet();
  const seen: Progress[] = [];
  const zeros = new Blob(Array.from({ length: 5 }, () => new Uint8Array(16 * 2 ** 20)));
  await rejection(worker.call('open', { source: zeros }, { onProgress: (progress) => seen.push(progress) }));
  expect(seen[0]!.done).toBe(0);
  expect(seen.at(-1)!.done).toBe(5 * 16 * 2 ** 20);
  for (let i = 1; i < seen.length; i++) {
    expect(seen[i]!.done).toBeGreaterThan(seen[i - 1]!.done);
    expect(seen[i]!.total).toBe(seen[0]!.total);
  }
});

describe('law 6', () => {
  it('a Blob is never consumed', async () => {
    await greet();
    const source = fileBlob(graphPath('g01_res_identity'));
    const first = await worker.call('open', { source });
    const second = await worker.call('open', { source });
    expect(second.bytes).toBe(first.bytes);
    expect(source.size).toBe(first.bytes);
  });

  it('sample buffers are transferred: empty here afterwards', async () => {
    await greet();
    const data = new Float32Array(10);
    const tensors = { x: { type: 'float32', dims: [10], data } };
    expect(await worker.call('sample.put', { index: 0, tensors }, { transfer: [data.buffer] })).toBe(null);
    expect(data.byteLength).toBe(0);
  });
});

it('law 8: errors arrive with all their fields', async () => {
  await greet();
  const error = await rejection(worker.call('open', { source: new Blob([]) }));
  expect(error.name).toBe('HalftoneError');
  expect(error.code).toBe('not_onnx');
  expect(error.message).not.toBe('');
  expect(error.next).not.toBe('');
  expect(error.stack).toContain('worker');
});

it('law 9: close frees the model and says how many objects live', async () => {
  await greet();
  const source = fileBlob(graphPath('g01_res_identity'));
  const first = await worker.call('open', { source });
  const second = await worker.call('open', { source });
  await worker.call('open.finish', { model: first.model });
  expect(await worker.call('live', null)).toBe(2);
  expect(await worker.call('close', { model: first.model })).toEqual({ live: 1 });
  expect(await worker.call('close', { model: second.model })).toEqual({ live: 0 });
  expect((await rejection(worker.call('scored', { model: first.model, choice: '' }))).code).toBe(
    'invalid_state',
  );
});

describe('mirrors', () => {
  it('the list of error codes is the core’s, in its order', async () => {
    expect((await greet()).errorCodes).toEqual([...ERROR_CODES]);
  });

  it.each(['core', 'formats'] as const)(
    'the declared names of module %s are exactly the bound ones',
    async (name) => {
      const glue = new URL(`../../build/wasm/bindings/wasm/halftone-${name}.mjs`, import.meta.url);
      expect(existsSync(glue), `${fileURLToPath(glue)} is missing: build the core first`).toBe(true);
      const { default: createCore } = await import(glue.href);
      const module = await createCore({ wasmBinary: readFileSync(new URL(`halftone-${name}.wasm`, glue)) });
      const own = (object: object) =>
        Object.getOwnPropertyNames(object).filter(
          (member) => !['constructor', 'argCount', 'length', 'name', 'prototype'].includes(member),
        );
      const { functions, classes } = MODULE_NAMES[name];
      // What embind makes knows its number of arguments; classes are functions, too.
      const bound = Object.keys(module).filter(
        (member) => Object.hasOwn(Object(module[member]), 'argCount') && !Object.hasOwn(classes, member),
      );
      expect(bound.sort()).toEqual([...functions].sort());
      for (const [member, methods] of Object.entries(classes))
        expect(own(module[member].prototype).sort()).toEqual([...methods].sort());
    },
  );
});
