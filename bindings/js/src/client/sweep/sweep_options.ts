// What callers may ask of a sweep, checked before anything runs.
import { HalftoneError } from '../../shared/errors.js';
import type { SweepChoice } from '../../shared/protocol.js';
import type { SensitivityOptions } from '../../types.js';
import { groupingName } from './grouping.js';

export function checkSweepOptions(options: SensitivityOptions): void {
  groupingName(options.by);
  oneOf('sweep', options.sweep, ['enable', 'disable']);
  oneOf('only', options.only, ['weights', 'activations']);
  checkTop(options);
  checkShard(options);
}

/** Of a sweep that makes whole variants only. */
export const NO_GROUPS: SweepChoice = { score: [], by: 'quantizer', groups: [], only: '', sweep: 'enable' };

/** Names of tensors, "output" or "output:N"; empty for the default choice. */
export function scoreChoice(score: SensitivityOptions['score']): string[] {
  if (score === undefined || score === '') return [];
  return typeof score === 'string' ? [score] : [...score];
}

function oneOf(name: string, value: unknown, known: string[]): void {
  if (value === undefined || known.includes(value as string)) return;
  throw new HalftoneError('invalid_policy', `The option ${name} can't be "${String(value)}".`, {
    next: `Use ${known.join(' or ')}.`,
  });
}

function checkTop({ top, confidence, sweep }: SensitivityOptions): void {
  if (top === undefined) {
    if (confidence === undefined) return;
    throw new HalftoneError('invalid_policy', 'A confidence is for a run that asks for the top only.', {
      next: 'Say how many with top.',
    });
  }
  if (!(Number.isSafeInteger(top) && top >= 1)) {
    throw new HalftoneError('invalid_policy', `top must be a whole number from 1, not ${String(top)}.`);
  }
  if (sweep === 'disable') {
    throw new HalftoneError('invalid_policy', 'The top of a sweep by disabling is not looked for early.', {
      next: 'Leave top out.',
    });
  }
  if (confidence !== undefined && !(confidence > 0.5 && confidence < 1)) {
    throw new HalftoneError(
      'invalid_policy',
      `The confidence must lie between 0.5 and 1, not at ${String(confidence)}.`,
    );
  }
}

function checkShard({ shard, top }: SensitivityOptions): void {
  if (shard === undefined) return;
  const { index, count } = shard;
  if (
    !(
      Number.isSafeInteger(count) &&
      count >= 1 &&
      Number.isSafeInteger(index) &&
      index >= 1 &&
      index <= count
    )
  ) {
    throw new HalftoneError('invalid_policy', `There is no shard ${String(index)} of ${String(count)}.`, {
      next: 'Shards are numbered from 1 to their count.',
    });
  }
  if (top !== undefined) {
    throw new HalftoneError('invalid_policy', "A shard doesn't know the others' top.", {
      next: 'Leave top or shard out.',
    });
  }
}
