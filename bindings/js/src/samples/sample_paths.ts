// Node only: paths of files and folders as named sources. Folders are walked; what is no sample file in them is left out here
// already when it is hidden, and named in the set's warnings otherwise.
import { builtin } from '../platform/platform.js';
import { compareNames } from './file_names.js';
import { invalidSample } from './sample_error.js';
import type { NamedSource } from './source.js';

type Fs = typeof import('node:fs');
type Path = typeof import('node:path');

/** Deeper folders are no sample folders; this also ends loops of links. */
const MAX_DEPTH = 16;

/**
 * A file keeps the path as given as its name, a file in a folder the folder's path and its own below it, with "/" everywhere.
 * Errors: invalid_sample for a path that isn't there.
 */
export function openPaths(paths: readonly string[]): NamedSource[] {
  const fs = builtin<Fs>('node:fs');
  const found: NamedSource[] = [];
  for (const path of paths) {
    const facts = fs.statSync(path, { throwIfNoEntry: false });
    if (facts === undefined) {
      throw invalidSample(`There is no file or folder ${path}.`, path, 'Check the name after --samples.');
    }
    const name = path.replaceAll('\\', '/').replace(/\/+$/, '');
    if (facts.isDirectory()) walk(path, name, 0, found);
    else found.push({ name, source: { path } });
  }
  return found;
}

function walk(folder: string, name: string, depth: number, found: NamedSource[]): void {
  if (depth > MAX_DEPTH) {
    throw invalidSample(
      `${name} has folders nested more than ${MAX_DEPTH} deep.`,
      name,
      'Give a folder nearer to the samples.',
    );
  }
  const fs = builtin<Fs>('node:fs');
  const { join } = builtin<Path>('node:path');
  const entries = fs.readdirSync(folder).filter((entry) => !entry.startsWith('.'));
  for (const entry of entries.sort(compareNames)) {
    const path = join(folder, entry);
    const facts = fs.statSync(path, { throwIfNoEntry: false });
    if (facts?.isDirectory()) walk(path, `${name}/${entry}`, depth + 1, found);
    else if (facts?.isFile()) found.push({ name: `${name}/${entry}`, source: { path } });
  }
}
