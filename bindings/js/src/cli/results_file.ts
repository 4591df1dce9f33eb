// Results of a sweep as the command line reads and writes them: JSON, CSV and a report.
import { readFileSync } from 'node:fs';
import type { ReportData } from '../report/report_data.js';
import { reportHtml } from '../report/report_html.js';
import { HalftoneError } from '../shared/errors.js';
import { jsonFile, sensitivityCsv } from '../shared/result_files.js';
import type { SensitivityResults } from '../types.js';
import { UsageError } from './errors.js';
import type { OutputOptions } from './options.js';
import { checkOutput, writeOutput } from './output_files.js';
import { sizeText } from './terminal.js';
import type { Work } from './work.js';

export interface ResultOutputs extends OutputOptions {
  report?: string;
  csv?: string;
}

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new HalftoneError('invalid_policy', `${path} can't be read.`, {
      where: path,
      next: 'Check the name.',
      cause,
    });
  }
}

/** Halftone's results, whole or a part, or AIMET's. */
export async function readResultsFile(path: string, work: Work): Promise<SensitivityResults> {
  try {
    return await work.engine.readResults(readText(path));
  } catch (thrown) {
    throw inFile(path, thrown);
  }
}

/** The same fault, with the file it was found in. */
function inFile(path: string, thrown: unknown): unknown {
  if (!(thrown instanceof HalftoneError) || thrown.where === path) return thrown;
  const where = thrown.where === '' ? path : `${path}, ${thrown.where}`;
  return new HalftoneError(thrown.code, thrown.message, { where, next: thrown.next, cause: thrown });
}

/** Before any work: every file that will be written can be, and no two of them are the same. */
export function checkResultOutputs(
  { output, report, csv, force }: ResultOutputs,
  inputs: readonly string[],
): void {
  const paths = [output, report, csv].filter((path) => path !== undefined);
  if (new Set(paths).size < paths.length)
    throw new UsageError('Two outputs have the same name.', 'Give each its own.');
  for (const path of paths) checkOutput(path, inputs, force === true);
}

/**
 * Writes what was asked for, and gives a line for each file to be said: after writing, because a reader of what is printed may go
 * away ("| head") and end the program. `data` is made only if there is a report.
 */
export async function writeResults(
  results: SensitivityResults,
  { output, report, csv }: ResultOutputs,
  data: () => Promise<ReportData> | ReportData,
): Promise<string> {
  const files: [string | undefined, () => Promise<string> | string][] = [
    [output, () => jsonFile(results)],
    [csv, () => sensitivityCsv(results)],
    [report, async () => reportHtml(await data())],
  ];
  const lines: string[] = [];
  for (const [path, make] of files)
    if (path !== undefined) lines.push(`${path}  ${sizeText(await writeOutput(path, await make()))}\n`);
  return lines.length === 0 ? '' : `\n${lines.join('')}`;
}
