import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { minify } from 'terser';
import { defineConfig, type Plugin } from 'vite';
import { viteReportScript } from '../bindings/js/report_script.mjs';
import { checkBudget } from './budget.mjs';
import { packageOnly } from './package_only.mjs';
import { headersFile, policy } from './policy.mjs';
import { smallerJpeg } from './smaller_jpeg.mjs';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const built = here('../bindings/js/dist/web');

/** The commit that is built; "unknown" outside a checkout. */
function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], {
      cwd: here('..'),
      encoding: 'utf8',
    }).trim();
  } catch {
    return 'unknown';
  }
}

/** Every script once more, after the bundler: together a thirtieth less. Names stay, whose hashes are of the same sources. */
async function makeSmaller(folder: string): Promise<void> {
  for (const name of readdirSync(folder).filter((file) => file.endsWith('.js'))) {
    const path = `${folder}/${name}`;
    // Workers start as classic scripts. All of one's names that begin with _ are dagre's own.
    const shape = name.startsWith('layout_worker')
      ? { mangle: { properties: { regex: /^_/ } } }
      : { module: !name.startsWith('worker') };
    const options = {
      ...shape,
      ecma: 2020,
      compress: {
        passes: 3,
        keep_fargs: false,
        unsafe_arrows: true,
        unsafe_methods: true,
        pure_getters: true,
      },
    } as const;
    const { code } = await minify(readFileSync(path, 'utf8'), options);
    if (code !== undefined) writeFileSync(path, code);
  }
}

/** Lazily loaded scripts need nothing but what the page has; Vite's helper would look for more. */
function nothingToPreload(): Plugin {
  return {
    name: 'halftone-nothing-to-preload',
    enforce: 'pre',
    load: (id) =>
      id.includes('vite/preload-helper') ? 'export const __vitePreload = (load) => load();' : null,
  };
}

/** Puts the policy into the page, and what isn't bundled beside it; ends with the budget. */
function site(): Plugin {
  return {
    name: 'halftone-site',
    transformIndexHtml: (html) => html.replace('%POLICY%', policy),
    async closeBundle() {
      await makeSmaller(`${built}/assets`);
      writeFileSync(`${built}/_headers`, headersFile);
      execFileSync(process.execPath, [here('samples/copy.mjs'), `${built}/samples`]);
      checkBudget(built);
    },
  };
}

const { version } = JSON.parse(readFileSync(here('../package.json'), 'utf8')) as { version: string };

export default defineConfig({
  root: here('.'),
  base: './',
  define: {
    __VERSION__: JSON.stringify(version),
    __COMMIT__: JSON.stringify(commit()),
    // No Node here: what the package does there is left out.
    process: 'undefined',
  },
  build: {
    outDir: built,
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // No data: addresses; the policy has none.
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    chunkSizeWarningLimit: 1000,
    reportCompressedSize: false,
  },
  plugins: [nothingToPreload(), packageOnly, smallerJpeg, viteReportScript(), site()],
});
