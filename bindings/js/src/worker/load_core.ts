// Makes an instance of the core from the module that the client compiled once for all workers.
import createCore from '#core-glue';
import createFormats from '#formats-glue';
import { HalftoneError } from '../shared/errors.js';
import { type Core, MODULE_NAMES } from './core.js';

/** The module of number formats is an instance of its own, with a part of the core's functions and some more. */
export type CoreModule = 'core' | 'formats';

/** `onAbort` is told when the instance is dead: nothing in it may be called afterwards. */
export async function loadCore(
  module: WebAssembly.Module,
  which: CoreModule,
  onAbort: (error: HalftoneError) => void,
): Promise<Core> {
  const notes: string[] = [];
  const core = await (which === 'core' ? createCore : createFormats)({
    instantiateWasm: (imports, done) => {
      WebAssembly.instantiate(module, imports).then(
        (instance) => done(instance, module),
        (error) => onAbort(dead(String(error), notes)),
      );
      return {};
    },
    print: (text) => notes.push(text),
    printErr: (text) => notes.push(text),
    onAbort: (what) => onAbort(dead(String(what), notes)),
  });
  requireNames(core as Record<string, unknown>, which);
  return core as Core;
}

/** A core of another version than this script would fail later, in the middle of something. */
function requireNames(core: Record<string, unknown>, which: CoreModule): void {
  const { functions, classes } = MODULE_NAMES[which];
  const missing = functions.filter((name) => typeof core[name] !== 'function');
  for (const [name, methods] of Object.entries(classes)) missing.push(...missingMethods(core[name], methods));
  if (missing.length === 0) return;
  throw new HalftoneError(
    'internal',
    `The core lacks ${missing.join(', ')}: it and the worker are of different versions.`,
    {
      next: 'Reload the page, or install the package again.',
    },
  );
}

function missingMethods(handle: unknown, names: readonly string[]): string[] {
  const methods = (handle as { prototype?: Record<string, unknown> } | undefined)?.prototype ?? {};
  return names.filter((name) => typeof methods[name] !== 'function');
}

function dead(what: string, notes: string[]): HalftoneError {
  const last = notes.slice(-5).join(' ');
  return new HalftoneError('internal', `The core stopped: ${what}${last === '' ? '' : ` (${last})`}.`, {
    next: 'Open the model again; if it happens again, please report it.',
  });
}
