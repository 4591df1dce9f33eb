// Every table sorts by any column; numbers by their exact values, not by what is shown of them.
import { button } from './elements.js';

export function sortableTables(): void {
  for (const table of document.querySelectorAll<HTMLTableElement>('table.data')) {
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
    heads.forEach((head, column) => {
      const title = head.textContent ?? '';
      head.replaceChildren(button(title, () => sortBy(table, heads, column)));
    });
  }
}

function sortBy(table: HTMLTableElement, heads: HTMLTableCellElement[], column: number): void {
  const head = heads[column]!;
  const descending = head.ariaSort === 'ascending';
  for (const other of heads) other.ariaSort = null;
  head.ariaSort = descending ? 'descending' : 'ascending';
  const numeric = head.hasAttribute('data-number');
  const body = table.tBodies[0]!;
  const keyed = [...body.rows].map((row, at) => ({ row, at, key: keyOf(row.cells[column], numeric) }));
  const sign = descending ? -1 : 1;
  keyed.sort((a, b) => sign * compare(a.key, b.key) || a.at - b.at);
  body.append(...keyed.map(({ row }) => row));
}

function keyOf(cell: HTMLTableCellElement | undefined, numeric: boolean): string | number {
  if (!numeric) return cell?.textContent ?? '';
  const exact = cell?.dataset.value ?? '';
  return exact === '' ? Number.NEGATIVE_INFINITY : Number(exact);
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a === b ? 0 : a - b;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

/** The body's rows by the number they were written with, whatever order they are in now. */
export function rowsByNumber(table: HTMLTableElement): HTMLTableRowElement[] {
  const rows: HTMLTableRowElement[] = [];
  for (const row of table.tBodies[0]?.rows ?? []) rows[Number(row.dataset.row)] = row;
  return rows;
}
