// The schedule of a sweep that looks for the worst only. The page offers none, so its bundle leaves this file out (web/package_only.mjs).
import { PredictedSchedule } from './predicted_schedule.js';
import type { Row } from './rows.js';
import { type Schedule, type Top, TopSchedule } from './schedule.js';
import { predict } from './switched/predict.js';
import type { SwitchedSweep } from './switched/switched_sweep.js';

/** `sweep`: null where rows are measured as variants. */
export function adaptiveSchedule(rows: Row[], top: Top, sweep: SwitchedSweep | null): Schedule {
  if (sweep === null) return new TopSchedule(rows, top);
  return new PredictedSchedule(rows, top, (samples) => predict(sweep, samples));
}
