// A measured greedy search over plans in which some candidates have a higher precision. It knows candidates by number, and
// measures sets of them; which sets come next depends on scores and costs only.
//
//   1. Each candidate alone: what it brings.
//   2. From nothing, a few steps: add the candidate that brings most for its share of the budget, of the most promising few,
//      measured again each time. What is gained here is what little costs buy.
//   3. Seeds: sets filled in order of what a candidate is expected to bring for its share, by the ranking and by what was
//      measured, at several sizes: many small gains that no single step would show.
//   4. From the best so far: such steps, and when none helps, drop what no longer does, until neither changes anything.
import type { ModelCost } from '../../types.js';

export interface SearchSpace {
  /** How many candidates there are. */
  count: number;
  limits: { weightBytes: number; bitOps: number };
  /** Noise that each candidate makes by itself, in units of the peak's square; null: not known. */
  noise: readonly number[] | null;
  cost(set: readonly number[]): Promise<ModelCost>;
  /** PSNR of each set, dB. Sets are in ascending order of candidates, and are asked for again and again. */
  measure(sets: readonly (readonly number[])[]): Promise<number[]>;
  /** How many sets may be measured, about. */
  most: number;
  /** How many were. */
  measured(): number;
}

/** Sets that are measured at a time while climbing. */
const BATCH = 6;
/** Steps from nothing. */
const FIRST_STEPS = 8;
/** Parts of the budget that seeds fill. */
const FILLS = [0.1, 0.25, 0.5, 0.75, 1];
/** Less is taken for chance. */
const GAIN_DB = 0.01;

export async function search(space: SearchSpace): Promise<void> {
  const run = await Climb.start(space);
  if (run === null) return;
  await run.grow(FIRST_STEPS);
  if (mayGoOn(space)) await run.seed();
  while (mayGoOn(space)) {
    const grown = await run.grow();
    const shrunk = await run.shrink();
    if (!grown && !shrunk) return;
  }
}

class Climb {
  private set: number[] = [];
  private score: number;
  /** What each candidate is expected to bring: the noise it takes away. */
  private readonly expected: number[];

  private constructor(
    private readonly space: SearchSpace,
    base: number,
    private readonly feasible: number[],
    private readonly alone: number[],
    private readonly share: number[],
  ) {
    this.score = base;
    this.expected = alone.map((gain, i) => Math.max(gain, space.noise?.[i] ?? 0));
  }

  /** Measures the plan as it is and each candidate alone; null if none fits the budget. */
  static async start(space: SearchSpace): Promise<Climb | null> {
    const base = await space.cost([]);
    const feasible: number[] = [];
    const share: number[] = new Array<number>(space.count).fill(Number.POSITIVE_INFINITY);
    for (let i = 0; i < space.count; i++) {
      const cost = await space.cost([i]);
      if (!fits(cost, space)) continue;
      feasible.push(i);
      share[i] =
        part(cost.weight_bytes - base.weight_bytes, space.limits.weightBytes - base.weight_bytes) +
        part(cost.bit_ops - base.bit_ops, space.limits.bitOps - base.bit_ops);
    }
    const first = worthTrying(space, feasible, share);
    const [score, ...scores] = await space.measure([[], ...first.map((i) => [i])]);
    if (feasible.length === 0) return null;
    const alone = new Array<number>(space.count).fill(0);
    for (const [at, i] of first.entries()) alone[i] = Math.max(0, noiseOf(score!) - noiseOf(scores[at]!));
    return new Climb(space, score!, feasible, alone, share);
  }

  async seed(): Promise<void> {
    const sets: number[][] = [];
    for (const worth of [this.space.noise, this.alone, this.expected]) {
      if (worth === null) continue;
      const dense = this.ordered((i) => worth[i]! / this.share[i]!);
      for (const fill of FILLS) sets.push(await this.filled(dense, fill));
      sets.push(
        await this.filled(
          this.ordered((i) => worth[i]!),
          1,
        ),
      );
    }
    await this.tryAll(sets);
  }

  /** Adds what brings most for its share, again and again; false if nothing did. */
  async grow(steps = Number.POSITIVE_INFINITY): Promise<boolean> {
    let taken = 0;
    const hopeless = new Set<number>();
    while (taken < steps && mayGoOn(this.space)) {
      const added = await this.promising(hopeless);
      if (added.length === 0) break;
      const before = this.score;
      const scores = await this.measured(added.map((i) => sorted([...this.set, i])));
      for (const [at, i] of added.entries()) {
        this.expected[i] = Math.max(0, noiseOf(before) - noiseOf(scores[at]!));
        if (scores[at]! <= before + GAIN_DB) hopeless.add(i);
      }
      const best = bestOf(added.map((i) => (hopeless.has(i) ? -1 : this.expected[i]! / this.share[i]!)));
      if (hopeless.has(added[best]!)) continue;
      this.set = sorted([...this.set, added[best]!]);
      this.score = scores[best]!;
      taken++;
    }
    return taken > 0;
  }

  /** The next few to add that fit the budget. */
  private async promising(hopeless: ReadonlySet<number>): Promise<number[]> {
    const found: number[] = [];
    for (const i of this.ordered((candidate) => this.expected[candidate]! / this.share[candidate]!)) {
      if (found.length === BATCH) break;
      if (hopeless.has(i) || this.set.includes(i)) continue;
      if (fits(await this.space.cost(sorted([...this.set, i])), this.space)) found.push(i);
    }
    return found;
  }

  /** Drops what no longer helps, most expensive for its worth first; false if everything helps. */
  async shrink(): Promise<boolean> {
    let changed = false;
    const tried = new Set<number>();
    while (mayGoOn(this.space)) {
      const doubtful = [...this.set]
        .filter((i) => !tried.has(i))
        .sort((a, b) => this.expected[a]! / this.share[a]! - this.expected[b]! / this.share[b]! || a - b)
        .slice(0, BATCH);
      if (doubtful.length === 0) return changed;
      const sets = doubtful.map((i) => this.set.filter((other) => other !== i));
      const scores = await this.measured(sets);
      for (const [at, i] of doubtful.entries()) {
        this.expected[i] = Math.max(0, noiseOf(scores[at]!) - noiseOf(this.score));
        tried.add(i);
      }
      const best = bestOf(scores);
      if (scores[best]! < this.score) continue;
      this.set = sets[best]!;
      this.score = scores[best]!;
      changed = true;
    }
    return changed;
  }

  /** Measures sets, and goes on from the best if it is better. */
  private async tryAll(sets: number[][]): Promise<void> {
    const scores = await this.measured(sets);
    const best = bestOf(scores);
    if (scores[best]! <= this.score + GAIN_DB) return;
    this.set = sets[best]!;
    this.score = scores[best]!;
  }

  private async measured(sets: number[][]): Promise<number[]> {
    const scores = await this.space.measure(sets);
    return scores.map((score) => (Number.isNaN(score) ? Number.NEGATIVE_INFINITY : score));
  }

  /** Candidates that fit the budget alone and are worth something, best first. */
  private ordered(worth: (candidate: number) => number): number[] {
    return this.feasible.filter((i) => worth(i) > 0).sort((a, b) => worth(b) - worth(a) || a - b);
  }

  /** As many of `order` as fit a part of the budget. */
  private async filled(order: number[], fill: number): Promise<number[]> {
    let set: number[] = [];
    for (const i of order) {
      const more = sorted([...set, i]);
      if (fits(await this.space.cost(more), this.space, fill, await this.space.cost([]))) set = more;
    }
    return set;
  }
}

function mayGoOn(space: SearchSpace): boolean {
  return space.measured() < space.most;
}

/** All candidates, or as many as half of the measurements allow: by the ranking where there is one. */
function worthTrying({ noise, most }: SearchSpace, feasible: number[], share: number[]): number[] {
  const worth = (i: number) => (noise?.[i] ?? 1) / share[i]!;
  return [...feasible]
    .sort((a, b) => worth(b) - worth(a) || a - b)
    .slice(0, Math.max(1, Math.floor(most / 2)))
    .sort((a, b) => a - b);
}

/** Whether a cost keeps within the limits, or within the part `fill` of what they leave above `base`. */
function fits(cost: ModelCost, { limits }: SearchSpace, fill = 1, base?: ModelCost): boolean {
  const from = { weightBytes: base?.weight_bytes ?? 0, bitOps: base?.bit_ops ?? 0 };
  return (
    cost.weight_bytes <= from.weightBytes + fill * (limits.weightBytes - from.weightBytes) &&
    cost.bit_ops <= from.bitOps + fill * (limits.bitOps - from.bitOps)
  );
}

/** A share of the room there is. Not nothing where it costs next to nothing, or chance would make such gains look large. */
function part(costs: number, room: number): number {
  const LEAST = 1e-3;
  return costs <= 0 ? LEAST : Math.max(LEAST, costs / Math.max(1, room));
}

export function noiseOf(score: number): number {
  return Number.isNaN(score) ? Number.POSITIVE_INFINITY : 10 ** (-score / 10);
}

function bestOf(scores: readonly number[]): number {
  let best = 0;
  for (const [i, score] of scores.entries()) if (score > scores[best]!) best = i;
  return best;
}

function sorted(set: number[]): number[] {
  return set.sort((a, b) => a - b);
}
