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

/** Columns rank, name, score (as in the file, empty if it isn't a number), its 95 % interval, the samples it is of, and detail. */
export function sensitivityCsv({ ranking, halftone }: SensitivityResults): string {
  const rows = ranking.map(({ rank, name, score, detail }, i) => {
    const [low, high] = halftone?.interval?.[i] ?? [null, null];
    const samples = halftone?.samples_used?.[i] ?? halftone?.samples ?? null;
    return [rank, name, score, low, high, samples, detail ?? ''];
  });
  return csvFile(['rank', 'name', 'score', 'low', 'high', 'samples', 'detail'], rows);
}

/** Names that a spreadsheet would run are quoted with an apostrophe; what is no number is empty. */
export function csvFile(
  columns: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  const cell = (value: string | number | null) =>
    typeof value === 'string' ? csvText(value) : (value ?? '');
  const lines = [columns.join(','), ...rows.map((row) => row.map(cell).join(','))];
  return `${lines.join('\r\n')}\r\n`;
}

function csvText(name: string): string {
  const safe = /^[=+\-@\t\r]/.test(name) ? `'${name}` : name;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
