// A table as files: the numbers as they are, not as they are shown.
import { csvFile, jsonFile } from '../package';
import type { Column } from '../views/data_table';

type Valued<Row> = Column<Row> & Required<Pick<Column<Row>, 'value'>>;

function valued<Row>(columns: readonly Column<Row>[]): Valued<Row>[] {
  return columns.filter((column): column is Valued<Row> => column.value !== undefined);
}

export function tableCsv<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const all = valued(columns);
  return csvFile(
    all.map(({ key }) => key),
    rows.map((row) => all.map(({ value }) => value(row))),
  );
}

export function tableJson<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const all = valued(columns);
  return jsonFile(rows.map((row) => Object.fromEntries(all.map(({ key, value }) => [key, value(row)]))));
}
