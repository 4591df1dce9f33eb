// The package behind the page, set once at start. Actions reach it from here, so that a test can put another in its place.
import type { Bench } from '../engine/bench';

let current: Bench | null = null;

export function useBench(bench: Bench): void {
  current = bench;
}

export function bench(): Bench {
  if (current === null) throw new Error('The page was not started.');
  return current;
}
