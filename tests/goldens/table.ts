// What a comparison compared and left out, as a table for the person who reads the log.

/** Counts by model and by what was done, with the rule's words for what was left out. */
export class Tally {
  private readonly counts = new Map<string, Map<string, number>>();
  private readonly columns: string[] = [];

  constructor(private readonly title: string) {}

  add(row: string, column: string, count = 1): void {
    if (!this.columns.includes(column)) this.columns.push(column);
    const cells = this.counts.get(row) ?? new Map<string, number>();
    this.counts.set(row, cells.set(column, (cells.get(column) ?? 0) + count));
  }

  total(column: string): number {
    return [...this.counts.values()].reduce((sum, cells) => sum + (cells.get(column) ?? 0), 0);
  }

  totals(): Record<string, number> {
    return Object.fromEntries(this.columns.map((column) => [column, this.total(column)]));
  }

  text(): string {
    const rows = [...this.counts].map(([row, cells]) => [row, ...this.columns.map((c) => cells.get(c) ?? 0)]);
    return table(this.title, ['', ...this.columns], [...rows, ['all', ...Object.values(this.totals())]]);
  }
}

export function table(title: string, head: string[], rows: (string | number)[][]): string {
  const lines = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const padded = lines.map((line) =>
    line
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  '),
  );
  return [title, ...padded].join('\n');
}

/** How many differences there are of each size. */
export function histogram(values: readonly number[]): string {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([value, count]) => `${value}: ${count}`)
    .join(', ');
}

/** How many float32 numbers lie between two of the same sign, the second included. */
export function ulps(a: number, b: number): number {
  const bits = new Int32Array(new Float32Array([a, b]).buffer);
  return Math.abs(bits[0]! - bits[1]!);
}
