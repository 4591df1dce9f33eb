// Where the package's own files are: beside the built command line, or in the checkout that it was built in.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));

/** The folder with the package's package.json: the checkout, or the installed package. */
export function packageFolder(): string {
  for (let folder = HERE; ; folder = dirname(folder)) {
    const file = join(folder, 'package.json');
    if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).name === 'halftone') return folder;
    if (dirname(folder) === folder) return HERE;
  }
}

/** The checkout, or null in an installed package, which has neither the page's sources nor the samples. */
export function checkoutFolder(): string | null {
  const folder = packageFolder();
  return existsSync(join(folder, 'web', 'samples', 'samples.json')) ? folder : null;
}

export function pageFolder(): string {
  return join(packageFolder(), 'bindings', 'js', 'dist', 'web');
}

export function packageVersion(): string {
  return JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')).version;
}
