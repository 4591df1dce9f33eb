// .npz files: a ZIP of .npy files, one a key.
import { openNpy } from './npy.js';
import type { SampleFile } from './source.js';
import type { StoredArray } from './stored_array.js';
import { openZip } from './zip.js';

/** The arrays in the file's order; `skipped` names the entries that are no arrays. Errors: invalid_sample. */
export async function openNpz(file: SampleFile): Promise<{ arrays: StoredArray[]; skipped: string[] }> {
  const arrays: StoredArray[] = [];
  const skipped: string[] = [];
  for (const entry of await openZip(file)) {
    if (entry.name.endsWith('.npy'))
      arrays.push(await openNpy(entry.file, file.name, entry.name.slice(0, -4), entry.head));
    else if (!entry.name.endsWith('/')) skipped.push(entry.name);
  }
  return { arrays, skipped };
}
