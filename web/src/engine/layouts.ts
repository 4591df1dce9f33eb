// The worker that lays graphs out. Its script is fetched once, ahead of need: workers of this page start from memory only.

import type { GraphLayout, LayoutRequest } from '../graph/layout';
import layoutUrl from '../graph/layout_worker?worker&url';
import { HalftoneError } from '../package';

interface Answer {
  id: number;
  layout?: GraphLayout;
  error?: string;
}

let script: Promise<string> | null = null;
let worker: Worker | null = null;
let asked = 0;

async function fetchScript(): Promise<string> {
  const answer = await fetch(new URL(layoutUrl, document.baseURI).href, { credentials: 'same-origin' });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  return answer.text();
}

export async function prepareLayouts(): Promise<void> {
  script ??= fetchScript();
  try {
    await script;
  } catch (cause) {
    script = null;
    const next = 'Check the connection and open the graph again.';
    throw new HalftoneError('internal', 'What lays graphs out could not be fetched.', { next, cause });
  }
}

async function start(): Promise<Worker> {
  await prepareLayouts();
  const address = URL.createObjectURL(new Blob([(await script) ?? ''], { type: 'text/javascript' }));
  const made = new Worker(address);
  URL.revokeObjectURL(address);
  return made;
}

/** Aborting ends the worker: what it was laying out is of no use any more. */
export async function layOut(request: LayoutRequest, signal: AbortSignal): Promise<GraphLayout> {
  worker ??= await start();
  const own = worker;
  asked += 1;
  const id = asked;
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      own.terminate();
      if (worker === own) worker = null;
      reject(new HalftoneError('cancelled', 'Cancelled.'));
    };
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    own.onmessage = ({ data }: MessageEvent<Answer>) => {
      if (data.id !== id) return;
      signal.removeEventListener('abort', stop);
      if (data.layout !== undefined) resolve(data.layout);
      else reject(new HalftoneError('internal', `The graph could not be laid out: ${data.error}`));
    };
    own.onerror = () => reject(new HalftoneError('internal', 'The graph could not be laid out.'));
    own.postMessage({ id, request });
  });
}
