// The plan as rows: its sites with the Concat that joins them, and every node input. Filters are plain functions over both.
import { computed } from '@preact/signals';
import type { InputDecision, Plan, Site } from '../package';
import { plan } from './store';

export interface InputRow extends InputDecision {
  /** Place among the plan's inputs, which names the row: labels of nodes need not be unique. */
  readonly at: number;
}

/** Sites that share one scale, and the Concat nodes that read them. */
export interface ScaleGroup {
  readonly tensors: readonly string[];
  readonly concats: readonly string[];
}

export type Decision = 'all' | 'quantized' | 'float';

export interface RowFilter {
  search: string;
  decision: Decision;
  role: 'all' | Site['role'];
}

export function scaleGroupsOf({ sites, inputs }: Pick<Plan, 'sites' | 'inputs'>): Map<string, ScaleGroup> {
  const groupOf = new Map<string, { tensors: string[]; concats: Set<string> }>();
  const byTensor = new Map<string, { concats: Set<string> }>();
  for (const { tensor, scale_group: name } of sites) {
    if (name === null) continue;
    const group = groupOf.get(name) ?? { tensors: [], concats: new Set() };
    group.tensors.push(tensor);
    groupOf.set(name, group);
    byTensor.set(tensor, group);
  }
  for (const { node, op, tensor } of byTensor.size === 0 ? [] : inputs) {
    if (op === 'Concat') byTensor.get(tensor)?.concats.add(node);
  }
  return new Map(
    [...groupOf].map(([name, { tensors, concats }]) => [name, { tensors, concats: [...concats] }]),
  );
}

function fits(quantized: boolean, decision: Decision): boolean {
  return decision === 'all' || quantized === (decision === 'quantized');
}

export function filterSites(sites: readonly Site[], { search, decision, role }: RowFilter): Site[] {
  const wanted = search.trim().toLowerCase();
  const has = (text: string): boolean => text.toLowerCase().includes(wanted);
  return sites.filter(
    (site) =>
      (role === 'all' || site.role === role) &&
      fits(site.quantized, decision) &&
      (wanted === '' ||
        has(site.tensor) ||
        has(site.rule) ||
        has(site.why) ||
        has(site.scale_group ?? '') ||
        site.consumers.some(([node]) => has(node))),
  );
}

export function filterInputs(rows: readonly InputRow[], { search, decision }: RowFilter): InputRow[] {
  const wanted = search.trim().toLowerCase();
  const has = (text: string): boolean => text.toLowerCase().includes(wanted);
  return rows.filter(
    (row) =>
      fits(row.quantized, decision) &&
      (wanted === '' ||
        [row.node, row.op, row.tensor, row.rule, row.partition ?? '', row.why].some((text) => has(text))),
  );
}

/** Rules in the order in which they first occur, each with its rows. */
export function byRule<Row extends { rule: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const rules = new Map<string, Row[]>();
  for (const row of rows) {
    const list = rules.get(row.rule);
    if (list === undefined) rules.set(row.rule, [row]);
    else list.push(row);
  }
  return rules;
}

export const inputRows = computed<readonly InputRow[]>(
  () => plan.value?.value.inputs.map((input, at) => ({ ...input, at })) ?? [],
);

export const scaleGroups = computed(() =>
  plan.value === null ? new Map<string, ScaleGroup>() : scaleGroupsOf(plan.value.value),
);

/** Every reading of each tensor, in the order of the graph. */
export const readingsByTensor = computed(() => {
  const readings = new Map<string, InputRow[]>();
  for (const row of inputRows.value) {
    const list = readings.get(row.tensor);
    if (list === undefined) readings.set(row.tensor, [row]);
    else list.push(row);
  }
  return readings;
});
