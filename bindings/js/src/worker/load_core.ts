// Makes an instance of the core from the module that the client compiled once for all workers.
import createCore from '#core-glue';
import { HalftoneError } from '../shared/errors.js';
import type { Core } from './core.js';

/** `onAbort` is told when the instance is dead: nothing in it may be called afterwards. */
export async function loadCore(
  module: WebAssembly.Module,
  onAbort: (error: HalftoneError) => void,
): Promise<Core> {
  const notes: string[] = [];
  const core = await createCore({
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
  return core as Core;
}

function dead(what: string, notes: string[]): HalftoneError {
  const last = notes.slice(-5).join(' ');
  return new HalftoneError('internal', `The core stopped: ${what}${last === '' ? '' : ` (${last})`}.`, {
    next: 'Open the model again; if it happens again, please report it.',
  });
}
