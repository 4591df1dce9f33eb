// The ranking as bars: one for each quantizer, length is what the outputs lose. Weights are solid with a square end,
// activations are a row of dots with a round end, so that they differ without colour.
import type { VNode } from 'preact';
import { decibelFigure, printable } from '../text/format';
import { kPagePalette, type Palette } from './palette';
import { type Entry, kLossless, type RankingLayout } from './ranking_layout';

export const kAxisHeight = 40;
const kBar = 9;

interface BarProps {
  entry: Entry;
  y: number;
  layout: RankingLayout;
  chosen: boolean;
  palette: Palette;
}

function Shape({ entry, layout, palette, middle }: BarProps & { middle: number }): VNode | null {
  if (entry.score === null) return <circle cx={layout.zero} cy={middle} r={1} fill={palette.faint} />;
  const length = layout.length(entry.score);
  if (length < 0.75) return <circle cx={layout.zero} cy={middle} r={1.5} fill={palette.ink} />;
  if (entry.role === 'weight') {
    return <rect x={layout.zero} y={middle - kBar / 2} width={length} height={kBar} fill={palette.ink} />;
  }
  return (
    <>
      <line
        x1={layout.zero}
        x2={layout.zero + length}
        y1={middle}
        y2={middle}
        stroke={palette.ink}
        stroke-width={kBar - 4}
        stroke-dasharray="0 6"
        stroke-linecap="round"
      />
      <circle cx={layout.zero + length} cy={middle} r={kBar / 2} fill={palette.ink} />
    </>
  );
}

function Bar(props: BarProps): VNode {
  const { entry, y, layout, chosen, palette } = props;
  const middle = layout.stacked ? y + 27 : y + layout.rowHeight / 2;
  const limit = layout.stacked
    ? Math.floor(layout.width / 7.4)
    : Math.max(8, Math.floor(layout.labelWidth / 7));
  const known = entry.score === null ? 'not known yet' : `${entry.score} dB`;
  return (
    <g data-name={entry.name} data-score={entry.score ?? undefined}>
      <title>{`${printable(entry.name, 400)}: ${known}, ${entry.role}`}</title>
      <rect
        x={0}
        y={y}
        width={layout.width}
        height={layout.rowHeight}
        fill={chosen ? palette.chosen : palette.clear}
      />
      {chosen && <rect x={0} y={y + 2} width={3} height={layout.rowHeight - 4} fill={palette.accent} />}
      <text
        x={layout.stacked ? 10 : layout.labelWidth}
        y={layout.stacked ? y + 14 : middle}
        text-anchor={layout.stacked ? 'start' : 'end'}
        dominant-baseline={layout.stacked ? undefined : 'central'}
        fill={chosen ? palette.accent : palette.ink}
        font-size="12"
      >
        {printable(entry.name, limit)}
      </text>
      <Shape {...props} middle={middle} />
      <text
        x={layout.zero + (entry.score === null ? 0 : layout.length(entry.score)) + 9}
        y={middle}
        dominant-baseline="central"
        fill={entry.score === null ? palette.faint : palette.quiet}
        font-size="11.5"
      >
        {entry.score === null ? '\u2026' : decibelFigure(entry.score)}
      </text>
    </g>
  );
}

export function RankingAxis({
  layout,
  palette = kPagePalette,
}: {
  layout: RankingLayout;
  palette?: Palette;
}): VNode {
  return (
    <g>
      <text x={layout.zero} y={13} fill={palette.quiet} font-size="11.5">
        PSNR of the scored outputs, dB
      </text>
      <text x={layout.right} y={13} text-anchor="end" fill={palette.quiet} font-size="11.5">
        {layout.stacked ? 'more loss \u2192' : 'longer bar: more loss \u2192'}
      </text>
      {layout.ticks.map(({ value, x }) => (
        <g key={value}>
          <line x1={x} x2={x} y1={kAxisHeight - 5} y2={kAxisHeight} stroke={palette.line} />
          <text x={x} y={kAxisHeight - 9} text-anchor="middle" fill={palette.quiet} font-size="11">
            {String(value).replace('-', '\u2212')}
          </text>
        </g>
      ))}
    </g>
  );
}

interface BarsProps {
  entries: readonly Entry[];
  layout: RankingLayout;
  from: number;
  to: number;
  chosen: string | null;
  palette?: Palette;
}

export function RankingBars({ entries, layout, from, to, chosen, palette = kPagePalette }: BarsProps): VNode {
  return (
    <g>
      {layout.ticks.map(({ value, x }) => (
        <line
          key={value}
          x1={x}
          x2={x}
          y1={0}
          y2={layout.height}
          stroke={palette.line}
          stroke-dasharray={value === kLossless ? undefined : '1 3'}
        />
      ))}
      {entries.slice(from, to).map((entry, index) => (
        <Bar
          key={entry.name}
          entry={entry}
          y={(from + index) * layout.rowHeight}
          layout={layout}
          chosen={entry.name === chosen}
          palette={palette}
        />
      ))}
    </g>
  );
}

/** The sentence that a screen reader gets for the picture. */
export function describeRanking(entries: readonly Entry[]): string {
  const known = entries.filter((entry) => entry.score !== null);
  const worst = known.reduce<Entry | null>(
    (a, b) => (a === null || (b.score ?? 0) < (a.score ?? 0) ? b : a),
    null,
  );
  const weights = known.filter((entry) => entry.role === 'weight').length;
  if (worst === null) return 'No scores yet.';
  return `${known.length} quantizers, ${weights} of weights and ${known.length - weights} of activations. The lowest PSNR is ${worst.score} dB, of ${printable(worst.name)}. The same numbers are in the table.`;
}
