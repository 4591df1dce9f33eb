// What is written to a terminal: tables, bars, and one line of progress, with names that can't steer it.
import { printable } from '../shared/printable.js';
import type { Progress } from '../types.js';

export { decibels, printable, sizeText } from '../shared/printable.js';

/** Where the command line reads and writes; tests bring their own. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** Whether err is a terminal, where progress may be drawn. */
  readonly errIsTty: boolean;
  now(): number;
}

/** Eighths of a block, so that a bar of few characters still tells neighbours apart. `share` from 0 to 1. */
export function bar(share: number, width: number): string {
  const eighths = Math.round(Math.min(Math.max(share, 0), 1) * width * 8);
  const rest = eighths % 8;
  const last = rest === 0 ? '' : String.fromCharCode(0x2590 - rest);
  return ('█'.repeat(Math.floor(eighths / 8)) + last).padEnd(width);
}

export interface TableColumn {
  title: string;
  right?: boolean;
  /** Not cut; for sentences in the last column. */
  whole?: boolean;
}

/** Columns as wide as their widest cell, at most 60; longer cells are cut in the middle, where names differ least. */
export function table(columns: readonly TableColumn[], rows: readonly string[][]): string {
  const cells = [columns.map((column) => column.title), ...rows].map((row) =>
    row.map((cell, i) => (columns[i]?.whole ? printable(cell) : shortened(printable(cell), 60))),
  );
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => (row[i] ?? '').length)));
  const lines = cells.map((row) =>
    row
      .map((cell, i) => (columns[i]?.right ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

export function shortened(text: string, width: number): string {
  if (text.length <= width) return text;
  const left = Math.ceil((width - 1) / 2);
  return `${text.slice(0, left)}…${text.slice(text.length - (width - 1 - left))}`;
}

const PHASES: Record<Progress['phase'], string> = {
  open: 'Reading the model',
  samples: 'Reading samples',
  calibrate: 'Calibrating',
  sensitivity: 'Scoring quantizers',
  score: 'Scoring the model',
  pareto: 'Measuring mixed precisions',
  write: 'Writing',
  encode: 'Encoding',
  decode: 'Decoding',
  compare: 'Comparing formats',
};

/** One line on the error stream that overwrites itself; silent unless that is a terminal. */
export class ProgressLine {
  private phase: Progress['phase'] | null = null;
  private started = 0;
  private drawn = false;

  constructor(
    private readonly terminal: Terminal,
    private readonly quiet: boolean,
  ) {}

  update(progress: Progress): void {
    if (this.quiet || !this.terminal.errIsTty) return;
    const now = this.terminal.now();
    if (progress.phase !== this.phase || progress.done === 0) {
      this.phase = progress.phase;
      this.started = now;
    }
    const share = progress.total === 0 ? 1 : progress.done / progress.total;
    const left = this.timeLeft(share, now - this.started);
    this.terminal.err(
      `\r\x1b[K${PHASES[progress.phase]} ${bar(share, 20)} ${Math.floor(share * 100)} %${left}`,
    );
    this.drawn = true;
  }

  /** Removes the line, before anything else is written. */
  clear(): void {
    if (this.drawn) this.terminal.err('\r\x1b[K');
    this.drawn = false;
  }

  private timeLeft(share: number, elapsed: number): string {
    if (share <= 0 || share >= 1 || elapsed < 1000) return '';
    const seconds = Math.ceil((elapsed * (1 - share)) / share / 1000);
    return seconds < 120 ? `  ${seconds} s left` : `  ${Math.ceil(seconds / 60)} min left`;
  }
}
