// The ranking as the pictures need it: who each row is, how much it loses, and where it stands in both orders.
import { bestScore, metricTitle } from '../shared/metric_text.js';
import type { SensitivityResults } from '../types.js';
import type { ReportData } from './report_data.js';

export interface RankingRow {
  rank: number;
  name: string;
  score: number | null;
  interval: [number, number] | null;
  detail: string;
  samples: number | null;
  /** "weight" or "activation"; empty for groups. */
  role: string;
  /** The operators that make or read the tensor, or are the group; empty if the report doesn't know. */
  ops: string[];
  /** Position in graph order, from 0; null if neither the results nor a plan tell. */
  order: number | null;
  /** 0 for none to 1 for the worst score of the ranking. */
  loss: number;
}

export function higherIsWorse(results: SensitivityResults): boolean {
  return results.halftone?.higher_is_worse === true;
}

export function metricOf(results: SensitivityResults): string {
  return results.halftone?.metric ?? '';
}

/** "PSNR", "top-10 logit PSNR", …; "score" for a file that doesn't say. */
export function scoreTitle({ halftone }: SensitivityResults): string {
  return metricTitle({ metric: halftone?.metric ?? '', ...(halftone?.k !== undefined && { k: halftone.k }) });
}

export function rankingRows({
  results,
  plan,
  graph,
}: Pick<ReportData, 'results' | 'plan' | 'graph'>): RankingRow[] {
  const { ranking, halftone } = results;
  const sites = new Map(plan?.sites.map((site, i) => [site.tensor, { site, order: i }]));
  const opOf = operatorsByNode(graph, plan);
  const ops = isQuantizerRun(results) ? operatorsByTensor(graph, plan, opOf) : operatorsByGroup(opOf);
  const loss = lossScale(results);
  const positions = groupPositions(results, graph);
  return ranking.map(({ rank, name, score, detail }, i) => {
    const known = isQuantizerRun(results) ? sites.get(name) : undefined;
    return {
      rank,
      name,
      score,
      interval: halftone?.interval?.[i] ?? null,
      detail: detail ?? '',
      samples: halftone?.samples_used?.[i] ?? halftone?.samples ?? null,
      role: known?.site.role ?? '',
      ops: [...(ops.get(name) ?? [])],
      order: halftone?.order?.[i] ?? known?.order ?? positions.get(name) ?? null,
      loss: loss(score),
    };
  });
}

/** AIMET's own files have rows for quantizers, too, if their names are tensors. */
export function isQuantizerRun({ halftone }: SensitivityResults): boolean {
  return (halftone?.by ?? 'quantizer') === 'quantizer' || halftone?.by === '';
}

/** The share of the worst row's loss, counted from the score of no loss, or from the ranking's best where there is none. */
export function lossScale(results: SensitivityResults): (score: number | null) => number {
  const scores = results.ranking.flatMap(({ score }) => (score === null ? [] : [score]));
  const sign = higherIsWorse(results) ? 1 : -1;
  const losses = scores.map((score) => sign * score);
  const least = losses.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const none = bestScore(metricOf(results));
  const zero = none === null ? least : Math.min(sign * none, least);
  const worst = losses.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY) - zero;
  return (score) => (score === null ? 1 : worst > 0 ? (sign * score - zero) / worst : 0);
}

/** Where nodes, or the first of each operator, stand in the graph. */
function groupPositions({ halftone }: SensitivityResults, graph: ReportData['graph']): Map<string, number> {
  const positions = new Map<string, number>();
  const by = halftone?.by ?? '';
  if (!['layer', 'op_name', 'operator'].includes(by)) return positions;
  graph?.nodes.forEach(({ label, op }, i) => {
    const key = by === 'operator' ? op : label;
    if (!positions.has(key)) positions.set(key, i);
  });
  return positions;
}

function operatorsByNode(graph: ReportData['graph'], plan: ReportData['plan']): Map<string, string> {
  return new Map([
    ...(graph?.nodes ?? []).map(({ label, op }): [string, string] => [label, op]),
    ...(plan?.inputs ?? []).map(({ node, op }): [string, string] => [node, op]),
  ]);
}

type Operators = Map<string, Set<string>>;

/** What makes a tensor; of a weight or an input of the model, what reads it. */
function operatorsByTensor(
  graph: ReportData['graph'],
  plan: ReportData['plan'],
  opOf: ReadonlyMap<string, string>,
): Operators {
  const found: Operators = new Map();
  const constants = new Set(graph?.constants);
  for (const { op, outputs } of graph?.nodes ?? [])
    for (const output of outputs) if (!constants.has(output)) found.set(output, new Set([op]));
  for (const { tensor, consumers } of plan?.sites ?? []) {
    if (found.has(tensor)) continue;
    const ops = consumers.flatMap(([node]) => opOf.get(node) ?? []);
    found.set(tensor, new Set(ops));
  }
  return found;
}

/** Of a group that is a node or an operator. */
function operatorsByGroup(opOf: ReadonlyMap<string, string>): Operators {
  const found: Operators = new Map();
  for (const [node, op] of opOf) found.set(node, new Set([op]));
  for (const op of opOf.values()) if (!found.has(op)) found.set(op, new Set([op]));
  return found;
}
