// Brings the bytes of an array into core memory, slice by slice, and takes away what the core makes of them.
import { type OpenedSource, openSource } from '../platform/source.js';
import { cancelled, HalftoneError } from '../shared/errors.js';
import type { WireSource } from '../shared/protocol.js';
import { type CoreTensorJob, unwrap } from './core.js';
import { macrotask } from './read_into.js';

const SLICE_BYTES = 4 * 2 ** 20;
/** What a job has made is sent on when it is this much. */
const ENOUGH_BYTES = 4 * 2 ** 20;

export interface ByteRange {
  source: WireSource;
  offset: number;
  bytes: number;
  /** Bytes of a value whose order is turned round; 1: none. */
  swap: number;
}

export class ArrayReader {
  private readonly opened: OpenedSource;
  private at = 0;

  constructor(private readonly range: ByteRange) {
    this.opened = openSource(range.source);
    if (range.offset + range.bytes > this.opened.size) {
      this.opened.close();
      throw new HalftoneError('truncated', 'The file is shorter than its own header says.', {
        next: 'Write the array again.',
      });
    }
  }

  get done(): boolean {
    return this.at === this.range.bytes;
  }

  rewind(): void {
    this.at = 0;
  }

  async next(): Promise<Uint8Array> {
    const length = Math.min(SLICE_BYTES, this.range.bytes - this.at);
    const slice = await this.opened.read(this.range.offset + this.at, length);
    this.at += length;
    return this.range.swap > 1 ? swapped(slice, this.range.swap) : slice;
  }

  close(): void {
    this.opened.close();
  }
}

/** Slices hold whole values: their size is a multiple of every width. */
function swapped(bytes: Uint8Array, width: number): Uint8Array {
  for (let at = 0; at + width <= bytes.length; at += width) bytes.subarray(at, at + width).reverse();
  return bytes;
}

/** One slice into the core; its bytes. Precondition: the reader isn't done. */
export async function feedOnce(job: CoreTensorJob, reader: ArrayReader): Promise<number> {
  const slice = await reader.next();
  for (let done = 0; done < slice.length; ) {
    const room = job.next(slice.length - done);
    // Memory that grows while the core works leaves the view empty.
    const count = room.length;
    if (count === 0) {
      throw new HalftoneError('out_of_memory', 'The core has no room for the next part of the array.', {
        next: 'Choose smaller blocks, or close other models.',
      });
    }
    room.set(slice.subarray(done, done + count));
    unwrap(job.commit(count));
    done += count;
  }
  return slice.length;
}

export interface Made {
  pieces: [part: number, bytes: Uint8Array<ArrayBuffer>][];
  /** Bytes of the source. */
  read: number;
  done: boolean;
}

export class TensorFeed {
  private readonly reader: ArrayReader;

  constructor(
    readonly job: CoreTensorJob,
    range: ByteRange,
    private passes: number,
    private readonly parts: number,
  ) {
    this.reader = new ArrayReader(range);
  }

  /** Reads until there is something to send on, or nothing left to read. */
  async next(signal: AbortSignal): Promise<Made> {
    const pieces: Made['pieces'] = [];
    let read = 0;
    for (let made = 0; made < ENOUGH_BYTES && read < 2 * SLICE_BYTES; ) {
      if (signal.aborted) throw cancelled();
      made += this.takeParts(pieces);
      if (this.reader.done) {
        this.passes -= 1;
        if (this.passes <= 0) return { pieces, read, done: true };
        this.reader.rewind();
        continue;
      }
      read += await feedOnce(this.job, this.reader);
      made += this.takeParts(pieces);
      await macrotask();
    }
    return { pieces, read, done: false };
  }

  close(): void {
    this.reader.close();
    this.job.delete();
  }

  private takeParts(pieces: Made['pieces']): number {
    let bytes = 0;
    for (let part = 0; part < this.parts; ++part) {
      const made = unwrap(this.job.take(part));
      if (made.length === 0) continue;
      pieces.push([part, made]);
      bytes += made.length;
    }
    return bytes;
  }
}
