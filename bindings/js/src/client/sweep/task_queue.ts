// Tasks for several lanes, in rounds: when all of a round are done, and not before, the next round is asked for, so that what
// it is doesn't depend on which lane was faster.
export class TaskQueue<T> {
  private tasks: T[] = [];
  private running = 0;
  private refilling: Promise<void> | null = null;
  private ended = false;
  private waiting: (() => void)[] = [];

  /** `next` answers with no tasks when there is nothing left to do. */
  constructor(private readonly next: () => Promise<T[]>) {}

  /** The task that take() would give now, if it is known. */
  peek(): T | undefined {
    return this.tasks[0];
  }

  /** null when everything is done, or `signal` is aborted. Each task has to be followed by done(). */
  async take(signal: AbortSignal): Promise<T | null> {
    while (!this.ended && !signal.aborted) {
      const task = this.tasks.shift();
      if (task !== undefined) {
        this.running++;
        return task;
      }
      if (this.running === 0) await this.refill();
      else await this.wake(signal);
    }
    return null;
  }

  done(): void {
    this.running--;
    if (this.running === 0) this.wakeAll();
  }

  private async refill(): Promise<void> {
    this.refilling ??= this.next()
      .then((tasks) => {
        this.tasks = tasks;
        this.ended = tasks.length === 0;
      })
      .finally(() => {
        this.refilling = null;
        this.wakeAll();
      });
    await this.refilling;
  }

  private wake(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const woken = () => {
        signal.removeEventListener('abort', woken);
        resolve();
      };
      this.waiting.push(woken);
      signal.addEventListener('abort', woken);
    });
  }

  private wakeAll(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
