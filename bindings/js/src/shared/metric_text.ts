// What a metric is called, in which unit its scores are, and which of two scores is worse.

const TITLES: Record<string, string> = {
  psnr: 'PSNR',
  sqnr: 'SQNR',
  cosine: 'cosine similarity',
  mse: 'MSE',
  kl: 'KL divergence',
  top1: 'top-1 agreement',
};

export interface MetricFacts {
  metric: string;
  k?: number;
}

/** For a column or an axis; a metric of one's own has its own name, and a file that names none has scores. */
export function metricTitle({ metric, k }: MetricFacts): string {
  if (metric === 'topk-psnr') return `top-${k ?? 'k'} logit PSNR`;
  return TITLES[metric] ?? (metric === '' ? 'score' : metric);
}

export function inDecibels(metric: string): boolean {
  return metric === 'psnr' || metric === 'topk-psnr' || metric === 'sqnr';
}

/** Two digits of a decibel, six of anything else. */
export function scoreText(metric: string, score: number | null): string {
  if (score === null || Number.isNaN(score)) return 'n/a';
  if (inDecibels(metric)) return `${score.toFixed(2)} dB`;
  return String(Number(score.toPrecision(6)));
}

/** The score of no loss at all, where the metric has one. */
export function bestScore(metric: string): number | null {
  if (inDecibels(metric)) return 100;
  if (metric === 'cosine' || metric === 'top1') return 1;
  return metric === 'mse' || metric === 'kl' ? 0 : null;
}

/** Whether a score lies beyond a threshold, on the bad side of it. A score that is no number is the worst there is. */
export function beyond(score: number | null, threshold: number, higherIsWorse: boolean): boolean {
  if (score === null) return true;
  return higherIsWorse ? score > threshold : score < threshold;
}
