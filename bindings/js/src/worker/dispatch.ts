// Answers requests: each exactly once, whatever a handler does. Unknown requests are errors, never silence.
import { asHalftoneError, HalftoneError, toWire } from '../shared/errors.js';
import type { HostPort } from '../shared/port.js';
import type { OperationName, Operations, Request } from '../shared/protocol.js';
import type { Progress } from '../types.js';

export interface CallContext {
  /** Aborted when the client cancels this request. */
  signal: AbortSignal;
  progress(progress: Progress): void;
  /** Buffers of the answer that go out without a copy. */
  transfer(...buffers: ArrayBuffer[]): void;
}

export type Handler<T extends OperationName> = (
  payload: Operations[T]['in'],
  context: CallContext,
) => Operations[T]['out'] | Promise<Operations[T]['out']>;

export type Handlers = { [T in OperationName]?: Handler<T> };

export function dispatch(port: HostPort, handlers: Handlers): void {
  const running = new Map<number, AbortController>();
  port.listen((message) => {
    const request = message as Request;
    if (request.t === 'cancel') {
      running.get(request.target)?.abort();
      return;
    }
    const abort = new AbortController();
    running.set(request.id, abort);
    void answer(port, handlers, request, abort.signal).finally(() => running.delete(request.id));
  });
}

async function answer(
  port: HostPort,
  handlers: Handlers,
  request: Exclude<Request, { t: 'cancel' }>,
  signal: AbortSignal,
): Promise<void> {
  const { id } = request;
  const transfer: ArrayBuffer[] = [];
  let ended = false;
  try {
    const handler = Object.hasOwn(handlers, request.t)
      ? (handlers[request.t] as (payload: unknown, context: CallContext) => unknown)
      : undefined;
    if (handler === undefined) {
      throw new HalftoneError('internal', `The worker knows no request "${String(request.t)}".`, {
        next: 'The page and its worker are of different versions: reload the page.',
      });
    }
    const value = await handler(request.payload, {
      signal,
      progress: (progress) => ended || port.post({ id, t: 'progress', progress }, []),
      transfer: (...buffers) => transfer.push(...buffers),
    });
    ended = true;
    port.post({ id, t: 'ok', value }, transfer);
  } catch (thrown) {
    ended = true;
    const error = asHalftoneError(thrown);
    if (error.code === 'cancelled') port.post({ id, t: 'cancelled' }, []);
    else port.post({ id, t: 'error', error: toWire(error) }, []);
  }
}
