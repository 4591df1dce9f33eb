// One error for everything that is wrong with a sample: a sentence, the file it is about, and what to do next.
import { HalftoneError } from '../shared/errors.js';

/** `message` is one full sentence; `where` the file as the caller named it; `next` what a person can do about it. */
export function invalidSample(message: string, where: string, next: string): HalftoneError {
  return new HalftoneError('invalid_sample', message, { where, next });
}

/** "[1,3,48,192]"; dynamic dimensions by name, unnamed ones as "?". */
export function shapeText(shape: readonly (number | string | null)[] | null): string {
  if (shape === null) return 'of any shape';
  return `[${shape.map((dim) => (dim === null || dim === '' ? '?' : String(dim))).join(',')}]`;
}
