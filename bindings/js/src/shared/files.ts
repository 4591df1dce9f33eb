// Results as the files that every surface writes: the same bytes from the CLI and from the page.
import type { Encodings, Plan, SensitivityResults } from '../types.js';

/** UTF-8, two spaces, a line end at the end. Numbers as the shortest text that reads back to the same number. */
export function jsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

export function planJson(plan: Plan): string {
  return jsonText(plan);
}

export function encodingsJson(encodings: Encodings): string {
  return jsonText(encodings);
}

export function sensitivityJson(results: SensitivityResults): string {
  return jsonText(results);
}

/** RFC 4180, with a header row. A score that is not a number is an empty field. */
export function sensitivityCsv(results: SensitivityResults): string {
  const rows = results.ranking.map((row) => [
    String(row.rank),
    row.name,
    row.score === null ? '' : String(row.score),
  ]);
  return [['rank', 'name', `${results.halftone.metric}_db`], ...rows]
    .map((row) => `${row.map(csvField).join(',')}\r\n`)
    .join('');
}

/** Also keeps a spreadsheet from taking a name for a formula. */
function csvField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
