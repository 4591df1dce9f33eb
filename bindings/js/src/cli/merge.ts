// halftone merge: the shards of one sweep, as one run would have made them.

import { HalftoneError } from '../shared/errors.js';
import { jsonFile } from '../shared/result_files.js';
import { UsageError } from './errors.js';
import {
  checkResultOutputs,
  type ResultOutputs,
  readResultsFile,
  readText,
  writeResults,
} from './results_file.js';
import { rankingText } from './sensitivity.js';
import { type Context, withWork } from './work.js';

export async function merge(paths: string[], options: ResultOutputs, context: Context): Promise<void> {
  const { output, report, csv, json } = options;
  if (output === undefined && report === undefined && csv === undefined && json !== true) {
    throw new UsageError(
      'There is nowhere to write the merged results.',
      'Name a file with -o, or use --json.',
    );
  }
  checkResultOutputs(options, paths);
  const texts = paths.map(readText);
  await withWork(context, options, async (work) => {
    for (const path of paths) await readResultsFile(path, work); // A file that is no results file is refused by its name.
    const results = await work.engine.mergeResults(texts).catch((thrown) => {
      throw withFileName(thrown, paths);
    });
    const written = await writeResults(results, options, () => ({ results }));
    work.json(jsonFile(results));
    work.say(rankingText(results, null, options.verbose === true));
    work.warn(results.halftone.warnings);
    work.say(written);
  });
}

/** The core counts files from 1; a person knows them by name. */
function withFileName(thrown: unknown, paths: readonly string[]): unknown {
  if (!(thrown instanceof HalftoneError)) return thrown;
  const { code, message, where, next } = thrown;
  const match = /^file (\d+)/.exec(where);
  const path = paths[Number(match?.[1]) - 1];
  if (match === null || path === undefined) return thrown;
  return new HalftoneError(code, message, {
    where: path + where.slice(match[0].length),
    next,
    cause: thrown,
  });
}
