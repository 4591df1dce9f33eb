// SHA-256 of a file, slice by slice.
import { builtin, isNode } from '../platform/platform.js';
import { openSource } from '../platform/source.js';
import { cancelled } from '../shared/errors.js';
import type { WireSource } from '../shared/protocol.js';
import type { CallContext } from './dispatch.js';
import { macrotask } from './read_into.js';
import { Sha256 } from './sha256.js';

const SLICE_BYTES = 4 * 2 ** 20;

interface Hasher {
  update(bytes: Uint8Array): void;
  hex(): string;
}

export async function hashSource(source: WireSource, context: CallContext): Promise<string> {
  const opened = openSource(source);
  try {
    const hasher = isNode ? nodeHasher() : new Sha256();
    for (let offset = 0; offset < opened.size; offset += SLICE_BYTES) {
      if (context.signal.aborted) throw cancelled();
      hasher.update(await opened.read(offset, Math.min(SLICE_BYTES, opened.size - offset)));
      await macrotask();
    }
    return hasher.hex();
  } finally {
    opened.close();
  }
}

function nodeHasher(): Hasher {
  const hash = builtin<typeof import('node:crypto')>('node:crypto').createHash('sha256');
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') };
}
