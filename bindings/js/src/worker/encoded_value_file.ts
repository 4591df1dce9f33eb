// Where the payload of an EncodedValueProto lies in its file, and the message without it. Only the fields of the message
// itself are walked over; the core reads what is in them.
import { type OpenedSource, openSource } from '../platform/source.js';
import { HalftoneError } from '../shared/errors.js';
import type { WireSource } from '../shared/protocol.js';

const RAW_DATA = 4;
/** A descriptor of any sensible value takes a few hundred bytes; codes belong into the payload. */
const MOST_FRAME_BYTES = 64 * 2 ** 20;

export interface EncodedValueFile {
  frame: Uint8Array;
  payloadStart: number;
  payloadBytes: number;
}

/** Errors: truncated and invalid_graph, with the byte. */
export async function openEncodedValue(source: WireSource): Promise<EncodedValueFile> {
  const opened = openSource(source);
  try {
    return await new MessageWalk(opened).walk();
  } finally {
    opened.close();
  }
}

class MessageWalk {
  private at = 0;
  private readonly kept: Uint8Array[] = [];
  private keptBytes = 0;
  private payload: { start: number; bytes: number } | null = null;

  constructor(private readonly file: OpenedSource) {}

  async walk(): Promise<EncodedValueFile> {
    if (this.file.size === 0) throw this.damaged('truncated', 'is empty');
    while (this.at < this.file.size) await this.field();
    const frame = new Uint8Array(this.keptBytes);
    let to = 0;
    for (const part of this.kept) {
      frame.set(part, to);
      to += part.length;
    }
    const { start, bytes } = this.payload ?? { start: 0, bytes: 0 };
    return { frame, payloadStart: start, payloadBytes: bytes };
  }

  private async field(): Promise<void> {
    const start = this.at;
    const tag = await this.varint();
    const [field, wireType] = [Math.floor(tag / 8), tag % 8];
    if (wireType === 0) await this.varint();
    else if (wireType === 1) this.skip(8);
    else if (wireType === 5) this.skip(4);
    else if (wireType === 2) {
      const length = await this.varint();
      if (field === RAW_DATA) {
        if (this.payload !== null) throw this.damaged('invalid_graph', 'has two payloads');
        this.payload = { start: this.at, bytes: length };
        this.skip(length);
        return;
      }
      this.skip(length);
    } else throw this.damaged('invalid_graph', 'has a field of unknown kind');
    await this.keep(start);
  }

  private async keep(start: number): Promise<void> {
    this.keptBytes += this.at - start;
    if (this.keptBytes > MOST_FRAME_BYTES) throw this.damaged('too_large', 'has a description of over 64 MB');
    this.kept.push(await this.file.read(start, this.at - start));
  }

  private skip(bytes: number): void {
    if (bytes > this.file.size - this.at) throw this.damaged('truncated', 'ends inside a field');
    this.at += bytes;
  }

  private async varint(): Promise<number> {
    const bytes = await this.file.read(this.at, Math.min(10, this.file.size - this.at));
    let value = 0;
    for (let i = 0; i < bytes.length; ++i) {
      const byte = bytes[i]!;
      value += (byte & 127) * 2 ** (7 * i);
      if (byte >= 128) continue;
      this.at += i + 1;
      return value;
    }
    throw this.damaged(bytes.length < 10 ? 'truncated' : 'invalid_graph', 'has a number without an end');
  }

  private damaged(code: 'truncated' | 'invalid_graph' | 'too_large', what: string): HalftoneError {
    return new HalftoneError(code, `The file is no encoded value: it ${what}.`, {
      where: `byte ${this.at}`,
      next: 'Give a file that halftone encode or onnx-light wrote (one EncodedValueProto).',
    });
  }
}
