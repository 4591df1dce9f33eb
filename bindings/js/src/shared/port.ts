// The two ends of a worker, without saying which platform they are on.

/** What the client holds. */
export interface WorkerPort {
  post(message: unknown, transfer: ArrayBuffer[]): void;
  /** Called once, before the first post. */
  listen(onMessage: (message: unknown) => void, onFailure: (why: string) => void): void;
  terminate(): void;
  /** Node: whether the worker keeps the program alive. */
  keepAlive(yes: boolean): void;
}

/** What the worker holds. */
export interface HostPort {
  post(message: unknown, transfer: ArrayBuffer[]): void;
  listen(onMessage: (message: unknown) => void): void;
}
