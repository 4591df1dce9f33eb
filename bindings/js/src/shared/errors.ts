// The one error of the package, and how it travels between threads: as plain data, never as an Error object.
import type { ErrorCode } from '../types.js';

/** Mirrors `halftone::ErrorCode`; a test compares the two lists. */
export const ERROR_CODES: readonly ErrorCode[] = [
  'truncated',
  'not_onnx',
  'unsupported_opset',
  'unsupported_op',
  'unsupported_type',
  'invalid_graph',
  'external_data_missing',
  'shape_mismatch',
  'invalid_policy',
  'invalid_sample',
  'invalid_state',
  'non_finite',
  'too_large',
  'out_of_memory',
  'cancelled',
  'internal',
];

export interface ErrorDetails {
  /** A node, a tensor, a file or "byte 1234"; may be empty. */
  where?: string;
  /** One sentence: what a person can do next; may be empty. */
  next?: string;
  cause?: unknown;
}

export class HalftoneError extends Error {
  override readonly name = 'HalftoneError';
  readonly code: ErrorCode;
  readonly where: string;
  readonly next: string;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.where = details.where ?? '';
    this.next = details.next ?? '';
  }

  /** The shape that `--json` prints. */
  toJSON(): { error: { code: ErrorCode; message: string; where: string; next: string } } {
    return { error: { code: this.code, message: this.message, where: this.where, next: this.next } };
  }
}

export interface WireError {
  name: string;
  message: string;
  code: ErrorCode;
  where: string;
  next: string;
  stack: string;
}

const OUT_OF_MEMORY =
  /bad_alloc|out of memory|memory access out of bounds|Array buffer allocation failed|could not allocate|failed to allocate|cannot enlarge memory/i;

/** Any thrown thing as a HalftoneError; memory that ran out is recognised by the engines' own words. */
export function asHalftoneError(thrown: unknown): HalftoneError {
  if (thrown instanceof HalftoneError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (thrown instanceof Error && thrown.name === 'AbortError') return cancelled();
  if (thrown instanceof RangeError || OUT_OF_MEMORY.test(message)) {
    return new HalftoneError('out_of_memory', 'Memory ran out.', {
      next: 'Close other tabs or programs, use fewer workers, or use a smaller model.',
      cause: thrown,
    });
  }
  return new HalftoneError('internal', message === '' ? 'Something failed without a message.' : message, {
    next: 'This is a fault of Halftone; please report it with the model, if you may.',
    cause: thrown,
  });
}

export function cancelled(): HalftoneError {
  return new HalftoneError('cancelled', 'Cancelled.');
}

export function toWire(thrown: unknown): WireError {
  const error = asHalftoneError(thrown);
  return {
    name: error.name,
    message: error.message,
    code: error.code,
    where: error.where,
    next: error.next,
    stack: error.stack ?? '',
  };
}

export function fromWire(wire: WireError): HalftoneError {
  const error = new HalftoneError(wire.code, wire.message, { where: wire.where, next: wire.next });
  if (wire.stack !== '') error.stack = wire.stack;
  return error;
}
