// SHA-256 in parts, where the platform has no hash that takes more than one. FIPS 180-4, 4.1.2, 5 and 6.2.

const BLOCK = 64;

/** The first 32 bits behind the point of a root. */
const fraction = (root: number) => Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;

function primes(count: number): number[] {
  const found: number[] = [];
  for (let n = 2; found.length < count; ++n) if (found.every((prime) => n % prime !== 0)) found.push(n);
  return found;
}

const PRIMES = primes(64);
const ROUNDS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const START = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

const turn = (word: number, by: number) => (word >>> by) | (word << (32 - by));

export class Sha256 {
  private readonly state = Int32Array.from(START);
  private readonly words = new Int32Array(64);
  /** Bytes that don't fill a block yet. */
  private readonly rest = new Uint8Array(BLOCK);
  private length = 0;

  update(bytes: Uint8Array): void {
    let at = 0;
    const held = this.length % BLOCK;
    this.length += bytes.length;
    if (held > 0) {
      at = Math.min(BLOCK - held, bytes.length);
      this.rest.set(bytes.subarray(0, at), held);
      if (held + at < BLOCK) return;
      this.block(this.rest, 0);
    }
    for (; at + BLOCK <= bytes.length; at += BLOCK) this.block(bytes, at);
    this.rest.set(bytes.subarray(at));
  }

  /** Ends it; nothing may be added afterwards. */
  hex(): string {
    const bits = this.length * 8;
    const end = new Uint8Array(BLOCK + 8 - ((this.length + 8) % BLOCK));
    end[0] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(end.length - 4, bits >>> 0);
    this.update(end);
    return Array.from(this.state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  private block(bytes: Uint8Array, at: number): void {
    const { state, words: w } = this;
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, BLOCK);
    for (let i = 0; i < 16; ++i) w[i] = view.getInt32(4 * i);
    for (let i = 16; i < 64; ++i) {
      const x = w[i - 15]!;
      const y = w[i - 2]!;
      const s0 = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
      const s1 = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
      w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
    }
    // One by one: taking a list apart for every block takes as long as all of its rounds.
    let a = state[0]!;
    let b = state[1]!;
    let c = state[2]!;
    let d = state[3]!;
    let e = state[4]!;
    let f = state[5]!;
    let g = state[6]!;
    let h = state[7]!;
    for (let i = 0; i < 64; ++i) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const added = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i]! + w[i]!) | 0;
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      h = g;
      g = f;
      f = e;
      e = (d + added) | 0;
      d = c;
      const majority = (a & b) ^ (a & c) ^ (b & c);
      c = b;
      b = a;
      a = (added + s0 + majority) | 0;
    }
    state[0]! += a;
    state[1]! += b;
    state[2]! += c;
    state[3]! += d;
    state[4]! += e;
    state[5]! += f;
    state[6]! += g;
    state[7]! += h;
  }
}
