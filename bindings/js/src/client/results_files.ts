// Results of sweeps as files: read, joined and compared. The core does it, so that it is the same everywhere.
import { HalftoneError } from '../shared/errors.js';
import { jsonFile } from '../shared/result_files.js';
import type { ResultsDifference, SensitivityResults } from '../types.js';
import type { Connection } from './connection.js';

/** A part of a sweep is what any other results are; see mergeResults for the whole. */
export function readResults(core: Connection, text: string): Promise<SensitivityResults> {
  return core.call('merge', { texts: [text] });
}

export async function mergeResults(core: Connection, texts: readonly string[]): Promise<SensitivityResults> {
  if (texts.length === 0)
    throw new HalftoneError('invalid_policy', 'There are no results to join.', { next: 'Give every shard.' });
  const merged = await core.call('merge', { texts: [...texts] });
  const { shard } = merged.halftone;
  // One text alone is read as it is, also when it is a part of something.
  if (shard !== undefined) {
    throw new HalftoneError('invalid_policy', `Only shard ${shard.index} of ${shard.count} was given.`, {
      next: 'Give every shard.',
    });
  }
  return merged;
}

export function compareResults(
  core: Connection,
  a: SensitivityResults,
  b: SensitivityResults,
): Promise<ResultsDifference> {
  return core.call('results.diff', { a: jsonFile(a), b: jsonFile(b) });
}
