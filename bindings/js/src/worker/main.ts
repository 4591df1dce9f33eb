// The one script of all workers. Which handlers are used decides what a worker is: one holds models, the others run them.
import { builtin, isNode } from '../platform/platform.js';
import { nodeRunner } from '../runner/node.js';
import type { Runner } from '../runner/runner.js';
import { webRunner } from '../runner/web.js';
import { HalftoneError, toWire } from '../shared/errors.js';
import type { HostPort } from '../shared/port.js';
import { type Fatal, type Operations, PROTOCOL } from '../shared/protocol.js';
import type { Core } from './core.js';
import { dispatch, type Handlers } from './dispatch.js';
import { loadCore } from './load_core.js';
import { modelHandlers } from './model_service.js';
import { RunState, runHandlers } from './run_service.js';

/** What this script uses of a dedicated worker's global scope. */
interface WorkerScope {
  postMessage(message: unknown, transfer: Transferable[]): void;
  onmessage: ((event: MessageEvent) => void) | null;
}

function hostPort(): HostPort {
  if (isNode) {
    const { parentPort } = builtin<typeof import('node:worker_threads')>('node:worker_threads');
    if (parentPort === null) throw new Error('This script runs in a worker thread.');
    return {
      post: (message, transfer) => parentPort.postMessage(message, transfer),
      listen: (onMessage) => void parentPort.on('message', onMessage),
    };
  }
  const scope = globalThis as unknown as WorkerScope;
  return {
    post: (message, transfer) => scope.postMessage(message, transfer),
    listen: (onMessage) => {
      scope.onmessage = (event) => onMessage(event.data);
    },
  };
}

class WorkerHost {
  private core: Core | null = null;
  private runner: Runner | null = null;
  private dead: HalftoneError | null = null;
  private testHooks = false;

  constructor(private readonly port: HostPort) {}

  handlers(): Handlers {
    const coreOf = () => this.requireCore();
    const run = new RunState(coreOf, () => this.requireRunner());
    return {
      hello: (greeting) => this.hello(greeting),
      live: () => (this.core === null ? 0 : this.requireCore().liveObjects() + run.sessions.size),
      memory: () => this.requireCore().memoryBytes(),
      'test.hang': () => this.hang(),
      ...modelHandlers(coreOf),
      ...runHandlers(run),
    };
  }

  private async hello(greeting: Operations['hello']['in']): Promise<Operations['hello']['out']> {
    if (greeting.protocol !== PROTOCOL) {
      throw new HalftoneError(
        'invalid_state',
        `The worker speaks protocol ${PROTOCOL}, and the page ${String(greeting.protocol)}.`,
        { next: 'The page and its worker are of different versions: reload the page.' },
      );
    }
    this.testHooks = greeting.testHooks;
    this.core ??= await loadCore(greeting.core, greeting.module ?? 'core', (error) => this.die(error));
    if (greeting.runner === 'node') this.runner ??= nodeRunner();
    else if (greeting.runtime !== null) this.runner ??= webRunner(greeting.runtime);
    return {
      version: this.core.version(),
      commit: this.core.commit(),
      instructionSet: this.core.instructionSet(),
      errorCodes: this.core.errorCodes(),
    };
  }

  private requireCore(): Core {
    if (this.dead !== null) throw this.dead;
    if (this.core === null) throw new HalftoneError('invalid_state', 'The worker was not greeted yet.');
    return this.core;
  }

  private requireRunner(): Runner {
    if (this.runner === null) throw new HalftoneError('invalid_state', 'This worker has no runtime.');
    return this.runner;
  }

  /** After a crash the instance is dead: nothing in it is called again, and the client starts a new worker. */
  private die(error: HalftoneError): void {
    this.dead = error;
    this.port.post({ t: 'fatal', error: toWire(error) } satisfies Fatal, []);
  }

  private hang(): never {
    if (!this.testHooks) throw new HalftoneError('invalid_state', 'Test hooks are off.');
    for (;;);
  }
}

const port = hostPort();
dispatch(port, new WorkerHost(port).handlers());
