// How the error grows through the model, tensor by tensor in the order of the graph.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { propagate } from '../actions/propagate';
import type { PropagationRow } from '../package';
import type { Item } from '../pictures/columns_layout';
import { encodings, encodingsKey, job, planFresh, propagation, selected, workKey } from '../state/store';
import { counted, decibelFigure, printable, significant } from '../text/format';
import { Choice } from './choice';
import { ColumnsPart } from './columns_part';
import type { Column } from './data_table';

type Error = 'sqnr' | 'psnr' | 'mse';
type Row = PropagationRow & { at: number; key: string };

const kErrors: readonly (readonly [Error, string])[] = [
  ['sqnr', 'SQNR, dB'],
  ['psnr', 'PSNR, dB'],
  ['mse', 'MSE'],
];
const error = signal<Error>('sqnr');

const figures = (key: Error, label: string, unit?: string): Column<Row> => ({
  key,
  label,
  ...(unit !== undefined && { unit }),
  numeric: true,
  width: '7rem',
  cell: (row) => (unit === undefined ? significant(row[key] ?? Number.NaN) : decibelFigure(row[key])),
  title: (row) => String(row[key]),
  value: (row) => row[key],
});

const kColumns: readonly Column<Row>[] = [
  {
    key: 'order',
    label: 'Place',
    numeric: true,
    width: '4.5rem',
    cell: (row) => row.at + 1,
    value: (row) => row.at,
  },
  {
    key: 'tensor',
    label: 'Tensor',
    names: true,
    cell: (row) => printable(row.tensor),
    title: (row) => printable(row.tensor, 2000),
    value: (row) => row.tensor,
  },
  {
    key: 'node',
    label: 'Node',
    cell: (row) => printable(row.node),
    title: (row) => printable(row.node, 2000),
    value: (row) => row.node,
  },
  {
    key: 'op',
    label: 'Operator',
    width: '8rem',
    cell: (row) => printable(row.op, 40),
    value: (row) => row.op,
  },
  figures('sqnr', 'SQNR', 'dB'),
  figures('psnr', 'PSNR', 'dB'),
  figures('mse', 'MSE'),
];

function itemOf(row: Row): Item {
  const value = row[error.value];
  const known = value !== null && Number.isFinite(value) ? value : null;
  const unit = value === null || error.value === 'mse' ? '' : ' dB';
  const title = `${printable(row.tensor)}, ${printable(row.op, 40)}: ${value ?? 'no number'}${unit}`;
  return { key: row.key, low: known, high: known, solid: true, title };
}

function Made({ rows }: { rows: readonly Row[] }): VNode {
  const name = kErrors.find(([key]) => key === error.value)?.[1] ?? '';
  const worse = error.value === 'mse' ? 'higher' : 'lower';
  return (
    <ColumnsPart
      {...{ rows, itemOf }}
      columns={kColumns}
      spread={error.value === 'mse' ? 'powers' : 'even'}
      joined
      title={`${name} of ${counted(rows.length, 'tensor')}, float against quantized`}
      note={`${worse} is more loss`}
      what="errors"
      chosen={selected.value}
      onChoose={(tensor) => {
        selected.value = tensor;
      }}
    >
      <Choice
        label="Error"
        value={error.value}
        all={kErrors}
        onChoose={(value) => {
          error.value = value;
        }}
      />
    </ColumnsPart>
  );
}

export function ErrorsView(): VNode {
  const made = propagation.value;
  const stale = made !== null && made.key !== workKey.value;
  const ready = planFresh.value && encodings.value?.key === encodingsKey.value && job.value === null;
  return (
    <>
      {(made === null || stale) && (
        <p class="actions">
          <button type="button" disabled={!ready} onClick={() => void propagate()}>
            {stale ? 'Compare again' : 'Compare all tensors'}
          </button>
          <span>
            {stale
              ? 'Stale: these are of another plan or other ranges.'
              : 'Runs the float and the fully quantized model once over all samples, tensor by tensor.'}
          </span>
        </p>
      )}
      {made !== null && <Made rows={made.value.map((row, at) => ({ ...row, at, key: row.tensor }))} />}
    </>
  );
}
