// What a sweep measures with: a metric of the core, of which workers send terms, or one of the user's own, which sees outputs.
import { HalftoneError } from '../../shared/errors.js';
import type { MetricChoice, RowScore } from '../../shared/protocol.js';
import type { MetricName, SensitivityOptions, UserMetric } from '../../types.js';
import type { Connection } from '../connection.js';

const HIGHER_IS_WORSE: Record<MetricName, boolean> = {
  psnr: false,
  'topk-psnr': false,
  sqnr: false,
  cosine: false,
  mse: true,
  kl: true,
  top1: false,
};

const DEFAULT_K = 10;

export interface Scoring {
  name: string;
  higherIsWorse: boolean;
  k: number | null;
  /** One of the two. */
  metric: MetricChoice | null;
  user: UserMetric | null;
}

export function scoringOf({ metric, k }: SensitivityOptions): Scoring {
  if (typeof metric === 'object') return userScoring(metric);
  const name = metric ?? 'psnr';
  if (!Object.hasOwn(HIGHER_IS_WORSE, name)) {
    throw new HalftoneError('invalid_policy', `There is no metric "${String(name)}".`, {
      next: `Use ${Object.keys(HIGHER_IS_WORSE).join(', ')}, or a metric of your own.`,
    });
  }
  if (k !== undefined && name !== 'topk-psnr') {
    throw new HalftoneError('invalid_policy', `The metric ${name} has no k.`, { next: 'Use topk-psnr.' });
  }
  if (k !== undefined && !(Number.isSafeInteger(k) && k >= 1)) {
    throw new HalftoneError('invalid_policy', `k must be a whole number from 1, not ${String(k)}.`);
  }
  const choice = { name, k: k ?? DEFAULT_K };
  return {
    name,
    higherIsWorse: HIGHER_IS_WORSE[name],
    k: name === 'topk-psnr' ? choice.k : null,
    metric: choice,
    user: null,
  };
}

function userScoring(user: UserMetric): Scoring {
  const { name, higherIsWorse, sample } = user as Partial<UserMetric>;
  if (typeof name !== 'string' || name === '' || typeof sample !== 'function') {
    throw new HalftoneError('invalid_policy', 'A metric of your own needs a name and a function "sample".');
  }
  if (typeof higherIsWorse !== 'boolean') {
    throw new HalftoneError('invalid_policy', `The metric "${name}" has no direction.`, {
      next: 'Say whether higherIsWorse: false for accuracy, true for perplexity or KL.',
    });
  }
  return { name, higherIsWorse, k: null, metric: null, user };
}

/** Scores of rows of terms, [sample][tensor][TERMS] each, or of rows of a user's values, one per sample. */
export async function scoresOf(
  core: Connection,
  scoring: Scoring,
  rows: Float64Array[],
  tensors: number,
): Promise<RowScore[]> {
  const { metric, user } = scoring;
  if (metric !== null) return core.call('metric.scores', { metric, rows, tensors });
  return Promise.all(rows.map((values) => userScore(core, user!, Array.from(values))));
}

async function userScore(core: Connection, user: UserMetric, values: number[]): Promise<RowScore> {
  const combine = user.combine ?? mean;
  const score = combine(values);
  if (Number.isNaN(score)) return { score: null, interval: null };
  if (values.length < 2) return { score, interval: null };
  const leftOut = values.map((_, left) => combine(values.filter((_value, index) => index !== left)));
  return { score, interval: await core.call('metric.interval', { score, leftOut }) };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Bigger is more sensitive; what isn't a number is the worst. Squared errors are compared in decibels, as the other metrics of them
 * are: how far a row may still get is a factor, the same for small ones and large ones.
 */
export function sensitivityOf(score: number | null, { metric, higherIsWorse }: Scoring): number {
  if (score === null) return Number.POSITIVE_INFINITY;
  if (metric?.name === 'mse') return 10 * Math.log10(Math.max(score, Number.MIN_VALUE));
  return higherIsWorse ? score : -score;
}
