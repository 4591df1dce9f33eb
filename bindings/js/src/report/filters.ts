// Which rows of a ranking match: beyond the threshold, and by name, and in one of the chosen groups.
import { beyond } from '../shared/metric_text.js';
import type { RankingRow } from './ranking_rows.js';

/** What a button of the report chooses: a role, an operator, a text in the name, or a regular expression over it. */
export interface Group {
  label: string;
  kind: 'role' | 'op' | 'text' | 're';
  value: string;
}

export interface Filter {
  threshold: number | null;
  search: string;
  groups: readonly Group[];
}

export function isActive({ threshold, search, groups }: Filter): boolean {
  return threshold !== null || search !== '' || groups.length > 0;
}

/** Groups join (any of them), then all three conditions hold at once; what isn't set takes everything. */
export function matcher(filter: Filter, higherIsWorse: boolean): (row: RankingRow) => boolean {
  const { threshold } = filter;
  const text = filter.search.toLowerCase();
  const groups = filter.groups.map(groupTest);
  return (row) =>
    (threshold === null || beyond(row.score, threshold, higherIsWorse)) &&
    (text === '' || row.name.toLowerCase().includes(text) || row.detail.toLowerCase().includes(text)) &&
    (groups.length === 0 || groups.some((takes) => takes(row)));
}

function groupTest({ kind, value }: Group): (row: RankingRow) => boolean {
  if (kind === 'role') return (row) => row.role === value;
  if (kind === 'op') return (row) => row.ops.includes(value);
  if (kind === 'text') return (row) => row.name.includes(value);
  const pattern = new RegExp(value);
  return (row) => pattern.test(row.name);
}

/** A group from what a person types: `re:` and an expression, or a part of the name; null for a bad expression. */
export function typedGroup(text: string): Group | null {
  if (!text.startsWith('re:')) return { label: text, kind: 'text', value: text };
  try {
    new RegExp(text.slice(3));
  } catch {
    return null;
  }
  return { label: text, kind: 're', value: text.slice(3) };
}

/** The projections of language models, as AIMET offers them. */
const PROJECTIONS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj'];
const MAX_OPERATORS = 12;

/** Those that tell rows apart: both roles, the most frequent operators, and projections that are there. */
export function offeredGroups(rows: readonly RankingRow[]): Group[] {
  const counts = new Map<string, number>();
  for (const { ops } of rows) for (const op of ops) counts.set(op, (counts.get(op) ?? 0) + 1);
  const operators = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MAX_OPERATORS);
  const all: Group[] = [
    { label: 'weights', kind: 'role', value: 'weight' },
    { label: 'activations', kind: 'role', value: 'activation' },
    ...operators.map(([op]): Group => ({ label: op, kind: 'op', value: op })),
    ...PROJECTIONS.map((part): Group => ({ label: part, kind: 'text', value: part })),
  ];
  return all.filter((group) => {
    const taken = rows.filter(groupTest(group)).length;
    return taken > 0 && taken < rows.length;
  });
}
