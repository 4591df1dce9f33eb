// Results as files, the same from the page and from the command line.
import type { SensitivityResults } from '../types.js';

/** Would move the cursor, or turn the direction of text, where a file is shown in a terminal. JSON escapes only those below U+0020. */
const UNSAFE = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * UTF-8 text with two spaces and a newline at the end; non-finite numbers are null. Numbers are written as the shortest text that
 * reads back to the same double; those that the core computed as float32 come as the shortest of their float32 already.
 */
export function jsonFile(value: unknown): string {
  return `${JSON.stringify(value, null, 2).replace(UNSAFE, escaped)}\n`;
}

/** Columns rank, name, score (dB, empty if it isn't a number). Names that a spreadsheet would run are quoted with an apostrophe. */
export function sensitivityCsv(results: SensitivityResults): string {
  const rows = results.ranking.map(({ rank, name, score }) => `${rank},${csvText(name)},${score ?? ''}`);
  return `${['rank,name,score', ...rows].join('\r\n')}\r\n`;
}

function csvText(name: string): string {
  const safe = /^[=+\-@\t\r]/.test(name) ? `'${name}` : name;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
