// Every tensor on which a quantizer can sit: whether it does, by which rule, and why.
import type { VNode } from 'preact';
import type { Site } from '../package';
import { byRule, scaleGroups } from '../state/plan_rows';
import { planning, selected } from '../state/store';
import { counted, printable } from '../text/format';
import { concatText, granularityText, sharingText } from '../text/plan_words';
import { type Column, DataTable } from './data_table';

const kColumns: readonly Column<Site>[] = [
  {
    key: 'tensor',
    label: 'Tensor',
    names: true,
    width: '12.5rem',
    cell: (site) => printable(site.tensor),
    title: (site) => printable(site.tensor, 2000),
  },
  { key: 'role', label: 'Role', width: '6.2rem', cell: (site) => site.role },
  {
    key: 'format',
    label: 'Format',
    width: '5rem',
    cell: (site) => (site.quantized ? formatText(site) : 'float'),
    title: (site) => site.format,
  },
  {
    key: 'granularity',
    label: 'Granularity',
    width: '11rem',
    cell: (site) => (site.quantized ? granularityText(site) : '\u2013'),
  },
  {
    key: 'why',
    label: 'Why',
    cell: (site) => printable(site.why, 400),
    title: (site) => `${site.rule}: ${printable(site.why, 2000)}`,
  },
];

/** Only where sites share scales. */
const kSharedScale: Column<Site> = {
  key: 'group',
  label: 'Shared scale',
  width: '13rem',
  cell: (site) => {
    const group = groupOf(site);
    return group === undefined ? '\u2013' : concatText(group);
  },
  title: (site) => {
    const group = groupOf(site);
    return group === undefined ? '' : sharingText(site, group);
  },
};

export function formatText({ format }: Site): string {
  return format === 'float8e4m3fn' ? 'float8' : format;
}

function groupOf(site: Site): ReturnType<typeof scaleGroups.value.get> {
  return site.scale_group === null ? undefined : scaleGroups.value.get(site.scale_group);
}

function columns(): readonly Column<Site>[] {
  return scaleGroups.value.size === 0
    ? kColumns
    : [...kColumns.slice(0, 4), kSharedScale, ...kColumns.slice(4)];
}

export function SitesTable({
  rows,
  grouped,
  empty,
}: {
  rows: readonly Site[];
  grouped: boolean;
  empty: string;
}): VNode {
  const items = grouped
    ? [...byRule(rows)].flatMap(([rule, list]) => [
        { group: rule, note: counted(list.length, 'tensor') },
        ...list,
      ])
    : rows;
  return (
    <DataTable
      label="Sites of the plan"
      caption={`${counted(rows.length, 'tensor')} in the order of the graph`}
      columns={columns()}
      items={items}
      busy={planning.value}
      {...(scaleGroups.value.size > 0 && { minWidth: '66rem' })}
      keyOf={(site) => site.tensor}
      selectedKey={selected.value}
      onSelect={(tensor) => {
        selected.value = tensor;
      }}
      empty={empty}
    />
  );
}
