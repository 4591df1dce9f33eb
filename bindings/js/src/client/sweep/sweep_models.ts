// The models of a sweep, from the core. One may be asked for before it is needed, so that no worker waits for the core.
import type { Skeleton, SweepModel } from '../../shared/protocol.js';
import type { ModelHandle } from '../model.js';

export class SweepModels {
  private readonly ahead = new Map<string, Promise<Skeleton>>();

  constructor(
    protected readonly model: ModelHandle,
    protected readonly number: number,
  ) {}

  /** A skeleton is handed over to a worker, so each is given out once. */
  take(what: SweepModel, signal: AbortSignal): Promise<Skeleton> {
    const key = JSON.stringify(what);
    const known = this.ahead.get(key);
    this.ahead.delete(key);
    return known ?? this.ask(what, signal);
  }

  prepare(what: SweepModel, signal: AbortSignal): void {
    const key = JSON.stringify(what);
    if (this.ahead.has(key)) return;
    const asked = this.ask(what, signal);
    // Who takes it hears of a failure; if nobody does, the sweep has ended anyway.
    asked.catch(() => {});
    this.ahead.set(key, asked);
  }

  protected async ask(what: SweepModel, signal: AbortSignal): Promise<Skeleton> {
    const { core } = await this.model.core({ signal });
    return core.call('sweep.model', { sweep: this.number, what }, { signal });
  }
}
