// A worker that does what the test says, and nothing by itself.
import type { WorkerPort } from '../../bindings/js/src/shared/port.js';

export class FakePort implements WorkerPort {
  readonly posted: {
    message: { id: number; t: string; payload?: unknown; target?: number };
    transfer: ArrayBuffer[];
  }[] = [];
  terminated = false;
  alive = false;
  private onMessage: (message: unknown) => void = () => {};
  private onFailure: (why: string) => void = () => {};

  post(message: unknown, transfer: ArrayBuffer[]): void {
    // As a real port does: what can't be cloned throws, what is transferred is empty afterwards.
    this.posted.push({ message: structuredClone(message, { transfer }) as never, transfer });
  }
  listen(onMessage: (message: unknown) => void, onFailure: (why: string) => void): void {
    this.onMessage = onMessage;
    this.onFailure = onFailure;
  }
  terminate(): void {
    this.terminated = true;
  }
  keepAlive(yes: boolean): void {
    this.alive = yes;
  }

  /** The worker says something. */
  say(message: unknown): void {
    this.onMessage(message);
  }
  fail(why: string): void {
    this.onFailure(why);
  }
  last(): { id: number; t: string; payload?: unknown; target?: number } {
    return this.posted.at(-1)!.message;
  }
}
