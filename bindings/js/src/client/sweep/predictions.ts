// What a sweep expects of its rows before it measures them: to first order, from a few runs of each sample (halftone/first_order.h).
import { ERROR_SQUARES, type MetricChoice } from '../../shared/protocol.js';
import type { Row } from './rows.js';

/** Values of a scored tensor up to which each direction may get a run of its own, so that nothing is left to chance. */
const MOST_VALUES = 4;
const METRICS: readonly string[] = ['psnr', 'sqnr', 'mse'];

/** Whether errors of so many values of one tensor, which is all that is scored, can be told ahead. */
export function isPredictable(metric: MetricChoice, scored: readonly string[], values: number): boolean {
  return scored.length === 1 && METRICS.includes(metric.name) && values > 0 && values <= MOST_VALUES;
}

/** Of one sample. */
export interface Prediction {
  /** [direction][site]; directions at right angles (directions.ts) */
  effects: Float32Array[];
  /** Of no error. */
  terms: Float64Array;
}

export class Predictions {
  private readonly place: ReadonlyMap<string, number>;

  constructor(
    sites: readonly string[],
    private readonly bySample: ReadonlyMap<number, Prediction>,
  ) {
    this.place = new Map(sites.map((site, i) => [site, i]));
  }

  /** The terms that a row is expected to have: the effects of its sites add up along each direction. */
  terms(row: Row, sample: number): Float64Array {
    const { effects, terms } = this.bySample.get(sample)!;
    const places = row.group.sites.map((site) => this.place.get(site)!);
    const expected = terms.slice();
    for (const values of effects)
      expected[ERROR_SQUARES]! += places.reduce((sum, at) => sum + values[at]!, 0) ** 2;
    return expected;
  }
}
