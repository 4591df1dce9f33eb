// Every input of every node: whether it is read quantized, by which rule, in which fused group, and why.
import { batch } from '@preact/signals';
import type { VNode } from 'preact';
import { byRule, type InputRow, inputRows } from '../state/plan_rows';
import { planning, selected, selectedInput } from '../state/store';
import { counted, printable } from '../text/format';
import { partitionText } from '../text/plan_words';
import { type Column, DataTable } from './data_table';

const kColumns: readonly Column<InputRow>[] = [
  {
    key: 'node',
    label: 'Node',
    names: true,
    width: '11rem',
    cell: (row) => printable(row.node),
    title: (row) => printable(row.node, 2000),
  },
  { key: 'op', label: 'Operator', width: '8.5rem', cell: (row) => printable(row.op, 40) },
  {
    key: 'tensor',
    label: 'Input',
    width: '10rem',
    cell: (row) => (
      <>
        <span class="unit">{row.input}</span> {row.tensor === '' ? 'not given' : printable(row.tensor)}
      </>
    ),
    title: (row) => `Input ${row.input}: ${row.tensor === '' ? 'not given' : printable(row.tensor, 2000)}`,
  },
  {
    key: 'read',
    label: 'Read',
    width: '6.2rem',
    cell: (row) => (row.quantized ? 'quantized' : 'float'),
  },
  { key: 'rule', label: 'Rule', width: '12rem', cell: (row) => row.rule, title: (row) => row.rule },
  {
    key: 'partition',
    label: 'Partition',
    width: '9rem',
    cell: (row) => partitionText(row.partition),
    title: (row) => (row.partition === null ? '' : printable(row.partition, 2000)),
  },
  {
    key: 'why',
    label: 'Why',

    cell: (row) => printable(row.why, 400),
    title: (row) => printable(row.why, 2000),
  },
];

export function selectInput(row: InputRow): void {
  batch(() => {
    selected.value = row.tensor;
    selectedInput.value = row.at;
  });
}

/** The row that is selected now: by itself, or not at all once another tensor is. */
export function chosenInput(): InputRow | null {
  const at = selectedInput.value;
  const row = at === null ? undefined : inputRows.value[at];
  return row !== undefined && row.tensor === selected.value ? row : null;
}

export function InputsTable({
  rows,
  grouped,
  empty,
}: {
  rows: readonly InputRow[];
  grouped: boolean;
  empty: string;
}): VNode {
  const items = grouped
    ? [...byRule(rows)].flatMap(([rule, list]) => [
        { group: rule, note: counted(list.length, 'input') },
        ...list,
      ])
    : rows;
  const chosen = chosenInput();
  return (
    <DataTable
      label="Inputs of all nodes"
      caption={`${counted(rows.length, 'node input')} in the order of the graph`}
      columns={kColumns}
      items={items}
      busy={planning.value}
      minWidth="89rem"
      keyOf={(row) => String(row.at)}
      selectedKey={chosen === null ? null : String(chosen.at)}
      onSelect={(key) => {
        const row = inputRows.value[Number(key)];
        if (row !== undefined) selectInput(row);
      }}
      empty={empty}
    />
  );
}
