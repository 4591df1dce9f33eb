// The sizes that the page promises, measured on what was built: prints a table and fails above a limit.
//
//   node web/budget.mjs [FOLDER]        FOLDER defaults to bindings/js/dist/web
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const kCode = new Set(['.html', '.js', '.css', '.svg', '.json', '.webmanifest']);
const kLimits = { code: 150_000, core: 600_000, firstScreenGzip: 90_000, firstScreenRequests: 8 };

function brotli(bytes) {
  return brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).byteLength;
}

function filesOf(folder) {
  const inFolder = (path) =>
    readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry) => {
      const name = path === '' ? entry.name : `${path}/${entry.name}`;
      return entry.isDirectory() ? inFolder(name) : [name];
    });
  return inFolder('').filter((name) => !name.startsWith('samples/'));
}

/** What a browser requests to show the first screen: the page and what it names. The engine warms up after it. */
function firstScreen(folder) {
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  const named = [...html.matchAll(/(?:src|href)="\.?\/?([^"#:]+)"/g)].map((match) => match[1]);
  return ['index.html', ...new Set(named)];
}

/** The lines of the table: what, how much, at most how much. */
export function measure(folder) {
  const names = filesOf(folder);
  const read = (name) => readFileSync(join(folder, name));
  const code = names.filter((name) => kCode.has(extname(name)));
  const core = names.filter((name) => /(^|\/)halftone-(?!formats)[^/]*\.wasm$/.test(name));
  const formats = names.filter((name) => /(^|\/)halftone-formats[^/]*\.wasm$/.test(name));
  const first = firstScreen(folder);
  const sum = (list, size) => list.reduce((total, name) => total + size(read(name)), 0);
  return [
    { what: 'all page code, brotli', value: sum(code, brotli), limit: kLimits.code },
    { what: 'core, brotli', value: sum(core, brotli), limit: kLimits.core },
    { what: 'number formats, when asked for, brotli', value: sum(formats, brotli), limit: kLimits.core },
    {
      what: 'first screen, gzip',
      value: sum(first, (bytes) => gzipSync(bytes).byteLength),
      limit: kLimits.firstScreenGzip,
    },
    { what: 'first screen, requests', value: first.length, limit: kLimits.firstScreenRequests },
    ...code.map((name) => ({ what: `  ${name}, brotli`, value: brotli(read(name)), limit: null })),
  ];
}

export function checkBudget(folder) {
  const lines = measure(folder);
  for (const { what, value, limit } of lines) {
    console.log(`${what.padEnd(48)} ${String(value).padStart(9)}${limit === null ? '' : ` of ${limit}`}`);
  }
  const above = lines.filter(({ value, limit }) => limit !== null && value > limit);
  const missing = lines.find(({ what, value }) => what === 'core, brotli' && value === 0);
  if (missing) throw new Error('The core is not in the page.');
  if (above.length > 0) throw new Error(`Above the budget: ${above.map(({ what }) => what).join('; ')}.`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  checkBudget(process.argv[2] ?? fileURLToPath(new URL('../bindings/js/dist/web', import.meta.url)));
}
