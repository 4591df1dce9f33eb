// Everything that went wrong, as the page shows it: one sentence, what to do next, and details that fold out.
import { printable } from '../text/format';

export interface Problem {
  code: string;
  message: string;
  where: string;
  next: string;
  /** Other lines for the details, such as the step that failed. */
  during: string;
}

const kLongestSentence = 600;

interface ErrorLike {
  code?: unknown;
  message?: unknown;
  where?: unknown;
  next?: unknown;
}

/** What a person can do about each kind of failure, when the core gave no better advice. */
const kNext: Record<string, string> = {
  truncated: 'Copy or download the file again; its end is missing.',
  not_onnx: 'Export the model to ONNX, then drop the .onnx file.',
  unsupported_opset: 'Convert the model to an opset that the message names, then open it again.',
  unsupported_op: 'Exclude these operators, or export the model without them.',
  unsupported_type: 'Export the model in float32.',
  invalid_graph: 'Run the exporter again, or check the model with the onnx package.',
  external_data_missing: 'Drop the missing data file here; the model opens as soon as it is there.',
  shape_mismatch: 'Use samples with the shape that the input needs.',
  invalid_policy: 'Reset the options, then change them one at a time.',
  invalid_sample: 'Use samples that fit the inputs listed under Model.',
  invalid_state: 'Wait until the running step ends, or cancel it.',
  non_finite: 'Leave out the sample that is named, or repair it.',
  too_large: 'Use the native library for a model of this size.',
  out_of_memory: 'Close other tabs, or use the native library for a model of this size.',
  cancelled: 'Run the step again when you like.',
  internal: 'Try again; if it stays, copy the details into a report.',
};

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function problemFrom(cause: unknown, during: string): Problem {
  const error: ErrorLike = typeof cause === 'object' && cause !== null ? cause : {};
  const code = text(error.code) || 'internal';
  const message =
    text(error.message) || (typeof cause === 'string' ? cause : 'Something failed without saying why.');
  const next = text(error.next) || (kNext[code] ?? kNext.internal ?? '');
  return { code, message: clean(message), where: text(error.where), next: clean(next), during };
}

export function isCancel(cause: unknown): boolean {
  const error = cause as { code?: unknown; name?: unknown } | null;
  return error?.code === 'cancelled' || error?.name === 'AbortError';
}

/** Names of files and tensors may be in a sentence, whatever is in them. */
function clean(message: string): string {
  return printable(sentence(message), kLongestSentence);
}

/** First letter large, a full stop at the end. Names stay as they are: the first letter only if it begins a plain word. */
function sentence(message: string): string {
  const trimmed = message.trim();
  if (trimmed === '') return '';
  const upper = /^[a-z]+[ ,]/.test(trimmed) ? trimmed.charAt(0).toUpperCase() + trimmed.slice(1) : trimmed;
  return /[.?!\u2026]$/.test(upper) ? upper : `${upper}.`;
}

/** The details as plain text, for the clipboard. */
export function problemDetails(problem: Problem, build: { version: string; commit: string }): string {
  const lines = [
    problem.message,
    problem.next,
    `code: ${problem.code}`,
    `where: ${problem.where || 'not known'}`,
    `during: ${problem.during}`,
    `halftone ${build.version} (${build.commit})`,
  ];
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}
