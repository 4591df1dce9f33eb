// One worker as the client sees it: requests by id, each with exactly one answer.
//
// Laws (tests/unit/protocol.test.ts has one test for each): a request ends once, with ok, error or cancelled, and progress
// comes only before that; when a worker fails or is ended, every pending request is rejected and later ones are refused until
// connect() is called again; a cancel that isn't answered in `cancelGraceMs` ends the worker.
import { cancelled, fromWire, HalftoneError } from '../shared/errors.js';
import type { WorkerPort } from '../shared/port.js';
import type { FromWorker, OperationName, Operations, Request } from '../shared/protocol.js';
import type { Progress } from '../types.js';

export interface CallOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
  transfer?: ArrayBuffer[];
  /** A worker that doesn't answer for this long is ended; for requests that cost nothing. */
  deadlineMs?: number | undefined;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: HalftoneError): void;
  onProgress: ((progress: Progress) => void) | undefined;
  /** Removes the abort listener and the kill timer. */
  release(): void;
}

export interface ConnectionOptions {
  /** A cancelled request that isn't answered for this long ends the worker. */
  cancelGraceMs: number;
  /** Told when the worker was ended or failed, after all pending requests were rejected. */
  onLost?: (error: HalftoneError) => void;
}

const REASON_LIMIT = 400;

export class Connection {
  private port: WorkerPort | null = null;
  private readonly pending = new Map<number, Pending>();
  private nextId = 1;
  private lost: HalftoneError | null = null;

  constructor(
    private readonly start: () => WorkerPort,
    private readonly options: ConnectionOptions,
  ) {}

  get connected(): boolean {
    return this.port !== null;
  }

  get load(): number {
    return this.pending.size;
  }

  /** Starts the worker's thread. Throws if the worker is running. */
  connect(): void {
    if (this.port !== null) throw new HalftoneError('invalid_state', 'The worker is connected already.');
    this.lost = null;
    const port = this.start();
    this.port = port;
    port.keepAlive(false);
    port.listen(
      (message) => this.port === port && this.receive(message as FromWorker),
      (why) => this.port === port && this.fail(new HalftoneError('internal', why, { next: RESTART })),
    );
  }

  call<T extends OperationName>(
    t: T,
    payload: Operations[T]['in'],
    options: CallOptions = {},
  ): Promise<Operations[T]['out']> {
    return new Promise((resolve, reject) => {
      if (this.port === null) {
        reject(this.lost ?? new HalftoneError('invalid_state', 'The worker is not connected.'));
        return;
      }
      if (options.signal?.aborted) {
        reject(cancelled());
        return;
      }
      const id = this.nextId++;
      const release = this.watch(id, options);
      this.pending.set(id, {
        resolve: resolve as (value: unknown) => void,
        reject,
        onProgress: options.onProgress,
        release,
      });
      this.port.keepAlive(true);
      try {
        this.port.post({ id, t, payload } satisfies Request, options.transfer ?? []);
      } catch (thrown) {
        this.settle(id)?.reject(unsendable(t, thrown));
      }
    });
  }

  /** Ends the worker; pending requests are rejected with `error`. */
  terminate(error: HalftoneError = cancelled()): void {
    if (this.port !== null) this.fail(error);
  }

  /** Ends the worker when its time for this request is up. Returns what stops watching. */
  private watch(id: number, { signal, deadlineMs }: CallOptions): () => void {
    const timers: ReturnType<typeof setTimeout>[] = [];
    const endAfter = (ms: number) => timers.push(setTimeout(() => this.terminate(cancelled()), ms));
    const onAbort = () => {
      this.port?.post({ id: this.nextId++, t: 'cancel', target: id } satisfies Request, []);
      endAfter(this.options.cancelGraceMs);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    if (deadlineMs !== undefined) endAfter(deadlineMs);
    return () => {
      signal?.removeEventListener('abort', onAbort);
      for (const timer of timers) clearTimeout(timer);
    };
  }

  private receive(message: FromWorker): void {
    if (message.t === 'fatal') {
      this.fail(fromWire(message.error));
      return;
    }
    if (message.t === 'progress') {
      this.pending.get(message.id)?.onProgress?.(message.progress);
      return;
    }
    const entry = this.settle(message.id);
    if (entry === undefined) return;
    if (message.t === 'ok') entry.resolve(message.value);
    else if (message.t === 'cancelled') entry.reject(cancelled());
    else entry.reject(fromWire(message.error));
  }

  private settle(id: number): Pending | undefined {
    const entry = this.pending.get(id);
    if (entry === undefined) return undefined;
    this.pending.delete(id);
    entry.release();
    if (this.pending.size === 0) this.port?.keepAlive(false);
    return entry;
  }

  private fail(error: HalftoneError): void {
    const port = this.port;
    this.port = null;
    this.lost = error.code === 'cancelled' ? stopped() : error;
    port?.terminate();
    const entries = [...this.pending.values()];
    this.pending.clear();
    for (const entry of entries) {
      entry.release();
      entry.reject(error);
    }
    this.options.onLost?.(error);
  }
}

const RESTART = 'Try again; a new worker takes over.';

function stopped(): HalftoneError {
  return new HalftoneError('invalid_state', 'The worker was ended.', { next: RESTART });
}

function unsendable(t: string, thrown: unknown): HalftoneError {
  const reason = (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, REASON_LIMIT);
  return new HalftoneError('internal', `A request could not be sent to the worker: ${reason}`, { where: t });
}
