// The search for mixed-precision models that give more for their size: points as they are measured, each one to be taken.
import { signal } from '@preact/signals';
import type { ParetoPoint, SensitivityResults } from '../package';
import { announce } from '../state/announce';
import type { Made } from '../state/steps';
import { calibrated, encodingsKey, planFresh, planned, ranking, samples, session } from '../state/store';
import { counted, decibel } from '../text/format';
import { precisionOf, type RaiseTo, take } from './change';
import { type Outcome, runJob } from './job';

export interface Search {
  to: RaiseTo;
  /** In per cent of the plan's own. */
  weightBytes: number;
  bitOps: number;
}

export const search = signal<Search>({ to: 'int16', weightBytes: 115, bitOps: 150 });

export interface Points {
  readonly points: readonly ParetoPoint[];
  readonly complete: boolean;
}

export const tradeOff = signal<Made<Points> | null>(null);
/** The chosen point, as its place among them. */
export const chosenPoint = signal<number | null>(null);

/** The ranking that the search starts from: a complete one of single quantizers that belongs to the plan. */
export function startingRanking(): SensitivityResults | null {
  const made = ranking.value;
  if (made === null || !planFresh.value || !made.key.startsWith(`${encodingsKey.value}|`)) return null;
  return made.value.complete ? made.value.results : null;
}

export async function searchTradeOff(): Promise<Outcome> {
  const [model, made, set] = [session.value?.model, planned.value?.value, samples.value?.set];
  const [found, results] = [calibrated.value, startingRanking()];
  if (model === undefined || made === undefined || set === undefined) return 'failed';
  if (found === null || results === null) return 'failed';
  const key = encodingsKey.value;
  const { to, weightBytes, bitOps } = search.value;
  let points: ParetoPoint[] = [];
  const show = (complete: boolean): void => {
    tradeOff.value = { value: { points: points.slice(), complete }, key };
  };
  chosenPoint.value = null;
  const outcome = await runJob('sensitivity', 'Measuring mixed precision', async ({ signal, onProgress }) => {
    show(false);
    points = await model.pareto(made, found.value, results, set, {
      to: precisionOf(to),
      maxWeightBytes: weightBytes / 100,
      maxBitOps: bitOps / 100,
      signal,
      onProgress,
      onPoint: (point) => {
        points.push(point);
        show(false);
      },
    });
    show(true);
  });
  if (outcome === 'done') announce(`Measured ${counted(points.length, 'model')}.`);
  return outcome;
}

export function takePoint(at: number): void {
  const point = tradeOff.value?.value.points[at];
  if (point === undefined) return;
  const { plan, encodings, flipped, score } = point;
  const title = `${counted(flipped.length, 'quantizer')} raised, measured at ${decibel(score)}`;
  take({ title, plan, encodings, flipped });
}
