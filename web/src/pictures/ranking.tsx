// The ranking as bars: one for each quantizer, length is what the outputs lose. Weights are solid with a square end,
// activations are a row of dots with a round end, groups are hollow, so that they differ without colour.
import type { VNode } from 'preact';
import { printable } from '../text/format';
import { kLossless, type LossAxis } from './loss_axis';
import { kPagePalette, type Palette } from './palette';
import { badness, type Entry, type RankingLayout } from './ranking_layout';

export const kAxisHeight = 40;
const kBar = 9;
const kWhisker = 5;

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
  if (entry.role !== 'activation') {
    const hollow = entry.role === 'group';
    return (
      <rect
        x={layout.zero}
        y={middle - kBar / 2}
        width={length}
        height={kBar}
        fill={hollow ? palette.chosen : palette.ink}
        stroke={hollow ? palette.ink : undefined}
      />
    );
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

/** From the lower to the upper end of the 95 % interval, below the bar, so that neither hides the other. */
function Whisker({ entry, layout, palette, middle }: BarProps & { middle: number }): VNode | null {
  if (entry.interval === null) return null;
  const [a, b] = entry.interval.map((end) => layout.zero + layout.length(end)) as [number, number];
  if (Math.abs(a - b) < 1.5) return null;
  const y = middle + kWhisker + 2.5;
  return (
    <path
      class="whisker"
      d={`M${a.toFixed(1)} ${y - 2.5}v5M${b.toFixed(1)} ${y - 2.5}v5M${a.toFixed(1)} ${y}H${b.toFixed(1)}`}
      fill="none"
      stroke={palette.accent}
      stroke-width="1.4"
    />
  );
}

function spoken({ score, interval, role, sites }: Entry, axis: LossAxis): string {
  const what = role === 'group' ? `${sites.length} quantizers` : role;
  if (score === null) return `not known yet, ${what}`;
  const unit = axis.unit === '' ? '' : ` ${axis.unit}`;
  const range = interval === null ? '' : `, 95 % from ${interval[0]} to ${interval[1]}`;
  return `${score}${unit}${range}, ${what}`;
}

function Bar(props: BarProps): VNode {
  const { entry, y, layout, chosen, palette } = props;
  const middle = layout.stacked ? y + 26 : y + layout.rowHeight / 2 - 1;
  const limit = layout.stacked
    ? Math.floor(layout.width / 7.4)
    : Math.max(8, Math.floor(layout.labelWidth / 7));
  const ends = [entry.score ?? undefined, ...(entry.interval ?? [])].map((score) =>
    score === undefined ? 0 : layout.length(score),
  );
  return (
    <g data-name={entry.name} data-score={entry.score ?? undefined}>
      <title>{`${printable(entry.name, 400)}: ${spoken(entry, layout.axis)}`}</title>
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
      <Whisker {...props} middle={middle} />
      <text
        x={layout.zero + Math.max(...ends) + 9}
        y={middle}
        dominant-baseline="central"
        fill={entry.score === null ? palette.faint : palette.quiet}
        font-size="11.5"
      >
        {entry.score === null ? '\u2026' : layout.axis.figure(entry.score)}
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
  const { title, unit, figure } = layout.axis;
  return (
    <g>
      <text x={layout.zero} y={13} fill={palette.quiet} font-size="11.5">
        {`${title} of the scored outputs${unit === '' ? '' : `, ${unit}`}`}
      </text>
      <text x={layout.right} y={13} text-anchor="end" fill={palette.quiet} font-size="11.5">
        {layout.stacked ? 'more loss \u2192' : 'longer bar: more loss \u2192'}
      </text>
      {layout.ticks.map(({ value, x }) => (
        <g key={value}>
          <line x1={x} x2={x} y1={kAxisHeight - 5} y2={kAxisHeight} stroke={palette.line} />
          <text x={x} y={kAxisHeight - 9} text-anchor="middle" fill={palette.quiet} font-size="11">
            {unit === '' ? figure(value) : String(value).replace('-', '\u2212')}
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
  /** A score; null for no line. */
  threshold: number | null;
  palette?: Palette;
}

export function RankingBars(props: BarsProps): VNode {
  const { entries, layout, from, to, chosen, threshold, palette = kPagePalette } = props;
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
      {threshold !== null && (
        <ThresholdLine x={layout.zero + layout.length(threshold)} {...{ layout, palette }} />
      )}
    </g>
  );
}

/** Thin to look at, wide to take hold of. */
function ThresholdLine(props: { x: number; layout: RankingLayout; palette: Palette }): VNode {
  const { x, layout, palette } = props;
  const ends = { x1: x, x2: x, y1: 0, y2: layout.height };
  return (
    <g class="threshold-line">
      <line {...ends} stroke={palette.accent} stroke-width="1.5" stroke-dasharray="6 3" />
      <line {...ends} stroke="transparent" stroke-width="13" />
    </g>
  );
}

/** The sentence that a screen reader gets for the picture. */
export function describeRanking(entries: readonly Entry[], { title, unit, higherIsWorse }: LossAxis): string {
  const known = entries.filter((entry) => entry.score !== null);
  const worst = known.reduce<Entry | null>(
    (a, b) => (a === null || badness(b, higherIsWorse) > badness(a, higherIsWorse) ? b : a),
    null,
  );
  if (worst === null) return 'No scores yet.';
  const of = (role: Entry['role']): number => known.filter((entry) => entry.role === role).length;
  const what =
    of('group') > 0
      ? `${known.length} groups.`
      : `${known.length} quantizers, ${of('weight')} of weights and ${of('activation')} of activations.`;
  const end = higherIsWorse ? 'highest' : 'lowest';
  const score = `${worst.score}${unit === '' ? '' : ` ${unit}`}`;
  return `${what} The ${end} ${title} is ${score}, of ${printable(worst.name)}. The same numbers are in the table.`;
}
