// How a command ends: 0, 1 for bad input, 2 for a wrong command line, 130 when a person stopped it.
import { asHalftoneError } from '../shared/errors.js';
import { jsonFile } from '../shared/result_files.js';
import { printable, type Terminal } from './terminal.js';

export const EXIT = { ok: 0, badInput: 1, usage: 2, interrupted: 130 } as const;

/** The command line itself is wrong. */
export class UsageError extends Error {
  constructor(
    message: string,
    readonly next = 'See halftone --help.',
  ) {
    super(message);
  }
}

/** Stopped by Ctrl-C after what was complete had been saved; `message` says where. */
export class Interrupted extends Error {}

interface Failure {
  status: number;
  code: string;
  message: string;
  where: string;
  next: string;
}

function describe(thrown: unknown): Failure {
  if (thrown instanceof UsageError) {
    return { status: EXIT.usage, code: 'usage', message: thrown.message, where: '', next: thrown.next };
  }
  if (thrown instanceof Interrupted) {
    return { status: EXIT.interrupted, code: 'cancelled', message: thrown.message, where: '', next: '' };
  }
  const { code, message, where, next } = asHalftoneError(thrown);
  return { status: code === 'cancelled' ? EXIT.interrupted : EXIT.badInput, code, message, where, next };
}

/** Writes the reason to the error stream, as one line or with --json as an object, and gives the exit status. */
export function reportFailure(thrown: unknown, terminal: Terminal, json: boolean): number {
  const { status, code, message, where, next } = describe(thrown);
  if (json) {
    terminal.err(jsonFile({ error: { code, message, where, next } }));
    return status;
  }
  const place = where === '' || message.includes(where) ? '' : ` (${where})`;
  const sentence = message.replace(/\.$/, '');
  terminal.err(`halftone: ${printable(`${sentence}${place}.${next === '' ? '' : ` ${next}`}`)}\n`);
  return status;
}
