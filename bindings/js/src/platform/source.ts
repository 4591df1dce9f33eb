// Bytes that can be read in slices, again and again.
import { HalftoneError } from '../shared/errors.js';
import type { WireSource } from '../shared/protocol.js';
import type { ByteSource } from '../types.js';
import { builtin, isNode } from './platform.js';

type Fs = typeof import('node:fs');

export interface OpenedSource {
  readonly size: number;
  /** Fills `into` from `offset`; the caller never asks beyond the end. */
  read(offset: number, length: number): Promise<Uint8Array>;
  close(): void;
}

/** A source as it can be sent to a worker. Bytes are copied once, so that the caller's array stays the caller's. */
export async function toWireSource(source: ByteSource): Promise<WireSource> {
  if (source instanceof Uint8Array) return new Blob([source as Uint8Array<ArrayBuffer>]);
  if (source instanceof Blob)
    return isNode && !canBeCloned(source) ? new Blob([await source.arrayBuffer()]) : source;
  if (typeof source === 'object' && source !== null && typeof source.path === 'string') {
    if (isNode) return { path: source.path };
    throw new HalftoneError('invalid_state', 'A path can be opened in Node only.', {
      next: 'Give a File or bytes.',
    });
  }
  throw new HalftoneError('invalid_state', 'This is no source of bytes.', {
    next: 'Give a File, a Blob, a Uint8Array, or in Node { path }.',
  });
}

/** Node can't send a Blob that stands for a file on disk to another thread. */
function canBeCloned(blob: Blob): boolean {
  try {
    structuredClone(blob);
    return true;
  } catch {
    return false;
  }
}

export function openSource(source: WireSource): OpenedSource {
  return source instanceof Blob ? openBlob(source) : openPath(source.path);
}

function openBlob(blob: Blob): OpenedSource {
  return {
    size: blob.size,
    read: async (offset, length) => {
      try {
        return new Uint8Array(await blob.slice(offset, offset + length).arrayBuffer());
      } catch (thrown) {
        throw unreadable('the file', thrown);
      }
    },
    close: () => {},
  };
}

function openPath(path: string): OpenedSource {
  const fs = builtin<Fs>('node:fs');
  let descriptor: number;
  let size: number;
  try {
    descriptor = fs.openSync(path, 'r');
    const facts = fs.fstatSync(descriptor);
    if (!facts.isFile()) {
      fs.closeSync(descriptor);
      throw new Error('it is not a file');
    }
    size = facts.size;
  } catch (thrown) {
    throw unreadable(path, thrown);
  }
  return {
    size,
    read: async (offset, length) => {
      const bytes = new Uint8Array(length);
      let filled = 0;
      while (filled < length) {
        const got = fs.readSync(descriptor, bytes, filled, length - filled, offset + filled);
        if (got === 0) throw unreadable(path, new Error('it became shorter while it was read'));
        filled += got;
      }
      return bytes;
    },
    close: () => fs.closeSync(descriptor),
  };
}

export async function readWhole(source: WireSource): Promise<Uint8Array> {
  const opened = openSource(source);
  try {
    return await opened.read(0, opened.size);
  } finally {
    opened.close();
  }
}

function unreadable(what: string, thrown: unknown): HalftoneError {
  const code = (thrown as NodeJS.ErrnoException)?.code;
  const reason =
    code === 'ENOENT'
      ? 'there is no such file'
      : code === 'EACCES'
        ? 'it may not be read'
        : thrown instanceof Error
          ? thrown.message
          : String(thrown);
  return new HalftoneError('invalid_state', `Can't read ${what}: ${reason}.`, {
    where: what,
    next: 'Check the name and that the file has not been moved.',
    cause: thrown,
  });
}
