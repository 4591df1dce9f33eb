// The ranking as a table: the same entries as the bars, sortable by every column.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { LossAxis } from '../pictures/loss_axis';
import { badness, type Entry } from '../pictures/ranking_layout';
import type { Order } from '../state/address';
import { order, selected } from '../state/store';
import { printable } from '../text/format';
import { type Column, DataTable, type Sort } from './data_table';

/** The table's own order, when a header was pressed; null: as the picture's. */
export const tableSort = signal<Sort | null>(null);

function columnsOf(axis: LossAxis): readonly Column<Entry>[] {
  const { title, unit, figure } = axis;
  const suffix = unit === '' ? '' : ` ${unit}`;
  return [
    {
      key: 'order',
      label: 'Site',
      numeric: true,
      sortable: true,
      width: '5rem',
      cell: (entry) => entry.order + 1,
    },
    {
      key: 'name',
      label: 'Quantizer',
      names: true,
      sortable: true,
      cell: (entry) => printable(entry.name),
      title: (entry) => printable(entry.name, 2000),
    },
    { key: 'role', label: 'Role', sortable: true, width: '6.5rem', cell: (entry) => entry.role },
    {
      key: 'score',
      label: title,
      ...(unit !== '' && { unit }),
      numeric: true,
      sortable: true,
      width: '8rem',
      cell: (entry) => (entry.score === null ? '\u2026' : figure(entry.score)),
      title: (entry) => (entry.score === null ? 'not known yet' : `${entry.score}${suffix}`),
    },
    {
      key: 'interval',
      label: '95 %',
      numeric: true,
      width: '8.5rem',
      cell: ({ interval }) =>
        interval === null ? '\u2013' : `${figure(interval[0])} \u2026 ${figure(interval[1])}`,
      title: ({ interval, samples }) =>
        interval === null ? 'no interval' : `${interval[0]} to ${interval[1]}, of ${samples} samples`,
    },
  ];
}

const kSorts: Record<Order, Sort> = {
  worst: { key: 'score', descending: false },
  graph: { key: 'order', descending: false },
};

function compareBy(key: string, a: Entry, b: Entry, axis: LossAxis): number {
  if (key === 'name') return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
  if (key === 'role') return a.role < b.role ? -1 : a.role > b.role ? 1 : 0;
  if (key === 'score') return badness(b, axis.higherIsWorse) - badness(a, axis.higherIsWorse);
  return a.order - b.order;
}

/** Ties keep the order of sites in both directions; unknown scores stay last. */
function sorted(entries: readonly Entry[], { key, descending }: Sort, axis: LossAxis): Entry[] {
  return entries.slice().sort((a, b) => {
    if (key === 'score' && (a.score === null) !== (b.score === null)) return a.score === null ? 1 : -1;
    return (descending ? -1 : 1) * compareBy(key, a, b, axis) || a.order - b.order;
  });
}

/** What a column of scores is said to be sorted by: the values themselves, not how bad they are. */
function shown(sort: Sort, { higherIsWorse }: LossAxis): Sort {
  return sort.key === 'score' && higherIsWorse ? { ...sort, descending: !sort.descending } : sort;
}

function pressHeader(key: string): void {
  const now = tableSort.value ?? kSorts[order.value];
  tableSort.value = { key, descending: now.key === key ? !now.descending : false };
}

export function RankingTable(props: { entries: readonly Entry[]; axis: LossAxis; caption: string }): VNode {
  const { entries, axis } = props;
  const sort = tableSort.value ?? kSorts[order.value];
  return (
    <DataTable
      label="Ranking as a table"
      caption={props.caption}
      columns={columnsOf(axis)}
      items={tableSort.value === null ? entries : sorted(entries, sort, axis)}
      keyOf={(entry) => entry.name}
      sort={shown(sort, axis)}
      onSort={pressHeader}
      selectedKey={selected.value}
      onSelect={(name) => {
        selected.value = name;
      }}
      empty="No quantizer fits the search."
    />
  );
}
