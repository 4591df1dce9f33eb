// Starts a worker. In a page its script is text in a blob, so that it inherits the page's security policy even on hosts that
// can't send headers (a worker loaded from the network doesn't).
import type { WorkerPort } from '../shared/port.js';
import { builtin, isNode } from './platform.js';

export type WorkerScript = { text: string } | { file: URL };

export function startWorker(script: WorkerScript): WorkerPort {
  return isNode ? startThread(script) : startBlobWorker(script);
}

function startBlobWorker(script: WorkerScript): WorkerPort {
  const text = 'text' in script ? script.text : `importScripts(${JSON.stringify(script.file.href)});`;
  const url = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));
  const worker = new Worker(url, { name: 'halftone' });
  // The text may still be on its way to the worker's thread; its first word says that it arrived.
  let revoke = () => {
    URL.revokeObjectURL(url);
    revoke = () => {};
  };
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    listen: (onMessage, onFailure) => {
      worker.onmessage = (event) => {
        revoke();
        onMessage(event.data);
      };
      worker.onmessageerror = () => onFailure('A message from the worker could not be read.');
      worker.onerror = (event) => {
        event.preventDefault();
        onFailure(`The worker failed: ${event.message || 'its script could not be started'}`);
      };
    },
    terminate: () => {
      worker.terminate();
      revoke();
    },
    keepAlive: () => {},
  };
}

function startThread(script: WorkerScript): WorkerPort {
  const { Worker: Thread } = builtin<typeof import('node:worker_threads')>('node:worker_threads');
  // None of the program's own flags: some of them (such as --input-type) don't fit a script in a file.
  const options = { execArgv: [] };
  const thread =
    'text' in script ? new Thread(script.text, { ...options, eval: true }) : new Thread(script.file, options);
  let ended = false;
  return {
    post: (message, transfer) => thread.postMessage(message, transfer),
    listen: (onMessage, onFailure) => {
      thread.on('message', onMessage);
      thread.on('messageerror', () => onFailure('A message from the worker could not be read.'));
      thread.on('error', (error) => onFailure(`The worker failed: ${error.message}`));
      thread.on('exit', () => {
        if (!ended) onFailure('The worker ended by itself.');
      });
    },
    terminate: () => {
      ended = true;
      void thread.terminate();
    },
    keepAlive: (yes) => {
      if (yes) thread.ref();
      else thread.unref();
    },
  };
}
