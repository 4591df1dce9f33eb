// Keeps what was unpacked lately, so that samples read one after the other from one packed file unpack it once, while the
// memory held stays bounded however many files there are.

export class RecentBytes {
  private readonly kept = new Map<object, Uint8Array>();
  private keptBytes = 0;

  /** `budgetBytes` may be exceeded by a single value larger than that. */
  constructor(private readonly budgetBytes: number) {}

  get(key: object): Uint8Array | undefined {
    const bytes = this.kept.get(key);
    if (bytes !== undefined) {
      this.kept.delete(key);
      this.kept.set(key, bytes);
    }
    return bytes;
  }

  put(key: object, bytes: Uint8Array): void {
    for (const [oldest, old] of this.kept) {
      if (this.keptBytes + bytes.byteLength <= this.budgetBytes) break;
      this.kept.delete(oldest);
      this.keptBytes -= old.byteLength;
    }
    this.kept.set(key, bytes);
    this.keptBytes += bytes.byteLength;
  }
}
