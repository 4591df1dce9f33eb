// The schedule of a sweep that looks for the worst only. The page offers none, so its bundle leaves this file out (web/package_only.mjs).
import { PredictedSchedule } from './predicted_schedule.js';
import type { Row } from './rows.js';
import { PILOTS, type Schedule, type Top, TopSchedule } from './schedule.js';
import { predict } from './switched/predict.js';
import type { SwitchedSweep } from './switched/switched_sweep.js';

/** `sweep`: null where rows are measured as variants. Of few rows nearly all would be pilots or among the worst. */
export function adaptiveSchedule(rows: Row[], top: Top, sweep: SwitchedSweep | null): Schedule {
  if (sweep === null || rows.length <= PILOTS + top.count) return new TopSchedule(rows, top);
  return new PredictedSchedule(rows, top, (samples) => predict(sweep, samples));
}
