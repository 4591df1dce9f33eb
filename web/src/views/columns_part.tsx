// Columns in the order of the graph with what belongs to them: choices, files, the picture or its table.
import type { ComponentChildren, VNode } from 'preact';
import { columnsSvg } from '../exports/columns_file';
import type { Item, Spread } from '../pictures/columns_layout';
import { presentation } from '../state/store';
import { printable } from '../text/format';
import { ColumnsBox } from './columns_box';
import { type Column, DataTable } from './data_table';
import { modelStem, TableExports } from './exports';
import { PictureOrTable } from './picture_or_table';

interface Props<Row extends { key: string }> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  itemOf: (row: Row) => Item;
  spread: Spread;
  joined: boolean;
  title: string;
  /** Behind the title, for the picture. */
  note: string;
  /** In the names of files. */
  what: string;
  chosen: string | null;
  onChoose: (key: string) => void;
  children: ComponentChildren;
}

export function ColumnsPart<Row extends { key: string }>(props: Props<Row>): VNode {
  const { rows, columns, spread, joined, title, note, chosen, onChoose } = props;
  const items = rows.map(props.itemOf);
  const words = { title: `${title}: ${printable(modelStem())}`, description: `${title}; ${note}.` };
  return (
    <>
      <div class="filters">
        <PictureOrTable />
        {props.children}
        <TableExports
          {...{ columns, rows }}
          what={props.what}
          svg={() => columnsSvg(items, spread, joined, words)}
        />
      </div>
      {presentation.value === 'bars' ? (
        <>
          <p class="caption">{words.description}</p>
          <ColumnsBox label={title} description={note} {...{ items, spread, joined, chosen, onChoose }} />
        </>
      ) : (
        <DataTable
          label={`${title}, as a table`}
          caption={title}
          columns={columns}
          items={rows}
          minWidth="58rem"
          keyOf={(row) => row.key}
          selectedKey={chosen}
          onSelect={onChoose}
        />
      )}
    </>
  );
}
