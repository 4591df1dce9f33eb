// onnxruntime-web: one WebAssembly instance with one thread.
import * as ort from 'onnxruntime-web/wasm';
import { readWhole } from '../platform/source.js';
import type { WireSource } from '../shared/protocol.js';
import { createSession } from './onnxruntime_session.js';
import type { Runner } from './runner.js';

export function webRunner(wasm: WireSource): Runner {
  let ready: Promise<void> | null = null;
  const prepare = async () => {
    ort.env.wasm.numThreads = 1;
    ort.env.wasm.proxy = false;
    ort.env.logLevel = 'error';
    const bytes = await readWhole(wasm);
    ort.env.wasm.wasmBinary = bytes.buffer as ArrayBuffer;
  };
  return {
    create: async (model, external, mode) => {
      ready ??= prepare();
      await ready;
      const session = await createSession(ort, model, external, mode, { executionProviders: ['wasm'] });
      // Compiled by the first session; the bytes aren't needed any more.
      ort.env.wasm.wasmBinary = undefined;
      return session;
    },
  };
}
