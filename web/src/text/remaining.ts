// How long a job will still take, from how far it came. Clocks are passed in, so that tests need none.

/** Too early to tell: the first steps include compiling and warming up. */
const kEarliestMs = 400;

export interface Pace {
  readonly startedMs: number;
  readonly nowMs: number;
  readonly done: number;
  readonly total: number;
}

/** Seconds left, or null while nothing sensible can be said. */
export function secondsLeft({ startedMs, nowMs, done, total }: Pace): number | null {
  const elapsed = nowMs - startedMs;
  if (elapsed < kEarliestMs || done <= 0 || total <= 0) return null;
  if (done >= total) return 0;
  return (elapsed / 1000) * ((total - done) / done);
}
