// What a pattern takes, as one sentence.
import type { PatternMatch } from '../package';
import { count, counted, printable } from './format';

const kNamesShown = 4;

/** "8 nodes: a, b, c, d and 4 more"; empty for none. */
function listed(names: readonly string[], what: string): string {
  if (names.length === 0) return '';
  const shown = names.slice(0, kNamesShown).map((name) => printable(name, 40));
  const rest = names.length - shown.length;
  return `${counted(names.length, what)}: ${shown.join(', ')}${rest > 0 ? ` and ${count(rest)} more` : ''}`;
}

/** How much, and the first of it; for none, what is near. */
export function matchSentence({ nodes, tensors, near_misses: near }: PatternMatch): string {
  const taken = [listed(nodes, 'node'), listed(tensors, 'tensor')].filter((part) => part !== '');
  if (taken.length > 0) return taken.join('; ');
  const names = near.map((name) => printable(name, 60)).join(', ');
  return `Takes nothing${names === '' ? '.' : `; near it: ${names}`}`;
}
