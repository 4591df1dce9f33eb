// What the commands about mixed precision are told.
import { type Command, InvalidArgumentError } from 'commander';
import type { Precision } from '../types.js';
import { UsageError } from './errors.js';
import { choice } from './options.js';

export interface PrecisionChoice {
  to?: string;
  toWeights?: string;
  toActivations?: string;
}

const FORMATS = ['int8', 'uint8', 'int16', 'uint16', 'float8e4m3fn', 'float32'];
const OF_BOTH = [...FORMATS, 'channel'];
const OF_WEIGHTS = ['int4', 'uint4', ...OF_BOTH];

export function addPrecisionOptions(command: Command): Command {
  return command
    .addOption(choice('--to <precision>', 'the higher precision; channel is for weights', OF_BOTH, []))
    .addOption(choice('--to-weights <precision>', 'of weights, in place of --to', OF_WEIGHTS, []))
    .addOption(choice('--to-activations <format>', 'of activations, in place of --to', FORMATS, []));
}

export function precision({ to, toWeights, toActivations }: PrecisionChoice): Precision {
  const weights = toWeights ?? to;
  const activations = toActivations ?? (to === 'channel' ? undefined : to);
  if (weights === undefined && activations === undefined) {
    throw new UsageError(
      'No precision is given to flip to.',
      'Use --to int16, or --to-weights and --to-activations.',
    );
  }
  return { ...(weights !== undefined && { weights }), ...(activations !== undefined && { activations }) };
}

/** A number within bounds, both included. */
export function between(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && value >= low && value <= high) return value;
    throw new InvalidArgumentError(
      Number.isFinite(high)
        ? `It must be a number from ${low} to ${high}.`
        : `It must be a number from ${low}.`,
    );
  };
}

/** "plan.json" gives "plan.encodings.json": what goes with a plan lies beside it. */
export function encodingsBeside(plan: string): string {
  return plan.replace(/(\.plan)?(\.json)?$/i, '.encodings.json');
}
