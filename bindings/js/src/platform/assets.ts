// Finds and loads the package's own files: the worker's script, the core, the runtime. Every address can be given by the
// application; nothing is fetched from another origin.
import type { EngineAssets } from '../client/engine_types.js';
import { HalftoneError } from '../shared/errors.js';
import type { WireSource } from '../shared/protocol.js';
import { builtin, isNode } from './platform.js';
import type { WorkerScript } from './start_worker.js';

const RUNTIME_MODULE = 'onnxruntime-web/ort-wasm-simd-threaded.wasm';

type Fs = typeof import('node:fs');

export async function loadWorkerScript(given: EngineAssets['worker'] | undefined): Promise<WorkerScript> {
  if (typeof given === 'object' && 'text' in given) return given;
  const url = given === undefined ? packageFile('worker.js') : absolute(given);
  if (url.protocol === 'file:' && isNode) return { file: url };
  return { text: await (await fetchAsset(url, "the worker's script")).text() };
}

export async function loadCore(
  given: EngineAssets['core'] | undefined,
  which: 'core' | 'formats' = 'core',
): Promise<WebAssembly.Module> {
  if (given instanceof WebAssembly.Module) return given;
  const [file, what] =
    which === 'core'
      ? ['halftone.wasm', 'the core (halftone.wasm)']
      : ['halftone-formats.wasm', 'the number formats (halftone-formats.wasm)'];
  const bytes = given instanceof Uint8Array ? given : await readAsset(given ?? packageFile(file!), what!);
  try {
    return await WebAssembly.compile(bytes as Uint8Array<ArrayBuffer>);
  } catch (thrown) {
    throw new HalftoneError(
      'internal',
      `${what![0]!.toUpperCase()}${what!.slice(1)} can't be compiled: ${(thrown as Error).message}`,
      {
        next: 'The browser needs WebAssembly with SIMD and exceptions (Chrome 95, Firefox 100, Safari 16.4 or newer).',
        cause: thrown,
      },
    );
  }
}

/** The runtime's bytes as something that can be sent to every worker without a copy each. */
export async function loadRuntime(given: EngineAssets['runtime'] | undefined): Promise<WireSource> {
  if (given instanceof Blob) return given;
  if (given instanceof Uint8Array) return new Blob([given as Uint8Array<ArrayBuffer>]);
  if (given === undefined) {
    if (isNode) return { path: nodeModuleFile(RUNTIME_MODULE) };
    throw new HalftoneError('internal', 'The address of the runtime is not known.', {
      next: `Pass assets.runtime: the address of ${RUNTIME_MODULE} on this origin.`,
    });
  }
  const url = absolute(given);
  if (url.protocol === 'file:' && isNode) {
    return { path: builtin<typeof import('node:url')>('node:url').fileURLToPath(url) };
  }
  return (await fetchAsset(url, 'the runtime (onnxruntime-web)')).blob();
}

async function readAsset(where: URL | string, what: string): Promise<Uint8Array> {
  const url = absolute(where);
  if (url.protocol === 'file:' && isNode) return builtin<Fs>('node:fs').readFileSync(url);
  return new Uint8Array(await (await fetchAsset(url, what)).arrayBuffer());
}

async function fetchAsset(url: URL, what: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: 'same-origin' });
  } catch (thrown) {
    throw new HalftoneError('internal', `Can't load ${what}: the server did not answer.`, {
      where: url.href,
      next: 'Check the connection and try again.',
      cause: thrown,
    });
  }
  const type = response.headers.get('content-type') ?? '';
  if (!response.ok || type.startsWith('text/html')) {
    const reason = response.ok ? 'the server sent a page instead' : `the server answered ${response.status}`;
    throw new HalftoneError('internal', `Can't load ${what}: ${reason}.`, {
      where: url.href,
      next: 'Reload the page; if it stays, the site is not complete.',
    });
  }
  return response;
}

function absolute(where: URL | string): URL {
  if (where instanceof URL) return where;
  return new URL(where, globalThis.location?.href ?? here);
}

/** Where this script is. By name, because bundlers copy whatever `new URL(..., import.meta.url)` might mean. */
const here = import.meta.url;

/**
 * The package's files as addresses that bundlers recognise and copy. Put in front of the built script, and only there: inside a
 * checkout they lie elsewhere.
 */
declare const __halftoneFiles: Record<string, URL> | undefined;

/** Beside the built script; inside a checkout, where the build puts them. */
function packageFile(name: string): URL {
  const told = typeof __halftoneFiles === 'undefined' ? undefined : __halftoneFiles[name];
  const beside = told ?? new URL(`./${name}`, here);
  if (!isNode || beside.protocol !== 'file:') return beside;
  const fs = builtin<Fs>('node:fs');
  for (const candidate of [beside, new URL(`../../dist/${name}`, here)]) {
    if (fs.existsSync(candidate)) return candidate;
  }
  throw new HalftoneError('internal', `A file of the package is missing: ${name}.`, {
    where: beside.href,
    next: 'Install the package again; in a checkout, run the build first.',
  });
}

function nodeModuleFile(specifier: string): string {
  const { createRequire } = builtin<typeof import('node:module')>('node:module');
  try {
    return createRequire(import.meta.url).resolve(specifier);
  } catch (thrown) {
    throw new HalftoneError('internal', 'onnxruntime-web is not installed.', {
      where: specifier,
      next: 'Install it beside this package: npm install onnxruntime-web.',
      cause: thrown,
    });
  }
}
