// Builds the package into bindings/js/dist: index.js (client), worker.js (one script for all workers), halftone.wasm (the
// core), halftone-formats.wasm (number formats), cli.js, types/, and the page if it is there. Needs a WASM build of the core (cmake --preset wasm).
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { minify } from 'terser';
import { reportScript } from './report_script.mjs';
import { smallerRuntime } from './smaller_runtime.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '..', '..');
const source = join(here, 'src');
const dist = join(here, 'dist');
const only = new Set(process.argv.slice(2));
const wanted = (part) => only.size === 0 || only.has(part);

/** Where a WASM build of the core may be; the first that is complete is taken. */
function coreFiles() {
  const folders = [process.env.HALFTONE_WASM_DIR, join(root, 'build', 'wasm', 'bindings', 'wasm')].filter(
    Boolean,
  );
  for (const folder of folders) {
    const [core, formats] = ['halftone-core', 'halftone-formats'].map((name) => ({
      glue: join(folder, `${name}.mjs`),
      wasm: join(folder, `${name}.wasm`),
    }));
    const files = [core, formats].flatMap(({ glue, wasm }) => [glue, wasm]);
    if (files.every((file) => existsSync(file))) return { core, formats };
  }
  throw new Error(
    `No WASM build of the core in ${folders.join(' or ')}. Run: cmake --preset wasm && cmake --build --preset wasm`,
  );
}

const common = {
  bundle: true,
  minify: true,
  target: 'es2022',
  sourcemap: false,
  legalComments: 'none',
  logLevel: 'warning',
};

// Bundlers of applications recognise the literal form only.
const packageFiles = `const __halftoneFiles = {
  'worker.js': new URL('./worker.js', import.meta.url),
  'halftone.wasm': new URL('./halftone.wasm', import.meta.url),
  'halftone-formats.wasm': new URL('./halftone-formats.wasm', import.meta.url),
};`;

async function buildClient() {
  await build({
    ...common,
    entryPoints: [join(source, 'index.ts')],
    outfile: join(dist, 'index.js'),
    format: 'esm',
    platform: 'browser',
    minify: false,
    plugins: [reportScript],
    banner: { js: packageFiles },
  });
}

// The worker is an immediately invoked function, so that it starts from a blob in a page and as a file in Node. It has no
// address of its own; the runtime's glue wants one and gets the scope's, or a made-up one in Node.
async function buildWorker() {
  const { core, formats } = coreFiles();
  const { outputFiles } = await build({
    ...common,
    entryPoints: [join(source, 'worker', 'main.ts')],
    outfile: join(dist, 'worker.js'),
    format: 'iife',
    platform: 'browser',
    banner: {
      js: "var __halftone_here=globalThis.location?globalThis.location.href:'file:///halftone/worker.js';",
    },
    define: { 'import.meta.url': '__halftone_here' },
    external: [
      'node:*',
      'module',
      'fs',
      'worker_threads',
      'os',
      'path',
      'perf_hooks',
      'vm',
      'crypto',
      'url',
      'util',
    ],
    alias: { '#core-glue': core.glue, '#formats-glue': formats.glue },
    plugins: [smallerRuntime],
    write: false,
  });
  // Most of it is other people's code that was made small once already; this takes another twelfth away.
  const { code } = await minify(outputFiles[0].text, { ecma: 2022, compress: { passes: 3 } });
  writeFileSync(join(dist, 'worker.js'), code);
  copyFileSync(core.wasm, join(dist, 'halftone.wasm'));
  copyFileSync(formats.wasm, join(dist, 'halftone-formats.wasm'));
}

// The command line is the client and its commands in one file; it finds the worker and the core beside itself.
async function buildCli() {
  const entry = join(source, 'cli', 'bin.ts');
  if (!existsSync(entry)) return;
  await build({
    ...common,
    entryPoints: [entry],
    outfile: join(dist, 'cli.js'),
    format: 'esm',
    platform: 'node',
    minify: false,
    plugins: [reportScript],
    banner: {
      // Bundled CommonJS packages ask for Node's own modules by require.
      js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);",
    },
  });
  chmodSync(join(dist, 'cli.js'), 0o755);
}

function buildTypes() {
  rmSync(join(dist, 'types'), { recursive: true, force: true });
  execFileSync(
    process.execPath,
    [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', join(root, 'tsconfig.types.json')],
    {
      stdio: 'inherit',
    },
  );
}

function buildPage() {
  if (!existsSync(join(root, 'web', 'vite.config.ts'))) return;
  execFileSync(
    process.execPath,
    [join(root, 'node_modules', 'vite', 'bin', 'vite.js'), 'build', 'web', '--logLevel', 'warn'],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
}

mkdirSync(dist, { recursive: true });
if (wanted('client')) await buildClient();
if (wanted('worker')) await buildWorker();
if (wanted('cli')) await buildCli();
if (wanted('types')) buildTypes();
if (wanted('page')) buildPage();
