// What is kept inside the file as data, for its script and for what can be saved from it.
import type { ParetoPoint } from '../types.js';
import type { ReportData } from './report_data.js';

/** A mixed-precision model without its plan and encodings, which would repeat everything for each point. */
export type EmbeddedPoint = Pick<ParetoPoint, 'flipped' | 'score' | 'cost' | 'front'>;

export interface Embedded
  extends Pick<ReportData, 'results' | 'plan' | 'encodings' | 'propagation' | 'graph'> {
  pareto?: EmbeddedPoint[];
}

export function embedded({ results, plan, encodings, propagation, graph, pareto }: ReportData): Embedded {
  return {
    results,
    ...(plan && { plan }),
    ...(encodings && { encodings }),
    ...(propagation && { propagation }),
    ...(graph && { graph }),
    ...(pareto && {
      pareto: pareto.map(({ flipped, score, cost, front }) => ({ flipped, score, cost, front })),
    }),
  };
}
