// What a worker holds, under numbers that the client knows.
import { HalftoneError } from '../shared/errors.js';

export class Table<T> {
  private readonly entries = new Map<number, T>();
  private nextNumber = 1;

  constructor(private readonly what: string) {}

  add(entry: T): number {
    this.entries.set(this.nextNumber, entry);
    return this.nextNumber++;
  }

  get(number: number): T {
    const entry = this.entries.get(number);
    if (entry === undefined) {
      throw new HalftoneError('invalid_state', `There is no ${this.what} of number ${number} (any more).`, {
        next: 'It was closed, or its worker was replaced.',
      });
    }
    return entry;
  }

  /** undefined if there is none. */
  take(number: number): T | undefined {
    const entry = this.entries.get(number);
    this.entries.delete(number);
    return entry;
  }

  get size(): number {
    return this.entries.size;
  }
}
