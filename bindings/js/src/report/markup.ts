// HTML from text. Every name in a report comes from a model or a file, so every one is escaped, and loses what would steer a
// terminal or turn the direction of text.
import { printable } from '../shared/printable.js';

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Of an element's content or of an attribute in quotes. */
export function escapeHtml(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

export interface Column {
  title: string;
  /** Right aligned, and sorted as a number by the cell's exact value. */
  number?: boolean;
}

/** A cell's text, or what it shows of an exact number. */
export type Cell = string | { text: string; value: number | null } | { html: string };

/** A table that the report's script can sort and filter, under a heading that names it for the download of its CSV. */
export function dataTable(id: string, caption: string, columns: Column[], rows: Cell[][]): string {
  const heads = columns.map(
    ({ title, number }) =>
      `<th scope="col"${number ? ' class="number" data-number' : ''}>${escapeHtml(title)}</th>`,
  );
  const lines = rows.map(
    (row, i) => `<tr data-row="${i}">${row.map((cell, at) => cellHtml(cell, columns[at])).join('')}</tr>`,
  );
  return `<div class="scroll"><table id="${id}" class="data"><caption>${escapeHtml(caption)}</caption>
<thead><tr>${heads.join('')}</tr></thead>
<tbody>${lines.join('\n')}</tbody></table></div>`;
}

function cellHtml(cell: Cell, column: Column | undefined): string {
  const kind = column?.number ? ' class="number"' : '';
  if (typeof cell === 'string') return `<td${kind}>${escapeHtml(cell)}</td>`;
  if ('html' in cell) return `<td${kind}>${cell.html}</td>`;
  const exact = cell.value === null ? '' : escapeHtml(String(cell.value));
  return `<td${kind} data-value="${exact}" title="${exact}">${escapeHtml(cell.text)}</td>`;
}

export function facts(rows: [string, string][]): string {
  const lines = rows.map(
    ([name, value]) => `<tr><th scope="row">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  return `<table>${lines.join('')}</table>`;
}

/** JSON inside a script element that isn't run: no text in it can end the element. */
export function jsonElement(id: string, value: unknown): string {
  const text = JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `<script type="application/json" id="${id}">${text}</script>`;
}
