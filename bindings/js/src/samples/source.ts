// A sample file as the readers see it: a name, a size, and bytes on request. The readers ask for the parts they need, so a
// file with thousands of samples is never in memory as a whole. Paths are opened for each read: thousands of files would
// otherwise be open at once.
import { openSource } from '../platform/source.js';
import { HalftoneError } from '../shared/errors.js';
import type { ByteSource } from '../types.js';
import { invalidSample } from './sample_error.js';

/** A file that can be read in parts. Offsets beyond `size` are never asked for. */
export interface ReadableFile {
  readonly size: number;
  /** The bytes from `start` up to, not including, `end`; they belong to the caller. */
  slice(start: number, end: number): Promise<Uint8Array>;
}

/** `name` may have folders in front ("digits/sample_0_x.npy"); files of one folder belong together. */
export interface NamedSource {
  name: string;
  source: ByteSource;
}

/** A file with its name, checked for short reads. */
export interface SampleFile extends ReadableFile {
  readonly name: string;
}

/** Opens without reading. Errors: invalid_sample; a file that changed since is an error at the read, never zeros. */
export function openSampleFile({ name, source }: NamedSource): SampleFile {
  if (source instanceof Uint8Array) {
    return { name, size: source.byteLength, slice: async (start, end) => source.slice(start, end) };
  }
  const reopened = async <T>(use: (file: ReturnType<typeof openSource>) => T | Promise<T>): Promise<T> => {
    const file = openSource(source);
    try {
      return await use(file);
    } finally {
      file.close();
    }
  };
  const size = source instanceof Blob ? source.size : pathSize(source.path, name);
  const slice = async (start: number, end: number): Promise<Uint8Array> => {
    const bytes = await named(name, () => reopened((file) => file.read(start, end - start)));
    if (bytes.byteLength === end - start) return bytes;
    throw invalidSample(`${name} became shorter while it was read.`, name, 'Choose the file again.');
  };
  return { name, size, slice };
}

function pathSize(path: string, name: string): number {
  try {
    const file = openSource({ path });
    file.close();
    return file.size;
  } catch (error) {
    throw asSampleError(error, name);
  }
}

async function named<T>(name: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw asSampleError(error, name);
  }
}

function asSampleError(error: unknown, name: string): unknown {
  if (!(error instanceof HalftoneError) || error.code !== 'invalid_state') return error;
  return invalidSample(error.message, name, error.next);
}

export function readWhole(file: ReadableFile): Promise<Uint8Array> {
  return file.slice(0, file.size);
}
