// Which of measured points are worth having.
import type { ModelCost } from '../types.js';

/** The same points, those marked that no other beats: as good in score and both costs, and better in one. */
export function withFront<T extends { score: number; cost: ModelCost }>(
  points: readonly T[],
): (T & { front: boolean })[] {
  return points.map((point) => ({ ...point, front: !points.some((other) => beats(other, point)) }));
}

function beats(a: { score: number; cost: ModelCost }, b: { score: number; cost: ModelCost }): boolean {
  const gains = [
    scoreOf(a) - scoreOf(b),
    b.cost.weight_bytes - a.cost.weight_bytes,
    b.cost.bit_ops - a.cost.bit_ops,
  ];
  return gains.every((gain) => gain >= 0) && gains.some((gain) => gain > 0);
}

function scoreOf({ score }: { score: number }): number {
  // Of two that aren't numbers neither is better.
  return Number.isNaN(score) ? -Number.MAX_VALUE : score;
}
