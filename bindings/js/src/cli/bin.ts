// The program: connects the command line to this process.
import { compare } from '../client/compare.js';
import { createEngine } from '../client/engine.js';
import { main } from './main.js';
import { packageVersion } from './package_files.js';

const INTERRUPTED = 130;

const interrupt = new AbortController();
process.on('SIGINT', () => {
  if (interrupt.signal.aborted) process.exit(INTERRUPTED);
  interrupt.abort();
});
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
