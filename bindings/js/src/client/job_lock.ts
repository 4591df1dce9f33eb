// One job per model at a time.
import { HalftoneError } from '../shared/errors.js';

export class JobLock {
  private running: string | null = null;

  /** Runs `work` unless a job is running; then `invalid_state`, naming it. */
  async hold<T>(name: string, work: () => Promise<T>): Promise<T> {
    const release = this.take(name);
    try {
      return await work();
    } finally {
      release();
    }
  }

  take(name: string): () => void {
    if (this.running !== null) {
      throw new HalftoneError('invalid_state', `The model is busy: ${this.running} is running.`, {
        next: 'Wait for it, or cancel it first.',
      });
    }
    this.running = name;
    return () => {
      this.running = null;
    };
  }
}
