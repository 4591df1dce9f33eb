// Where the time of a sweep goes, summed over workers.
import type { RunCosts } from '../../types.js';

export class CostSum {
  private readonly total: RunCosts = { sessions: 0, create_ms: 0, runs: 0, run_ms: 0, metric_ms: 0 };

  add(costs: RunCosts): void {
    for (const key of Object.keys(this.total) as (keyof RunCosts)[]) this.total[key] += costs[key];
  }

  sum(): RunCosts {
    return { ...this.total };
  }
}
