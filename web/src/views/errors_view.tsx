// How the error grows through the model, tensor by tensor in the order of the graph.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { propagate } from '../actions/propagate';
import { columnsSvg } from '../exports/columns_file';
import type { PropagationRow } from '../package';
import type { Item } from '../pictures/columns_layout';
import {
  encodings,
  encodingsKey,
  job,
  planFresh,
  presentation,
  propagation,
  selected,
  workKey,
} from '../state/store';
import { counted, decibelFigure, printable, significant } from '../text/format';
import { Choice } from './choice';
import { ColumnsBox } from './columns_box';
import { type Column, DataTable } from './data_table';
import { modelStem, TableExports } from './exports';
import { PictureOrTable } from './picture_or_table';

type Error = 'sqnr' | 'psnr' | 'mse';
type Row = PropagationRow & { at: number };

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

function itemsOf(rows: readonly Row[]): Item[] {
  const unit = error.value === 'mse' ? '' : ' dB';
  return rows.map((row) => {
    const value = row[error.value];
    const known = value !== null && Number.isFinite(value) ? value : null;
    const title = `${printable(row.tensor)}, ${printable(row.op, 40)}: ${value ?? 'no number'}${value === null ? '' : unit}`;
    return { key: row.tensor, low: known, high: known, solid: true, title };
  });
}

function Made({ rows }: { rows: readonly Row[] }): VNode {
  const items = itemsOf(rows);
  const spread = error.value === 'mse' ? 'powers' : 'even';
  const name = kErrors.find(([key]) => key === error.value)?.[1] ?? '';
  const title = `${name} of every tensor, float against quantized`;
  const description = `${counted(rows.length, 'tensor')} in the order of the graph.`;
  const select = (tensor: string): void => {
    selected.value = tensor;
  };
  return (
    <>
      <div class="filters">
        <PictureOrTable />
        <Choice
          label="Error"
          value={error.value}
          all={kErrors}
          onChoose={(value) => {
            error.value = value;
          }}
        />
        <TableExports
          what="errors"
          columns={kColumns}
          rows={rows}
          svg={() =>
            columnsSvg(items, spread, true, { title: `${title}: ${printable(modelStem())}`, description })
          }
        />
      </div>
      {presentation.value === 'bars' ? (
        <>
          <p class="caption">
            {title}; {error.value === 'mse' ? 'higher' : 'lower'} is more loss. {description}
          </p>
          <ColumnsBox
            label={title}
            chosen={selected.value}
            onChoose={select}
            joined
            {...{ description, items, spread }}
          />
        </>
      ) : (
        <DataTable
          label="Errors as a table"
          caption={`${title}. ${description}`}
          columns={kColumns}
          items={rows}
          minWidth="58rem"
          keyOf={(row) => row.tensor}
          selectedKey={selected.value}
          onSelect={select}
        />
      )}
    </>
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
      {made !== null && <Made rows={made.value.map((row, at) => ({ ...row, at }))} />}
    </>
  );
}
