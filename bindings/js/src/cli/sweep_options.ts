// What `halftone sensitivity` can be told about its sweep: what is switched, how it is scored, how much of it, and which files.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Grouping, MetricName, SensitivityOptions, SensitivityResults } from '../types.js';
import { UsageError } from './errors.js';
import { addScoreOption, choice, type ScoreChoice, whole } from './options.js';

export interface SweepChoice extends ScoreChoice {
  metric: MetricName;
  k?: number;
  by: Exclude<Grouping, (...args: never[]) => unknown>;
  sweep?: 'enable' | 'disable';
  only?: 'weights' | 'activations';
  top?: number;
  confidence?: number;
  shard?: { index: number; count: number };
  resume?: string;
  report?: string;
  csv?: string;
}

const METRICS: MetricName[] = ['psnr', 'topk-psnr', 'sqnr', 'cosine', 'mse', 'kl', 'top1'];
const UNITS = ['quantizer', 'operator', 'layer', 'op_name'];

export function addSweepOptions(command: Command): Command {
  return addScoreOption(command)
    .addOption(choice('--metric <name>', 'how it is scored', METRICS, []).default('psnr'))
    .option('--k <n>', 'of topk-psnr; default 10', whole(1, 1_000_000))
    .addOption(
      new Option(
        '--by <unit>',
        `what is switched together (${UNITS.join(', ')}, or re: and an expression over names, whose first group is the key)`,
      )
        .argParser(grouping)
        .default('quantizer'),
    )
    .addOption(choice('--sweep <how>', 'quantize one at a time, or all but one', ['enable', 'disable'], []))
    .addOption(choice('--only <role>', 'leave the others out', ['weights', 'activations'], []))
    .option('--top <n>', 'spend samples on what may be among the worst n only', whole(1, 1_000_000))
    .option('--confidence <c>', 'of --top; default 0.95', confidence)
    .addOption(new Option('--shard <i/n>', 'part i of n; join them with halftone merge').argParser(shard))
    .option('--resume <file>', 'go on from the results of a run that was stopped')
    .option('--report <file>', 'write everything as one HTML file')
    .option('--csv <file>', 'write the ranking as CSV');
}

function grouping(value: string): string {
  if (UNITS.includes(value) || (value.startsWith('re:') && value.length > 3)) return value;
  throw new UsageError(
    `--by can't be ${value}.`,
    `Use ${UNITS.join(', ')}, or re: and a regular expression.`,
  );
}

function confidence(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0.5 && value < 1) return value;
  throw new InvalidArgumentError('It must be a number above 0.5 and below 1.');
}

function shard(text: string): { index: number; count: number } {
  const match = /^(\d{1,6})\/(\d{1,6})$/.exec(text);
  const [index, count] = [Number(match?.[1]), Number(match?.[2])];
  if (index >= 1 && index <= count) return { index, count };
  throw new UsageError(`--shard can't be ${text}.`, 'Write i/n: part i of n, i from 1, for example 2/8.');
}

/** Before anything is read: options that mean nothing together. */
export function checkSweepChoice(choice: SweepChoice): void {
  const { k, metric, top, confidence, shard, sweep } = choice;
  if (k !== undefined && metric !== 'topk-psnr')
    throw new UsageError(`--k has no meaning for ${metric}.`, 'Use it with --metric topk-psnr.');
  if (confidence !== undefined && top === undefined)
    throw new UsageError('--confidence is of --top.', 'Give both, or neither.');
  if (top !== undefined && shard !== undefined)
    throw new UsageError(
      "--top and --shard exclude each other: a part doesn't know the others' rows.",
      'Give one of them.',
    );
  if (top !== undefined && sweep === 'disable')
    throw new UsageError('--top excludes --sweep disable.', 'Leave one of them out.');
}

export function sweepOptions(choice: SweepChoice, resume: SensitivityResults | null): SensitivityOptions {
  return {
    by: choice.by,
    metric: choice.metric,
    ...(choice.k !== undefined && { k: choice.k }),
    ...(choice.score.length > 0 && { score: choice.score }),
    ...(choice.sweep && { sweep: choice.sweep }),
    ...(choice.only && { only: choice.only }),
    ...(choice.top !== undefined && { top: choice.top }),
    ...(choice.confidence !== undefined && { confidence: choice.confidence }),
    // One of one is the whole run, and its results are.
    ...(choice.shard && choice.shard.count > 1 && { shard: choice.shard }),
    ...(resume !== null && { resume }),
  };
}
