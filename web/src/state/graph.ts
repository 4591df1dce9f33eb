// The model's graph as it is drawn now: which blocks are open, which box is chosen, and how much each node costs.
import { computed, signal } from '@preact/signals';
import { type Blocks, blocksOf } from '../graph/blocks';
import { type Folded, fold } from '../graph/fold';
import type { GraphLayout } from '../graph/layout';
import { type Net, netOf } from '../graph/net';
import type { ModelGraph, SensitivityRow } from '../package';
import { type LossAxis, lossAxis } from '../pictures/loss_axis';
import type { Problem } from './problem';
import { plan, ranking, rowByTensor } from './store';

export const modelGraph = signal<ModelGraph | null>(null);
export const graphProblem = signal<Problem | null>(null);

const kNothing: Net = { nodes: [], links: [] };

export const net = computed<Net>(() =>
  modelGraph.value === null ? kNothing : netOf(modelGraph.value, plan.value?.value ?? null),
);
/** Blocks depend on names and operators only; another plan leaves them as they are. */
export const blocks = computed<Blocks>(() =>
  blocksOf(modelGraph.value === null ? kNothing : netOf(modelGraph.value, null)),
);
export const openBlocks = signal<ReadonlySet<string>>(new Set());
export const folded = computed<Folded>(() => fold(net.value, blocks.value, openBlocks.value));

export interface LaidOut {
  folded: Folded;
  layout: GraphLayout;
}

/** The last one that was computed; it may be of boxes that were there before. */
export const laidOut = signal<LaidOut | null>(null);

/** The box that is chosen, by its name. */
export const chosenBox = signal<string | null>(null);

export interface Loss {
  /** Worst of the quantizers of its weights, and of what it makes; null where there is none with a score. */
  weight: SensitivityRow | null;
  activation: SensitivityRow | null;
}

export const graphAxis = computed<LossAxis | null>(() => {
  const made = ranking.value?.value;
  return made === undefined || made.choice.sweep === 'disable'
    ? null
    : lossAxis(
        made.measure,
        made.rows.map(({ score }) => score),
      );
});

/** From the least loss that is known to the greatest, so that boxes differ where scores do; never stretched far. */
export const lossSpan = computed<readonly [number, number]>(() => {
  const axis = graphAxis.value;
  const shares = ranking.value?.value.rows.map(({ score }) => axis?.share(score) ?? 0) ?? [];
  const most = shares.reduce((a, b) => Math.max(a, b), 0);
  const least = shares.reduce((a, b) => Math.min(a, b), most);
  return [Math.min(least, most - kLeastSpan), most];
});

const kLeastSpan = 0.1;

/** By place in the net. */
export const losses = computed<readonly Loss[]>(() => {
  const axis = graphAxis.value;
  const rows = rowByTensor.value;
  const worst = (tensors: readonly string[]): SensitivityRow | null => {
    let found: SensitivityRow | null = null;
    for (const tensor of tensors) {
      const row = rows.get(tensor);
      if (row === undefined || axis === null) continue;
      if (found === null || axis.share(row.score) > axis.share(found.score)) found = row;
    }
    return found;
  };
  return net.value.nodes.map(({ reads, makes }) => ({
    weight: worst(reads.filter(({ from }) => from === null).map(({ tensor }) => tensor)),
    activation: worst(makes),
  }));
});

/** The worst of several nodes. */
export function lossOf(nodes: readonly number[]): Loss {
  const axis = graphAxis.value;
  const result: Loss = { weight: null, activation: null };
  for (const at of nodes) {
    for (const role of ['weight', 'activation'] as const) {
      const row = losses.value[at]?.[role] ?? null;
      const best = result[role];
      if (row !== null && (best === null || (axis?.share(row.score) ?? 0) > (axis?.share(best.score) ?? 0)))
        result[role] = row;
    }
  }
  return result;
}
