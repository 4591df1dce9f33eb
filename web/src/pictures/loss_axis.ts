// How much of a bar, or of a dot, a score is worth: nothing for no loss, all of it for the end of the axis. One axis for
// every metric, whichever of two scores is the worse one.
import { inDecibels, metricTitle } from '../package';
import type { Measure } from '../state/sweep';
import { decibelFigure, significant } from '../text/format';
import { tickStep, ticks } from './scale';

/** Scores in dB are clipped here; nothing was lost that double precision could show. */
export const kLossless = 100;

export interface LossAxis extends Measure {
  title: string;
  /** "dB", or nothing. */
  unit: string;
  /** From 0, no loss, to 1, the end of the axis. A score that is no number is the worst there is. */
  share(score: number): number;
  /** The score at a share. */
  at(share: number): number;
  ticks(count: number): number[];
  figure(score: number | null): string;
}

/** Ends at a round figure below the worst, in steps of 10 dB, so that it seldom moves while scores come in. */
export function decibelEnd(worst: number): number {
  return Math.max(-kLossless, Math.min(40, Math.floor(worst / 10) * 10));
}

export function lossAxis(measure: Measure, scores: Iterable<number | null>): LossAxis {
  const known = [...scores].filter((score): score is number => score !== null && Number.isFinite(score));
  const title = metricTitle(measure);
  const base = { ...measure, title };
  if (inDecibels(measure.metric)) {
    const end = decibelEnd(least(known, kLossless));
    return { ...base, unit: 'dB', figure: decibelFigure, ...straight(kLossless, end) };
  }
  const figure = (score: number | null): string =>
    score === null || Number.isNaN(score) ? '\u2013' : significant(score, 5);
  if (measure.higherIsWorse) return { ...base, unit: '', figure, ...powers(known) };
  const worst = least(known, 1);
  const step = worst < 1 ? tickStep(1 - worst, 5) : 0.1;
  return { ...base, unit: '', figure, ...straight(1, Math.min(1 - step, Math.floor(worst / step) * step)) };
}

function least(values: readonly number[], start: number): number {
  return values.reduce((a, b) => Math.min(a, b), start);
}

type Ends = Pick<LossAxis, 'share' | 'at' | 'ticks'>;

function clipped(share: number): number {
  return Number.isNaN(share) ? 1 : Math.max(0, Math.min(1, share));
}

function straight(best: number, end: number): Ends {
  return {
    share: (score) => clipped((best - score) / (best - end)),
    at: (share) => best - share * (best - end),
    ticks: (count) => ticks(end, best, count).reverse(),
  };
}

/** Errors differ by orders of magnitude: a step of the axis is a power of ten, and zero lies at its start. */
function powers(values: readonly number[]): Ends {
  const positive = values.filter((value) => value > 0);
  const most = positive.reduce((a, b) => Math.max(a, b), 1e-6);
  const low = Math.floor(Math.log10(positive.reduce((a, b) => Math.min(a, b), most)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(most)));
  return {
    share: (score) => clipped(score <= 0 ? 0 : (Math.log10(score) - low) / (high - low)),
    at: (share) => 10 ** (low + share * (high - low)),
    ticks: (count) => {
      const step = Math.max(1, Math.ceil((high - low) / count));
      return Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, at) => 10 ** (low + at * step));
    },
  };
}
