// The files of one picture, or of its table.
import type { VNode } from 'preact';
import { download } from '../exports/download';
import { tableCsv, tableJson } from '../exports/table_file';
import { session } from '../state/store';
import type { Column } from './data_table';

interface Props {
  /** Between the model's name and the ending. */
  what: string;
  csv: () => string;
  json: () => string;
  svg: () => string;
  disabled?: boolean;
}

/** The model's name without its ending, for names of files and titles of pictures. */
export function modelStem(): string {
  return (session.value?.fileName ?? 'model').replace(/\.onnx$/i, '');
}

export function Exports({ what, disabled, ...make }: Props): VNode {
  const kinds = [
    ['CSV', 'csv', 'text/csv'],
    ['JSON', 'json', 'application/json'],
    ['SVG', 'svg', 'image/svg+xml'],
  ] as const;
  return (
    <fieldset class="exports" disabled={disabled}>
      <legend>Save as</legend>
      {kinds.map(([label, kind, type]) => (
        <button
          key={kind}
          type="button"
          onClick={() => download(`${modelStem()}.${what}.${kind}`, make[kind](), type)}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}

export function TableExports<Row>(props: {
  what: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  svg: () => string;
}): VNode {
  const { columns, rows } = props;
  return (
    <Exports
      what={props.what}
      csv={() => tableCsv(columns, rows)}
      json={() => tableJson(columns, rows)}
      svg={props.svg}
    />
  );
}
