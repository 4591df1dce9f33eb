// Leaves out of the scripts around the two WebAssembly modules what no worker of ours does, for the page's budget of code:
// threads of its own, a proxy worker, graphics processors, pictures as tensors, and addresses (both modules come as bytes).
// The text that is edited is minified, so an edit names what never changes in it; one that no longer fits fails the build.
import { readFileSync } from 'node:fs';

/** Of the runtime: [what is left out, how often it is there, where, what stays]. */
const kEdits = [
  ['threads of the runtime', 1, /=\w&&self\.name\?\.startsWith\("em-pthread"\)/g, '=!1'],
  ['its start as a thread', 1, /globalThis\.self\?\.name\?\.startsWith\("em-pthread"\)/g, '!1'],
  ['making threads', 1, /!globalThis\.SharedArrayBuffer\)return 6;/g, '!0)return 6;'],
  [
    'threads ahead of need',
    1,
    /for\(var \w=\w\.numThreads-1;\w--;\)\w+\(\);\w+\.push\(async\(\)=>\{.*?\}\)(?=\}\)\(\))/g,
    '',
  ],
  ['use of a proxy', 1, /!!\w\.wasm\.proxy&&typeof document<"u"/g, '!1'],
  ['being a proxy', 1, /globalThis\.self\?\.name===\w+/g, '!1'],
  [
    'making a proxy',
    1,
    /\w+=\(\w+\(\),\w+\(\w+\)\)\.default,(\w+=)async\(\)=>\{if\(!\w+\)throw new Error\("Failed to load proxy worker.*?\}(?=,\w+=\(\w+\(\),)/g,
    '$10',
  ],
  [
    'a script fetched',
    1,
    /(=async\(\w,\w,\w,\w\)=>\{)let \w=(\w+)&&!\(\w\|\|\w\);.*?return\[\w\?\w:void 0,await \w+\(\w\)\]\}\}/g,
    '$1return[void 0,$2]}',
  ],
  [
    'a module fetched',
    1,
    /if\(\w\|\|\w\)\{try\{\w=new URL\("\.",\w\)\.href\}catch\{\}.*?throw Error\(\w\.status\+" : "\+\w\.url\)\}\}/g,
    '',
  ],
  [
    'weights fetched',
    1,
    /if\(typeof \w=="string"\)if\(!1\)try.*?return new Uint8Array\(\w,0,\w\)\}\}else return/g,
    'return',
  ],
  ['pictures as tensors', 1, /static async fromImage\(.*?(?=get data\(\))/g, ''],
  [
    'tensors elsewhere',
    1,
    /if\(typeof \w=="object"&&"location"in \w\)switch\(.*?unsupported location '\$\{this\.dataLocation\}'`\)\}else\{/g,
    '{',
  ],
  [
    'tensors of graphics processors',
    2,
    /case"gpu-buffer":(?:return\[|\{let \w=\w\[0\]).*?(?=default:throw new Error\(`invalid data location)/g,
    '',
  ],
  ['asking where a tensor is', 9, /\w+==="(?:gpu-buffer|ml-tensor|ml-tensor-cpu-output)"(?!\?)/g, '!1'],
  ['asking where a graph is', 2, /\w\.webnnIsGraph(?:Input|Output)(?=[,;])/g, '!1'],
  ['words to other providers', 7, /\w\.(?:jsep|webnn|webgpu)On\w+\?\.\(\w*\),/g, ''],
  ['a context of WebNN', 1, /\w\.currentContext&&\(\w\.webnnRegister.*?!0\);/g, '0;'],
  ['making it', 1, /for\(let \w+ of \w\?\.executionProviders\?\?\[\]\)if\(.*?break\}/g, ''],
  ['options of other providers', 1, /case"webnn":if\(.*?(?=case"wasm":case"cpu":continue)/g, ''],
  [
    'starting other providers',
    1,
    /(=async\(\w,\w\)=>\{)\w\(\)\.asyncInit\?\.\(\);let .*?WebNN is not supported in current environment"\)\}/g,
    '$1}',
  ],
  ['where a tensor is', 1, /get texture\(\)\{.*?(?=ensureValid\(\)\{)/g, ''],
  [
    'other shapes of it',
    1,
    /reshape\(\w\)\{if\(this\.ensureValid\(\),this\.downloader.*?return \w+\(this,\w\)\}/g,
    '',
  ],
  // Not smaller: V8 inlines a call of WebAssembly from optimized JavaScript, and after some 3000 runs does so here. What the
  // runtime keeps of vectors on the stack then lies across lines of the cache, and kernels in bodies of control flow, which are
  // deeper by an odd number of words, take three times as long from then on. A target that isn't known isn't inlined.
  ['the call of a run', 1, /await (\w)\._OrtRun\(([^()]*)\)/g, 'await Reflect.apply($1._OrtRun,$1,[$2])'],
  ['traces', 5, /\(typeof \w+\.trace>"u"\?!\w+\.wasm\.trace:!\w+\.trace\)/g, '!0'],
  [
    'profiles of a session',
    1,
    /startProfiling\(\)\{this\.handler\.start.*?this\.handler\.endProfiling\(\)\}/g,
    '',
  ],
  ['profiles', 1, /startProfiling\(\)\{\}endProfiling\(\)\{\w+\(this\.sessionId\)\}/g, ''],
  [
    'kinds of feeds and fetches',
    1,
    /(async run\(t,a,u\)\{_e\(\).*?let (\w)=\{\},\w=\{\};).*?(?=for\(let (\w) of this\.inputNames\)if\(typeof t\[\3\]>"u"\))/g,
    '$1for(const k of a)$2[k]=null;',
  ],
  ['fetching everything', 1, /if\(\w\)for\(let \w of this\.outputNames\)\w\[\w\]=null;/g, ''],
  [
    'tensors without a type',
    1,
    /else if\(m=a,Array\.isArray\(t\)\)\{.*?(?=if\(m===void 0\)m=\[l\.length\])/g,
    '',
  ],
  // Times of day in the runtime's log, stacks and an environment that a page doesn't have.
  ['dates', 2, /(function \w+\(e,r\)\{)e=-9007199254740992>e[^}]*\}/g, '$1}'],
  [
    'seconds of a date',
    1,
    /(function \w+\(e\)\{)e>>>=0;var r=new Date\(.*?BigInt\(isNaN\(e\)\?-1:e\/1e3\)\}/g,
    '$1return-1n}',
  ],
  [
    'time zones',
    1,
    /(function \w+\(e,r,i,s\)\{)e>>>=0,r>>>=0,i>>>=0,s>>>=0;var f=new Date\(\)\.getFullYear\(\).*?17\)\):\(\w+\(\w,\w,17\),\w+\(\w,\w,17\)\)\}/g,
    '$1}',
  ],
  ['the stack', 1, /(function \w+\(\)\{)var e=Error\(\)\.stack\.toString\(\).*?,\w+\.\w+\}/gs, '$1return 0}'],
  [
    'a copy of it',
    1,
    /(function \w+\(e,r,i\)\{)if\(e>>>=0,r>>>=0,\w+\.\w+==e\).*?return e\}/gs,
    '$1return 0}',
  ],
  [
    'names in it',
    1,
    /(function \w+\(e\)\{)if\(!\(e=\w+\[e>>>0\]\)\)return 0;.*?,\w+\.\w+=i,\w+\.\w+\}/gs,
    '$1return 0}',
  ],
  [
    'the environment',
    1,
    /(\w+=\(\)=>\{)if\(!\w+\)\{var e,r=\{USER:"web_user".*?return \w+\}/gs,
    '$1return[]}',
  ],
  [
    'ways to make a session',
    1,
    /if\(typeof t=="string"\)\{if\(d=t.*?(?=let\[\w,\w\]=await \w+\(\w\),)/gs,
    'd=t,c=a;',
  ],
];

/** What may be said to the core's glue and isn't: load_core.ts gives `instantiateWasm`, `print`, `printErr` and `onAbort`. */
const kUnsaid =
  /Module\["(?:arguments|locateFile|monitorRunDependencies|noExitRuntime|onRuntimeInitialized|postRun|preInit|preRun|setStatus|thisProgram|wasmBinary)"\]/g;

/** Of the glue that Emscripten makes for the core; its names are readable. */
const kGlueEdits = [
  ['reading files', 1, /\bENVIRONMENT_IS_NODE=[^;]+;/g, 'ENVIRONMENT_IS_NODE=false;'],
  ['a window', 1, /\bENVIRONMENT_IS_WEB=[^;]+;/g, 'ENVIRONMENT_IS_WEB=false;'],
  ['a worker that fetches', 1, /\bENVIRONMENT_IS_WORKER=[^;]+;/g, 'ENVIRONMENT_IS_WORKER=false;'],
  ['first steps', 1, /if\(Module\["preInit"\]\)\{.*?pop\(\)\(\)\}\}/g, ''],
  ['instantiating by itself', 1, /wasmBinaryFile\?\?=findWasmBinary\(\);.*?return\{\}(?=\})/g, ''],
  ['wide strings', 1, /(__embind_register_std_wstring=function\([^)]*\)\{)/g, '$1return;'],
  [
    'other global objects',
    1,
    /if\(typeof globalThis=="object"\)\{return globalThis\}/g,
    'return globalThis;',
  ],
];

function editedBy(edits, text, whose) {
  let left = text;
  for (const [what, times, where, stays] of edits) {
    const found = left.match(where)?.length ?? 0;
    if (found !== times) {
      throw new Error(
        `${whose} changed: "${what}" is in it ${found} times, not ${times}; see smaller_runtime.mjs.`,
      );
    }
    left = left.replace(where, stays);
  }
  return left;
}

/** For esbuild. */
export const smallerRuntime = {
  name: 'smaller-runtime',
  setup(build) {
    build.onLoad({ filter: /onnxruntime-web[\\/]dist[\\/]ort\.wasm\.bundle\.min\.mjs$/ }, ({ path }) => {
      // A part that nothing else asks for can go.
      const text = readFileSync(path, 'utf8').replaceAll('=N(()=>{', '=/*@__PURE__*/N(()=>{');
      return { contents: editedBy(kEdits, text, "onnxruntime-web's script"), loader: 'js' };
    });
    build.onLoad({ filter: /halftone-(core|formats)\.mjs$/ }, ({ path }) => {
      const text = editedBy(kGlueEdits, readFileSync(path, 'utf8'), "The core's glue");
      return { contents: text.replaceAll(kUnsaid, 'undefined'), loader: 'js' };
    });
  },
};
