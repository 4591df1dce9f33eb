// The JSON and CSV files of the contract: two spaces, floats as the shortest text that reads back to the same number.
import type { SensitivityResults } from '../package';

/** JSON as the command line writes it. Numbers that are not finite become null. */
export function jsonFile(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** A field that a spreadsheet reads back as it was: quoted when needed, never taken for a formula. */
function field(text: string): string {
  return /[",\r\n]|^[=+\-@\t ]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvOfSensitivity(results: SensitivityResults): string {
  const lines = results.ranking.map(({ rank, name, score }) => `${rank},${field(name)},${score ?? ''}`);
  return `${['rank,name,psnr_db', ...lines].join('\r\n')}\r\n`;
}
