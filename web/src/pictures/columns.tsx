// Values in the order of the graph: a column from low to high for each tensor or channel, or a point where both are one.
// Solid columns are weights, dotted ones activations.
import type { VNode } from 'preact';
import { significant } from '../text/format';
import type { ColumnsLayout, Item } from './columns_layout';
import { kPagePalette, type Palette } from './palette';

interface Props {
  items: readonly Item[];
  layout: ColumnsLayout;
  from: number;
  to: number;
  chosen: string | null;
  /** Points that follow each other are joined. */
  joined: boolean;
  palette?: Palette;
}

const kPoint = 2.6;

function Column({
  item,
  x,
  layout,
  palette,
}: {
  item: Item;
  x: number;
  layout: ColumnsLayout;
  palette: Palette;
}) {
  if (item.low === null || item.high === null) return null;
  const [low, high] = [layout.y(item.low), layout.y(item.high)];
  if (Math.abs(low - high) < 0.5) return <circle cx={x} cy={low} r={kPoint} fill={palette.ink} />;
  const width = Math.max(1.5, Math.min(9, layout.pitch * 0.6));
  if (item.solid)
    return <rect x={x - width / 2} y={high} width={width} height={low - high} fill={palette.ink} />;
  return (
    <line
      x1={x}
      x2={x}
      y1={high + width / 2}
      y2={low - width / 2}
      stroke={palette.ink}
      stroke-width={width * 0.8}
      stroke-dasharray={`0 ${width * 1.15}`}
      stroke-linecap="round"
    />
  );
}

function joints({ items, layout, from, to }: Props): string {
  let path = '';
  for (let index = from; index < to; ++index) {
    const value = items[index]?.low ?? null;
    const before = items[index - 1]?.low ?? null;
    if (value === null) continue;
    const start = path === '' || before === null;
    path += `${start ? 'M' : 'L'}${layout.x(index).toFixed(1)} ${layout.y(value).toFixed(1)}`;
  }
  return path;
}

export function ColumnTicks({
  layout,
  palette = kPagePalette,
}: {
  layout: ColumnsLayout;
  palette?: Palette;
}): VNode {
  return (
    <g>
      {layout.ticks.map(({ value, y }) => (
        <text
          key={value}
          x={layout.left - 8}
          y={y}
          text-anchor="end"
          dominant-baseline="central"
          font-size="11"
          fill={palette.quiet}
        >
          {significant(value, 3)}
        </text>
      ))}
    </g>
  );
}

export function Columns(props: Props): VNode {
  const { items, layout, from, to, chosen, joined, palette = kPagePalette } = props;
  return (
    <g>
      {layout.ticks.map(({ value, y }) => (
        <line
          key={value}
          x1={layout.left}
          x2={layout.width}
          y1={y}
          y2={y}
          stroke={palette.line}
          stroke-dasharray={value === 0 ? undefined : '1 3'}
        />
      ))}
      {joined && <path d={joints(props)} fill="none" stroke={palette.faint} />}
      {items.slice(from, to).map((item, offset) => {
        const x = layout.x(from + offset);
        return (
          <g key={item.key} data-name={item.key}>
            <title>{item.title}</title>
            <rect
              x={x - layout.pitch / 2}
              y={0}
              width={layout.pitch}
              height={layout.height}
              fill={item.key === chosen ? palette.chosen : palette.clear}
            />
            {item.key === chosen && (
              <rect
                x={x - layout.pitch / 2}
                y={layout.height - 3}
                width={layout.pitch}
                height={3}
                fill={palette.accent}
              />
            )}
            <Column {...{ item, x, layout, palette }} />
          </g>
        );
      })}
    </g>
  );
}
