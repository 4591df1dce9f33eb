// Brings a file into memory that the core owns, slice by slice.
import { openSource } from '../platform/source.js';
import { cancelled, HalftoneError } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import type { WireSource } from '../shared/protocol.js';
import type { CoreModel } from './core.js';
import { unwrap } from './core.js';
import type { CallContext } from './dispatch.js';

const SLICE_BYTES = 16 * 2 ** 20;
/** The core's memory has addresses of 32 bits; a quarter of a gigabyte stays free to work with. */
const LARGEST_FILE_BYTES = 3.75 * 2 ** 30;

/** `begin` reserves memory for the file's size and gives the model to fill. Returns the number of bytes. */
export async function readInto(
  source: WireSource,
  context: CallContext,
  begin: (bytes: number) => CoreModel,
): Promise<number> {
  const opened = openSource(source);
  try {
    if (opened.size > LARGEST_FILE_BYTES) throw tooLarge(opened.size);
    const model = begin(opened.size);
    const progress = new ProgressReporter('open', 'bytes', opened.size, context.progress);
    for (let offset = 0; offset < opened.size; ) {
      if (context.signal.aborted) throw cancelled();
      const slice = await opened.read(offset, Math.min(SLICE_BYTES, opened.size - offset));
      fill(model, slice);
      offset += slice.length;
      progress.advance(slice.length);
      await macrotask();
    }
    progress.finish();
    return opened.size;
  } finally {
    opened.close();
  }
}

function tooLarge(bytes: number): HalftoneError {
  const gigabytes = (value: number) => `${(value / 1e9).toFixed(2)} GB`;
  return new HalftoneError(
    'too_large',
    `The file has ${gigabytes(bytes)}, and files up to ${gigabytes(LARGEST_FILE_BYTES)} can be opened here.`,
    { next: 'Use the native program for a model of this size.' },
  );
}

function fill(model: CoreModel, slice: Uint8Array): void {
  for (let done = 0; done < slice.length; ) {
    const room = model.next(slice.length - done);
    if (room.length === 0)
      throw new HalftoneError('internal', 'The core has no room for the rest of the file.');
    room.set(slice.subarray(done, done + room.length));
    unwrap(model.commit(room.length));
    done += room.length;
  }
}

/** Lets messages in: a cancel that waits is seen before the next slice. */
export function macrotask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(null);
  });
}
