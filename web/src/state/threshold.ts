// The line between scores that are good enough and the rest. It belongs to what is measured: another metric has another.
import { computed, signal } from '@preact/signals';
import { beyond } from '../package';
import type { Entry } from '../pictures/ranking_layout';
import { ranking } from './store';

const placed = signal<{ metric: string; value: number } | null>(null);

/** Where the line lies when nobody has moved it: behind the worst tenth, at least three. */
const kShare = 0.1;
const kLeast = 3;

function guess(): number | null {
  const made = ranking.value?.value;
  if (made?.results == null) return null;
  const scores = made.results.ranking.map(({ score }) => score).filter((score) => score !== null);
  const at = Math.min(scores.length - 1, Math.max(kLeast, Math.ceil(scores.length * kShare)));
  const [inside, outside] = [scores[at], scores[at - 1]];
  if (inside === undefined || outside === undefined) return null;
  return Number(
    (made.measure.higherIsWorse ? Math.sqrt(inside * outside) : (inside + outside) / 2).toPrecision(4),
  );
}

/** Null while there is nothing that it could part. */
export const threshold = computed(() => {
  const metric = ranking.value?.value.measure.metric;
  return placed.value !== null && placed.value.metric === metric ? placed.value.value : guess();
});

export function placeThreshold(value: number): void {
  const metric = ranking.value?.value.measure.metric;
  if (metric !== undefined && Number.isFinite(value)) placed.value = { metric, value };
}

export function isBeyond(score: number | null, higherIsWorse: boolean): boolean {
  return score !== null && threshold.value !== null && beyond(score, threshold.value, higherIsWorse);
}

export function beyondOf(entries: readonly Entry[], higherIsWorse: boolean): Entry[] {
  return entries.filter(({ score }) => isBeyond(score, higherIsWorse));
}
