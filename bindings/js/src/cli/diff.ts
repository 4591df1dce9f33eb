// halftone diff: two sensitivity results side by side. It succeeds whether they differ or not.
import { scoreText } from '../shared/metric_text.js';
import { jsonFile } from '../shared/result_files.js';
import type { ResultsDifference } from '../types.js';
import type { OutputOptions } from './options.js';
import { checkOutput, writeOutput } from './output_files.js';
import { readResultsFile } from './results_file.js';
import { printable, table } from './terminal.js';
import { type Context, withWork } from './work.js';

const SHOWN = 20;
const NAMES = 5;

export async function diffResults(
  pathA: string,
  pathB: string,
  options: OutputOptions,
  context: Context,
): Promise<void> {
  if (options.output !== undefined) checkOutput(options.output, [pathA, pathB], options.force === true);
  await withWork(context, options, async (work) => {
    const before = await readResultsFile(pathA, work);
    const after = await readResultsFile(pathB, work);
    const difference = await work.engine.compareResults(before, after);
    const json = jsonFile(difference);
    if (options.output !== undefined) await writeOutput(options.output, json);
    work.json(json);
    work.say(differenceText(difference, options.verbose === true));
    work.warn(difference.warnings);
  });
}

type Row = ResultsDifference['both'][number];

/** A score that is a number in one of both only is the largest change there is. */
function change({ before, after }: Row): number {
  if (before === null || after === null) return before === after ? 0 : Number.POSITIVE_INFINITY;
  return Math.abs(after - before);
}

function differenceText(difference: ResultsDifference, verbose: boolean): string {
  const { metric, both, only_before, only_after } = difference;
  const changed = both.filter(({ before, after }) => before !== after).length;
  const moved = both.filter(({ rank_before, rank_after }) => rank_before !== rank_after).length;
  const byChange = both
    .map((row) => ({ row, size: change(row) }))
    .sort(({ size: a }, { size: b }) => (a === b ? 0 : b - a));
  const largest = byChange.slice(0, verbose ? both.length : SHOWN).map(({ row }) => row);
  const lines = largest.map((row) => [
    scoreText(metric, row.before),
    scoreText(metric, row.after),
    signed(metric, row.difference),
    `${row.rank_before} to ${row.rank_after}`,
    row.name,
  ]);
  const columns = [
    ...['first', 'second', 'difference', 'rank'].map((title) => ({ title, right: true })),
    { title: 'name' },
  ];
  const more = both.length - largest.length;
  return [
    `${both.length} rows in both: ${changed} with another score, ${moved} with another rank\n`,
    both.length === 0 ? '' : `\nLargest changes first\n${table(columns, lines)}`,
    more > 0 ? `${more} more; --verbose shows them, --json and -o have everything.\n` : '',
    onlyText('first', only_before),
    onlyText('second', only_after),
  ].join('');
}

function signed(metric: string, difference: number | null): string {
  const text = scoreText(metric, difference);
  return difference !== null && difference > 0 ? `+${text}` : text;
}

function onlyText(which: string, rows: readonly { name: string }[]): string {
  if (rows.length === 0) return '';
  const names = rows.slice(0, NAMES).map(({ name }) => name);
  return `Only in the ${which} (${rows.length}): ${printable(names.join(', '))}${rows.length > NAMES ? ', …' : ''}\n`;
}
