// Rows that come in one by one, for any number of readers, each of which sees all of them.
export class RowQueue<T> {
  private readonly rows: T[] = [];
  private ended = false;
  private error: unknown = null;
  private waiting: (() => void)[] = [];

  push(row: T): void {
    this.rows.push(row);
    this.wake();
  }

  /** `error` null: complete. Otherwise readers see the error after the rows that are known. */
  end(error: unknown): void {
    this.ended = true;
    this.error = error;
    this.wake();
  }

  all(): readonly T[] {
    return this.rows;
  }

  async *iterate(): AsyncGenerator<T, void, void> {
    for (let index = 0; ; index++) {
      while (index >= this.rows.length) {
        if (this.ended) {
          if (this.error !== null) throw this.error;
          return;
        }
        await new Promise<void>((resolve) => this.waiting.push(resolve));
      }
      yield this.rows[index]!;
    }
  }

  private wake(): void {
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
