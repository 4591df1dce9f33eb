// A real table, also for thousands of rows: long ones draw only the rows in sight, at a fixed height.
import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface Column<Row> {
  key: string;
  label: string;
  /** Shown in the header beside the label. */
  unit?: string;
  numeric?: boolean;
  /** The column that names the row. */
  names?: boolean;
  sortable?: boolean;
  width?: string;
  cell: (row: Row) => ComponentChildren;
  title?: (row: Row) => string;
  /** As files have it. A column without is left out of them. */
  value?: (row: Row) => string | number | null;
}

export interface Sort {
  key: string;
  descending: boolean;
}

export interface Group {
  readonly group: string;
  readonly note: string;
}

export type Item<Row> = Row | Group;

interface Props<Row> {
  caption: ComponentChildren;
  columns: readonly Column<Row>[];
  items: readonly Item<Row>[];
  keyOf: (row: Row) => string;
  sort?: Sort;
  onSort?: (key: string) => void;
  selectedKey?: string | null;
  onSelect?: (key: string) => void;
  /** Said instead of rows when there are none. */
  empty?: string;
  /** More columns than fit: the box scrolls sideways, and the names stay in sight. */
  minWidth?: string;
  /** The rows are still those from before a change. */
  busy?: boolean;
  label: string;
}

/** A box that scrolls has to be reachable by keyboard. */
const kReachable = { tabIndex: 0 };

const kRowHeight = 30;
/** Tables up to this many rows are drawn whole. */
const kWhole = 250;
const kBeyond = 12;

interface Range {
  from: number;
  to: number;
}

function isGroup<Row>(item: Item<Row>): item is Group {
  return typeof item === 'object' && item !== null && 'group' in item && 'note' in item;
}

/** Which rows are in sight of the box that scrolls. */
function useWindow(count: number): {
  box: { current: HTMLElement | null };
  range: Range;
  onScroll: () => void;
} {
  const box = useRef<HTMLElement>(null);
  const [range, setRange] = useState<Range>({ from: 0, to: 60 });
  const measure = (): void => {
    const element = box.current;
    if (element === null || count <= kWhole) return;
    const from = Math.max(0, Math.floor(element.scrollTop / kRowHeight) - kBeyond);
    const to = Math.min(count, Math.ceil((element.scrollTop + element.clientHeight) / kRowHeight) + kBeyond);
    setRange((old) => (old.from === from && old.to === to ? old : { from, to }));
  };
  useLayoutEffect(measure, [count]);
  return { box, range: count <= kWhole ? { from: 0, to: count } : range, onScroll: measure };
}

function HeaderCell<Row>({
  column,
  sort,
  onSort,
}: {
  column: Column<Row>;
  sort?: Sort;
  onSort?: (key: string) => void;
}): VNode {
  const active = sort?.key === column.key;
  const text = (
    <>
      {column.label}
      {column.unit !== undefined && <span class="unit"> ({column.unit})</span>}
    </>
  );
  const direction = !active ? 'none' : sort.descending ? 'descending' : 'ascending';
  return (
    <th
      scope="col"
      class={column.numeric ? 'number' : undefined}
      aria-sort={column.sortable ? direction : undefined}
      style={column.width === undefined ? undefined : { width: column.width }}
    >
      {column.sortable ? (
        <button type="button" class="sort" onClick={() => onSort?.(column.key)}>
          {text}
          <span class="sort-mark" aria-hidden="true">
            {!active ? '' : sort.descending ? '\u2193' : '\u2191'}
          </span>
        </button>
      ) : (
        text
      )}
    </th>
  );
}

function Spacer({ rows, columns }: { rows: number; columns: number }): VNode | null {
  if (rows <= 0) return null;
  return (
    <tr class="spacer">
      <td colSpan={columns} style={{ height: `${rows * kRowHeight}px` }} />
    </tr>
  );
}

export function DataTable<Row>(props: Props<Row>): VNode {
  const { items, columns } = props;
  const { box, range, onScroll } = useWindow(items.length);
  const shown = items.slice(range.from, range.to);
  return (
    <section
      class={props.minWidth === undefined ? 'table-box' : 'table-box wide'}
      ref={box}
      onScroll={onScroll}
      {...kReachable}
      aria-label={props.label}
      aria-busy={props.busy}
    >
      <table aria-rowcount={items.length + 1} style={{ minWidth: props.minWidth }}>
        <caption>
          <span>{props.caption}</span>
        </caption>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <HeaderCell key={column.key} column={column} {...pick(props)} />
            ))}
          </tr>
        </thead>
        <tbody>
          <Spacer rows={range.from} columns={columns.length} />
          {shown.map((item, index) =>
            isGroup(item) ? (
              <GroupRow key={`group ${item.group}`} item={item} columns={columns.length} />
            ) : (
              <BodyRow key={props.keyOf(item)} row={item} index={range.from + index + 2} table={props} />
            ),
          )}
          <Spacer rows={items.length - range.to} columns={columns.length} />
          {items.length === 0 && (
            <tr>
              <td colSpan={columns.length} class="empty">
                {props.empty ?? 'Nothing here yet.'}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </section>
  );
}

function pick<Row>(props: Props<Row>): { sort?: Sort; onSort?: (key: string) => void } {
  return { ...(props.sort && { sort: props.sort }), ...(props.onSort && { onSort: props.onSort }) };
}

function GroupRow({ item, columns }: { item: Group; columns: number }): VNode {
  return (
    <tr class="group">
      <th scope="colgroup" colSpan={columns}>
        {item.group} <span class="unit">{item.note}</span>
      </th>
    </tr>
  );
}

function BodyRow<Row>({ row, index, table }: { row: Row; index: number; table: Props<Row> }): VNode {
  const key = table.keyOf(row);
  const chosen = table.selectedKey === key;
  const select = table.onSelect;
  return (
    <tr aria-rowindex={index} class={chosen ? 'chosen' : undefined} onClick={select && (() => select(key))}>
      {table.columns.map((column) => {
        const content = column.cell(row);
        const title = column.title?.(row);
        if (!column.names) {
          return (
            <td key={column.key} class={column.numeric ? 'number' : undefined} title={title}>
              {content}
            </td>
          );
        }
        return (
          <th key={column.key} scope="row" title={title}>
            {select === undefined ? (
              content
            ) : (
              <button type="button" class="row-name" aria-pressed={chosen} onClick={() => select(key)}>
                {content}
              </button>
            )}
          </th>
        );
      })}
    </tr>
  );
}
