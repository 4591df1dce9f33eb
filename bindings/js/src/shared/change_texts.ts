// What writing a model changed beside the pairs, as sentences.
import type { QuantizeReport } from '../types.js';
import { printable } from './printable.js';

/** Changes of the same kind as one line: a model has hundreds of weights. */
export function changeTexts({ changes }: QuantizeReport): string[] {
  const places = new Map<string, string[]>();
  for (const { what, where } of changes) {
    const known = places.get(what);
    if (known === undefined) places.set(what, [where]);
    else known.push(where);
  }
  return [...places].map(([what, where]) => {
    const sentence = what.replace(/\.$/, '');
    if (where.length === 1) return printable(where[0] === '' ? `${sentence}.` : `${sentence} (${where[0]}).`);
    return printable(`${sentence} (${where.length} places).`);
  });
}
