// Reads the project's sources and what each includes or imports.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { ENCODINGS_AS_DATA, judgeImport, judgeInclude, type Sources, type Use } from './rules.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const FOLDERS = ['src', 'bindings/wasm', 'bindings/js/src', 'native_tests', 'web'];
const CPP = /\.(?:cc|h)$/;
const SCRIPT = /\.(?:ts|tsx|mjs|mts)$/;
const SKIPPED = new Set(['node_modules', 'dist']);

export function readSources(): Sources {
  const sources = new Map<string, string>();
  for (const folder of FOLDERS) {
    for (const path of filesIn(join(root, folder))) {
      sources.set(relative(root, path).split(sep).join('/'), readFileSync(path, 'utf8'));
    }
  }
  return sources;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : filesIn(path);
    return CPP.test(entry.name) || SCRIPT.test(entry.name) ? [path] : [];
  });
}

export function includesOf(file: string, text: string): Use[] {
  return [...text.matchAll(/^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|(<[^>]+>))/gm)].map((match) => ({
    file,
    target: match[1] ?? match[2]!,
  }));
}

export function importsOf(file: string, text: string): Use[] {
  return ts
    .preProcessFile(text, true, true)
    .importedFiles.map((imported) => ({ file, target: imported.fileName }));
}

/** One sentence for each arrow in the wrong direction. */
export function violations(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    const judged = CPP.test(file)
      ? includesOf(file, text).map((use) => ({ use, why: judgeInclude(use, sources) }))
      : importsOf(file, text).map((use) => ({ use, why: judgeImport(use) }));
    const wrong = judged.flatMap(({ use, why }) => (why === null ? [] : [`${file} → ${use.target}: ${why}`]));
    return file.startsWith(`src/${ENCODINGS_AS_DATA.layer}/`) && ENCODINGS_AS_DATA.notCalled.test(text)
      ? [...wrong, `${file}: plan takes encodings as data and makes none from ranges.`]
      : wrong;
  });
}
