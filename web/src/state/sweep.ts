// What a person can choose about a sweep: what one row switches, which way, and what is measured. Part of the address.
import type { Grouping, MetricName, SensitivityOptions } from '../package';

export type GroupName = 'quantizer' | 'layer' | 'operator' | 'op_name' | 'pattern';
export type Only = 'all' | 'weights' | 'activations';

export interface SweepChoice {
  by: GroupName;
  /** Of `pattern`: a regular expression, whose first capture is the group. */
  pattern: string;
  metric: MetricName;
  sweep: 'enable' | 'disable';
  only: Only;
  /** Spend samples only on what may be among so many worst; 0: on all. */
  top: number;
}

export const kGroups: readonly (readonly [GroupName, string])[] = [
  ['quantizer', 'Quantizer'],
  ['layer', 'Layer'],
  ['operator', 'Operator'],
  ['op_name', 'Node, each once'],
  ['pattern', 'Pattern'],
];

export const kMetrics: readonly (readonly [MetricName, string])[] = [
  ['psnr', 'PSNR'],
  ['topk-psnr', 'Top-k logit PSNR'],
  ['sqnr', 'SQNR'],
  ['cosine', 'Cosine similarity'],
  ['mse', 'MSE'],
  ['kl', 'KL divergence'],
  ['top1', 'Top-1 agreement'],
];

export const kOnly: readonly (readonly [Only, string])[] = [
  ['all', 'Everything'],
  ['weights', 'Weights'],
  ['activations', 'Activations'],
];

export const kDefaultSweep: SweepChoice = {
  by: 'quantizer',
  pattern: '',
  metric: 'psnr',
  sweep: 'enable',
  only: 'all',
  top: 0,
};

/** What scores are of, and which of two is worse. */
export interface Measure {
  metric: string;
  k?: number;
  higherIsWorse: boolean;
}

export const kPsnr: Measure = { metric: 'psnr', higherIsWorse: false };

export function measureOf({ metric }: SweepChoice): Measure {
  return { metric, higherIsWorse: higherIsWorse(metric) };
}

function higherIsWorse(metric: string): boolean {
  return metric === 'mse' || metric === 'kl';
}

/** Null while it can't run: a pattern without a capture names no group. */
export function sweepProblem({ by, pattern }: SweepChoice): string | null {
  if (by !== 'pattern') return null;
  if (pattern === '') return 'Type a regular expression; what its first parentheses capture is the group.';
  return /(^|[^\\])\((?!\?)/.test(pattern)
    ? null
    : 'The pattern needs parentheses around what names the group.';
}

export function groupingOf({ by, pattern }: SweepChoice): Grouping {
  return by === 'pattern' ? `re:${pattern}` : by;
}

/** As the package takes it; what is left at its default is left out, so that files say only what was chosen. */
export function sweepOptions(choice: SweepChoice): SensitivityOptions {
  const { metric, sweep, only, top } = choice;
  return {
    by: groupingOf(choice),
    metric,
    ...(sweep === 'disable' && { sweep }),
    ...(only !== 'all' && { only }),
    ...(top > 0 && { top }),
  };
}

export function sweepKey(choice: SweepChoice): string {
  return JSON.stringify(sweepOptions(choice));
}

/** What one row is, for sentences. */
export const kRowWords: Record<GroupName, string> = {
  quantizer: 'quantizer',
  layer: 'layer',
  operator: 'operator',
  op_name: 'node',
  pattern: 'group',
};

export function sweepSentence(choice: SweepChoice): string {
  const word = kRowWords[choice.by];
  const which = choice.only === 'all' ? '' : `, ${choice.only} only`;
  return choice.sweep === 'enable'
    ? `each ${word} alone, all others off${which}`
    : `all but one ${word} at a time${which}`;
}
