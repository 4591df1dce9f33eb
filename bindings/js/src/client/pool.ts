// The workers that run models. Each holds one runtime with one thread and one small core; none holds a model for longer than
// a session lives.
import { asHalftoneError, cancelled, HalftoneError } from '../shared/errors.js';
import type { Warning } from '../types.js';
import type { CallOptions, Connection } from './connection.js';

/** Of a runtime and a core before any model: their heaps, and the script. */
const WORKER_BASE_BYTES = 64 * 2 ** 20;
/** A session's weights in the runtime, and the file's bytes while it is made. */
const SESSION_BYTES_PER_MODEL_BYTE = 2.2;

export interface PoolOptions {
  wanted: number;
  memoryBudget: number;
  create(onLost: () => void): Connection;
  greet(connection: Connection, options: CallOptions): Promise<void>;
}

interface Member {
  connection: Connection;
  ready: Promise<void> | null;
}

export interface PoolSize {
  workers: number;
  warnings: Warning[];
}

export class Pool {
  readonly wanted: number;
  private readonly members: Member[] = [];

  constructor(private readonly options: PoolOptions) {
    if (!Number.isInteger(options.wanted) || options.wanted < 1) {
      throw new HalftoneError(
        'invalid_policy',
        `The number of workers must be a whole number from 1, not ${options.wanted}.`,
      );
    }
    this.wanted = options.wanted;
  }

  /** How many workers may run a model of this size at a time, `sessions` sessions of it in each. At least one. */
  size(modelBytes: number, tasks: number, sessions = 1): PoolSize {
    const perWorker = WORKER_BASE_BYTES + SESSION_BYTES_PER_MODEL_BYTE * modelBytes * sessions;
    const fitting = Math.max(1, Math.floor(this.options.memoryBudget / perWorker));
    const workers = Math.max(1, Math.min(this.wanted, fitting, tasks));
    if (fitting >= Math.min(this.wanted, tasks)) return { workers, warnings: [] };
    const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
    return {
      workers,
      warnings: [
        {
          code: 'workers_bounded',
          message: `Running on ${workers} of ${this.wanted} workers: each needs about ${megabytes(perWorker)} for this model, and all together may take ${megabytes(this.options.memoryBudget)}.`,
          where: '',
        },
      ],
    };
  }

  /** Worker number `index`, started and greeted. */
  async worker(index: number, options: CallOptions = {}): Promise<Connection> {
    const member = this.member(index);
    member.ready ??= this.options.greet(member.connection, { signal: options.signal }).catch((error) => {
      member.ready = null;
      member.connection.terminate(asHalftoneError(error));
      throw error;
    });
    await member.ready;
    if (options.signal?.aborted) throw cancelled();
    return member.connection;
  }

  /** The worker with the fewest requests under way. */
  leastLoaded(limit: number, options: CallOptions = {}): Promise<Connection> {
    let best = 0;
    for (let i = 0; i < Math.min(limit, this.members.length); i++) {
      if (this.members[i]!.connection.load < this.members[best]!.connection.load) best = i;
    }
    return this.worker(best, options);
  }

  /**
   * Runs `lane` once on each of `workers` workers. The first failure ends the others (they see `signal` aborted) and is
   * thrown after all of them ended, so nothing of a failed job is still running when the caller hears of it.
   */
  async run(
    workers: number,
    signal: AbortSignal | undefined,
    lane: (connection: Connection, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const stop = new AbortController();
    const onAbort = () => stop.abort();
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) stop.abort();
    let first: unknown = null;
    const lanes = Array.from({ length: workers }, async (_, index) => {
      try {
        await lane(await this.worker(index, { signal: stop.signal }), stop.signal);
      } catch (error) {
        first ??= error;
        stop.abort();
      }
    });
    await Promise.all(lanes);
    signal?.removeEventListener('abort', onAbort);
    if (signal?.aborted) throw cancelled();
    if (first !== null) throw asHalftoneError(first);
  }

  anyConnection(): Connection | undefined {
    return this.members.find((member) => member.connection.connected)?.connection;
  }

  async liveObjects(): Promise<number> {
    const connected = this.members.filter((member) => member.connection.connected);
    const counts = await Promise.all(connected.map((member) => member.connection.call('live', null)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  close(): void {
    for (const member of this.members) member.connection.terminate(cancelled());
    this.members.length = 0;
  }

  private member(index: number): Member {
    let member = this.members[index];
    if (member === undefined) {
      const made: Member = {
        connection: this.options.create(() => {
          made.ready = null;
        }),
        ready: null,
      };
      member = made;
      this.members[index] = member;
    }
    return member;
  }
}
