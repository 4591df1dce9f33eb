// onnxruntime-node, if the user installed it: the runtime as it is natively.
import { HalftoneError } from '../shared/errors.js';
import { createSession, type OnnxRuntime } from './onnxruntime_session.js';
import type { Runner } from './runner.js';

const MODULE = 'onnxruntime-node';

export function nodeRunner(): Runner {
  let runtime: Promise<OnnxRuntime> | null = null;
  return {
    create: async (model, external, mode) => {
      runtime ??= load();
      return createSession(await runtime, model, external, mode, {
        executionProviders: ['cpu'],
        intraOpNumThreads: 1,
        interOpNumThreads: 1,
      });
    },
  };
}

async function load(): Promise<OnnxRuntime> {
  try {
    // Not a literal, so that no bundler looks for an optional package.
    const specifier = MODULE;
    const module = (await import(specifier)) as OnnxRuntime & { default?: OnnxRuntime };
    return module.default ?? module;
  } catch (thrown) {
    throw new HalftoneError(
      'invalid_state',
      'onnxruntime-node is not installed, and the runner "node" needs it.',
      {
        where: MODULE,
        next: 'Install it with: npm install --ignore-scripts onnxruntime-node, or use the runner "web".',
        cause: thrown,
      },
    );
  }
}
