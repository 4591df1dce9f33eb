// What a written file says of where its ranges come from. Encodings may have been read from a file, which may hold anything.
import { HalftoneError } from '../shared/errors.js';
import type { Encodings } from '../types.js';

export interface Provenance {
  method: string;
  samples: number;
}

export function provenanceOf({ method, samples }: Encodings): Provenance {
  const given: { method: unknown; samples: unknown } = { method, samples };
  if (typeof given.method !== 'string') throw misfit('method', 'no text');
  if (!Number.isSafeInteger(given.samples) || samples < 0) throw misfit('samples', 'no count');
  return { method, samples };
}

function misfit(field: string, kind: string): HalftoneError {
  return new HalftoneError('invalid_policy', `The encodings have ${kind} in "${field}".`, {
    where: field,
    next: 'Calibrate again, or give a file that Halftone wrote.',
  });
}
