export interface HostileModel {
  /** Unique, usable as a file name. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** 'ok', or the error codes that are right, joined by '|'. */
  readonly expect: string;
}

/** All of them, in a fixed order. Made anew at each call. */
export function hostileModels(): HostileModel[];
