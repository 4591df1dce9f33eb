// The one script of an HTML report, as text: bindings/js/src/report/in_file bundled to a single function, with the hash that the
// report's policy names. The module "#report-script" exists in every build and in the tests through these two plugins.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const NAME = '#report-script';
const entry = fileURLToPath(new URL('./src/report/in_file/main.ts', import.meta.url));

function moduleText() {
  const { outputFiles } = buildSync({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    charset: 'ascii',
    legalComments: 'none',
  });
  const text = outputFiles[0].text.trim();
  if (/<\/script|<!--/i.test(text)) throw new Error('The script of the report would end its own element.');
  const hash = createHash('sha256').update(text).digest('base64');
  return `export const text = ${JSON.stringify(text)};\nexport const hash = ${JSON.stringify(hash)};\n`;
}

/** For esbuild. */
export const reportScript = {
  name: 'halftone-report-script',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${NAME}$`) }, () => ({ path: NAME, namespace: 'report-script' }));
    build.onLoad({ filter: /.*/, namespace: 'report-script' }, () => ({ contents: moduleText() }));
  },
};

/** For Vite and Vitest. */
export function viteReportScript() {
  return {
    name: 'halftone-report-script',
    enforce: 'pre',
    resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
    load: (id) => (id === `\0${NAME}` ? moduleText() : null),
  };
}
