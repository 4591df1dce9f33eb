// The program: connects the command line to this process.
import { setFlagsFromString } from 'node:v8';
import { compare } from '../client/compare.js';
import { createEngine } from '../client/engine.js';
import { main } from './main.js';
import { packageVersion } from './package_files.js';

/*
 * How much a function of a WebAssembly module runs before V8 compiles it a second time, optimised. With Node 20's default
 * (1.8 MB of code run) a sweep of a small model spends a third of its time compiling functions of the runtime that it then
 * hardly uses; from about ten times that on it doesn't, and long sweeps end up with the same code. Newer versions of V8 have
 * raised it for the same reason.
 */
setFlagsFromString('--wasm-tiering-budget=30000000');

const INTERRUPTED = 130;

const interrupt = new AbortController();
// A scheduler that wants its machine back sends SIGTERM: what is complete is saved then, too.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupt.signal.aborted) process.exit(INTERRUPTED);
    interrupt.abort();
  });
}
// A reader that went away ("halftone inspect … | head") is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

process.exitCode = await main(process.argv.slice(2), {
  terminal: {
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    errIsTty: process.stderr.isTTY === true,
    now: () => performance.now(),
  },
  halftone: { version: packageVersion(), createEngine, compare },
  signal: interrupt.signal,
});
