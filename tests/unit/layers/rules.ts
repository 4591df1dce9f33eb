// The arrows of ARCHITECTURE.md as rules over what a source file includes or imports.
import { posix } from 'node:path';

/** Every source file of the project: path from its root, and text. */
export type Sources = ReadonlyMap<string, string>;

export interface Use {
  file: string;
  /** As written: `halftone/plan.h`, `<onnx/checker.h>`, `../types.js`. */
  target: string;
}

/** Why a use is wrong; null if it isn't. */
export type Verdict = string | null;

/** What a layer of `src` may include, itself included. */
const MAY_INCLUDE: Record<string, readonly string[]> = {
  base: ['base'],
  numeric: ['base', 'numeric'],
  model: ['base', 'model'],
  codec: ['base', 'numeric', 'model', 'codec'],
  plan: ['base', 'numeric', 'model', 'plan'],
  calibrate: ['base', 'numeric', 'model', 'plan', 'calibrate'],
  sensitivity: ['base', 'numeric', 'model', 'plan', 'calibrate', 'sensitivity'],
  exchange: ['base', 'numeric', 'model', 'codec', 'plan', 'calibrate', 'sensitivity', 'exchange'],
};

/** Which layer a public header of src/include/halftone belongs to: the one that defines what it declares. */
export const PUBLIC_HEADERS: Record<string, string> = {
  'data_type.h': 'base',
  'result.h': 'base',
  'version.h': 'base',
  'aimet_grid.h': 'numeric',
  'code_bytes.h': 'numeric',
  'float_view.h': 'numeric',
  'number_format.h': 'numeric',
  'quant_grid.h': 'numeric',
  'quant_params.h': 'numeric',
  'quantized_tensor.h': 'numeric',
  'small_floats.h': 'numeric',
  'statistics.h': 'numeric',
  'editor.h': 'model',
  'graph.h': 'model',
  'input_shapes.h': 'model',
  'model.h': 'model',
  'staged.h': 'model',
  'subgraph.h': 'model',
  'writer.h': 'model',
  'block_format.h': 'codec',
  'codec.h': 'codec',
  'codec_plan.h': 'codec',
  'codec_schema.h': 'codec',
  'encode_weights.h': 'codec',
  'encoded_model.h': 'codec',
  'encoded_value.h': 'codec',
  'encoded_value_check.h': 'codec',
  'format_trial.h': 'codec',
  'nested_absmax.h': 'codec',
  'ort_matmul_nbits.h': 'codec',
  'shared_parameters.h': 'codec',
  'standard_weights.h': 'codec',
  'storage_format.h': 'codec',
  'struct_type.h': 'codec',
  'aimet_config.h': 'plan',
  'plan.h': 'plan',
  'print_stat.h': 'plan',
  'pattern_preview.h': 'plan',
  'rewrite.h': 'plan',
  'encoding.h': 'calibrate',
  'observer.h': 'calibrate',
  'tensor_report.h': 'calibrate',
  'first_order.h': 'sensitivity',
  'groups.h': 'sensitivity',
  'metric.h': 'sensitivity',
  'mixed_precision.h': 'sensitivity',
  'sensitivity.h': 'sensitivity',
  'sensitivity_results.h': 'sensitivity',
  'sweep_cuts.h': 'sensitivity',
  'switched_part.h': 'sensitivity',
  'exchange.h': 'exchange',
};

/** Made by the build. */
const GENERATED = ['halftone/version.h', 'base/commit.h'];

/** A rewrite writes encodings down: plan may know what one is, but not make one from ranges. */
export const ENCODINGS_AS_DATA = {
  header: 'halftone/encoding.h',
  layer: 'plan',
  notCalled: /\b(?:activation_encoding|weight_encoding|bias_encoding|complete_encodings)\s*\(/,
};

interface Confined {
  what: RegExp;
  name: string;
  /** Folders in which it may be included. */
  to: readonly string[];
}

const CONFINED: readonly Confined[] = [
  {
    what: /^<(?:onnx|google)\//,
    name: 'The headers of onnx and protobuf',
    to: ['src/model/', 'native_tests/'],
  },
  { what: /^<emscripten/, name: 'Emscripten', to: ['bindings/wasm/'] },
  { what: /^<hwy\//, name: 'Highway', to: ['src/numeric/', 'native_tests/'] },
  { what: /^<nlohmann\//, name: 'The JSON library', to: ['src/exchange/', 'native_tests/'] },
  {
    what: /^<(?:iostream|fstream|filesystem|thread|future|condition_variable|stop_token|unistd\.h|dirent\.h|fcntl\.h|pthread\.h|sys\/.*)>$/,
    name: 'What reaches the file system, a terminal or threads',
    to: ['native_tests/'],
  },
];

export function judgeInclude(use: Use, sources: Sources): Verdict {
  if (use.target.startsWith('<')) return judgeSystemHeader(use);
  if (use.file.startsWith('native_tests/')) return null;
  if (use.file.startsWith('bindings/wasm/')) return judgeBindingInclude(use, sources);
  const from = layerOfFile(use.file);
  const to = layerOfHeader(use.target, sources);
  if (from === null) return `${use.file} is in no layer.`;
  if (to === null) return `"${use.target}" is no header of src, by its path from src or src/include.`;
  if (MAY_INCLUDE[from]!.includes(to)) return null;
  if (from === ENCODINGS_AS_DATA.layer && use.target === ENCODINGS_AS_DATA.header) return null;
  return `${from} must not know ${to}.`;
}

function judgeSystemHeader({ file, target }: Use): Verdict {
  for (const { what, name, to } of CONFINED) {
    if (what.test(target) && !to.some((folder) => file.startsWith(folder))) {
      return `${name} may be included only in ${to.join(' and ')}.`;
    }
  }
  const thirdParty = file.startsWith('src/include/') && /[/.]/.test(target);
  return thirdParty ? 'A public header needs nothing but the standard library.' : null;
}

/** The binding sees what every user of the library sees. */
function judgeBindingInclude({ file, target }: Use, sources: Sources): Verdict {
  if (target.startsWith('halftone/'))
    return layerOfHeader(target, sources) === null ? 'No public header.' : null;
  return sources.has(posix.join(posix.dirname(file), target))
    ? null
    : 'The binding includes public headers and its own, nothing from inside src.';
}

function layerOfFile(file: string): string | null {
  const header = /^src\/include\/halftone\/([^/]+)$/.exec(file);
  if (header !== null) return PUBLIC_HEADERS[header[1]!] ?? null;
  const layer = /^src\/([^/]+)\//.exec(file)?.[1];
  return layer !== undefined && layer in MAY_INCLUDE ? layer : null;
}

function layerOfHeader(target: string, sources: Sources): string | null {
  if (target.startsWith('halftone/')) {
    const known = GENERATED.includes(target) || sources.has(`src/include/${target}`);
    return known ? (PUBLIC_HEADERS[target.slice('halftone/'.length)] ?? null) : null;
  }
  return GENERATED.includes(target) || sources.has(`src/${target}`) ? layerOfFile(`src/${target}`) : null;
}

/** What a folder of bindings/js/src may import, itself and the package's types aside. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  types: [],
  shared: [],
  platform: ['shared'],
  runner: ['platform', 'shared'],
  samples: ['platform', 'shared'],
  worker: ['runner', 'platform', 'shared'],
  client: ['samples', 'platform', 'shared'],
  report: ['shared'],
  index: ['client', 'report', 'samples', 'shared'],
  cli: ['index', 'client', 'report', 'samples', 'shared'],
};

/** Vocabulary, not behaviour: every folder may name these. */
const TYPES = [
  'bindings/js/src/types',
  'bindings/js/src/sensitivity_types',
  'bindings/js/src/format_types',
  'bindings/js/src/mixed_types',
  'bindings/js/src/client/engine_types',
];

export function judgeImport(use: Use): Verdict {
  const inPackage = use.file.startsWith('bindings/js/');
  if (use.target.startsWith('.')) {
    const path = posix.join(posix.dirname(use.file), use.target.replace(/\?.*$/, ''));
    return inPackage ? judgePackageImport(use.file, path) : judgePageImport(use, path);
  }
  if (/^onnxruntime-/.test(use.target)) return judgeRuntime(use);
  if (/^#(core|formats)-glue$/.test(use.target) && use.file !== 'bindings/js/src/worker/load_core.ts') {
    return 'Only the worker loads the core.';
  }
  return null;
}

/** The page may hand the runtime's file over as an address; code of it runs in the package's workers only. */
function judgeRuntime({ file, target }: Use): Verdict {
  if (file.startsWith('bindings/js/src/runner/')) return null;
  if (file.startsWith('web/') && target.endsWith('?url')) return null;
  return 'onnxruntime may be imported only in bindings/js/src/runner.';
}

function judgePackageImport(file: string, path: string): Verdict {
  if (!path.startsWith('bindings/js/src/')) return 'The package imports nothing outside bindings/js/src.';
  const [from, to] = [partOf(file), partOf(path)];
  if (from === to || to === 'types') return null;
  if (!(from in MAY_IMPORT)) return `${file} is in no part of the package.`;
  return MAY_IMPORT[from]!.includes(to) ? null : `${from} must not know ${to}.`;
}

/** Makes a module of the package when the package or the page is built. */
const REPORT_SCRIPT = 'bindings/js/report_script.mjs';

function partOf(path: string): string {
  const stem = path.replace(/\.[a-z]+$/, '');
  if (TYPES.includes(stem)) return 'types';
  return stem.slice('bindings/js/src/'.length).split('/')[0]!;
}

function judgePageImport({ file, target }: Use, path: string): Verdict {
  if (path.startsWith('web/')) return null;
  if (/^bindings\/js\/src\/index(\.[jt]s)?$/.test(path)) return null;
  if (path.startsWith('bindings/js/dist/') && target.endsWith('?url')) return null;
  if (file === 'web/vite.config.ts' && path === REPORT_SCRIPT) return null;
  return 'The page imports the public index of the package, built files as addresses, and itself.';
}
