// The range of every quantized tensor, and of every channel of one of them.
import { computed, signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Encoding } from '../package';
import type { Item } from '../pictures/columns_layout';
import { encodings, rowSites, selected, states } from '../state/store';
import { counted, printable, significant } from '../text/format';
import { Choice } from './choice';
import { ColumnsPart } from './columns_part';
import type { Column } from './data_table';

interface Row {
  key: string;
  role: string;
  format: string;
  channels: number;
  min: number;
  max: number;
  scale: number;
  zeroPoint: number;
}

type Role = 'all' | 'weight' | 'activation';
const kRoles: readonly (readonly [Role, string])[] = [
  ['all', 'All tensors'],
  ['weight', 'Weights'],
  ['activation', 'Activations'],
];

const role = signal<Role>('all');
const even = signal(false);
/** The tensor whose channels are shown. */
const opened = signal<string | null>(null);

function extreme(values: readonly number[], pick: (a: number, b: number) => number): number {
  return values.reduce((a, b) => pick(a, b), values[0] ?? Number.NaN);
}

function encodingIn(tensor: string): Encoding | null {
  const all = encodings.value?.value.encodings;
  return all !== undefined && Object.hasOwn(all, tensor) ? (all[tensor] ?? null) : null;
}

const tensorRows = computed<readonly Row[]>(() =>
  rowSites.value.flatMap((site) => {
    const made = encodingIn(site.tensor);
    if (made === null || (role.value !== 'all' && site.role !== role.value)) return [];
    const [min, max] = [extreme(made.min, Math.min), extreme(made.max, Math.max)];
    const part = { role: site.role, format: made.format, channels: made.scale.length };
    const [scale, zeroPoint] = [extreme(made.scale, Math.max), made.zero_point[0] ?? 0];
    return [{ key: site.tensor, ...part, min, max, scale, zeroPoint }];
  }),
);

function channelRows(made: Encoding): Row[] {
  const part = { role: 'weight', format: made.format, channels: 1 };
  return made.scale.map((scale, at) => ({
    key: String(at),
    ...part,
    min: made.min[at] ?? Number.NaN,
    max: made.max[at] ?? Number.NaN,
    scale,
    zeroPoint: made.zero_point[at] ?? 0,
  }));
}

const number = (key: 'min' | 'max' | 'scale' | 'zeroPoint', label: string, name: string): Column<Row> => ({
  key: name,
  label,
  numeric: true,
  width: '7.5rem',
  cell: (row) => significant(row[key]),
  title: (row) => String(row[key]),
  value: (row) => row[key],
});

const kNumbers: readonly Column<Row>[] = [
  number('min', 'Min', 'min'),
  number('max', 'Max', 'max'),
  number('scale', 'Largest scale', 'scale'),
  number('zeroPoint', 'Zero point', 'zero_point'),
];

const kTensorColumns: readonly Column<Row>[] = [
  {
    key: 'tensor',
    label: 'Tensor',
    names: true,
    cell: (row) => printable(row.key),
    title: (row) => printable(row.key, 2000),
    value: (row) => row.key,
  },
  { key: 'role', label: 'Role', width: '6rem', cell: (row) => row.role, value: (row) => row.role },
  { key: 'format', label: 'Format', width: '5rem', cell: (row) => row.format, value: (row) => row.format },
  {
    key: 'channels',
    label: 'Scales',
    numeric: true,
    width: '4.5rem',
    cell: (row) => row.channels,
    value: (row) => row.channels,
  },
  ...kNumbers,
];

const kChannelColumns: readonly Column<Row>[] = [
  { key: 'channel', label: 'Channel', names: true, cell: (row) => row.key, value: (row) => Number(row.key) },
  ...kNumbers.map((column) => (column.key === 'scale' ? { ...column, label: 'Scale' } : column)),
];

function itemOf(row: Row): Item {
  const known = (value: number): number | null => (Number.isFinite(value) ? value : null);
  return {
    key: row.key,
    low: known(row.min),
    high: known(row.max),
    solid: row.role === 'weight',
    title: `${printable(row.key)}: ${row.min} to ${row.max}`,
  };
}

/** What both kinds of rows have in common. */
function Shown(
  props: Pick<
    Parameters<typeof ColumnsPart<Row>>[0],
    'rows' | 'columns' | 'title' | 'what' | 'chosen' | 'onChoose' | 'children'
  >,
): VNode {
  return (
    <ColumnsPart
      {...props}
      itemOf={itemOf}
      spread={even.value ? 'even' : 'both signs'}
      joined={false}
      note="solid is a weight, dotted an activation"
    />
  );
}

function EvenBox(): VNode {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={!even.value}
        onChange={({ currentTarget }) => {
          even.value = !currentTarget.checked;
        }}
      />{' '}
      Log scale
    </label>
  );
}

const channel = signal<string | null>(null);

function Channels({ tensor, made }: { tensor: string; made: Encoding }): VNode {
  const rows = channelRows(made);
  return (
    <Shown
      rows={rows}
      columns={kChannelColumns}
      title={`Ranges of ${counted(rows.length, 'channel')} of ${printable(tensor, 60)}`}
      what="channel_ranges"
      chosen={channel.value}
      onChoose={(key) => {
        channel.value = key;
      }}
    >
      <EvenBox />
      <button
        type="button"
        onClick={() => {
          opened.value = null;
        }}
      >
        All tensors
      </button>
    </Shown>
  );
}

export function RangesView(): VNode {
  if (encodings.value === null) {
    const ready = states.value.calibrate === 'ready';
    return (
      <p class="lead">{ready ? 'Calibrate first; its ranges are shown here.' : 'There are no ranges yet.'}</p>
    );
  }
  const inside = opened.value === null ? null : encodingIn(opened.value);
  if (opened.value !== null && inside !== null && inside.scale.length > 1)
    return <Channels tensor={opened.value} made={inside} />;
  const rows = tensorRows.value;
  const now = rows.find(({ key }) => key === selected.value);
  return (
    <Shown
      rows={rows}
      columns={kTensorColumns}
      title={`Ranges of ${counted(rows.length, 'tensor')} in the order of the graph`}
      what="ranges"
      chosen={selected.value}
      onChoose={(tensor) => {
        selected.value = tensor;
      }}
    >
      <Choice
        label="Of"
        value={role.value}
        all={kRoles}
        onChoose={(value) => {
          role.value = value;
        }}
      />
      <EvenBox />
      <button
        type="button"
        disabled={now === undefined || now.channels < 2}
        title="Select a tensor with more than one scale, then look at each of its channels."
        onClick={() => {
          channel.value = null;
          opened.value = now?.key ?? null;
        }}
      >
        Channels
      </button>
    </Shown>
  );
}
