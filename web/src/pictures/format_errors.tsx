// What a format does to values: the values in units of their scale over the levels there are, and the errors it leaves.
import type { VNode } from 'preact';
import type { FormatFigures } from '../package';
import { count, significant } from '../text/format';
import { kPagePalette, type Palette } from './palette';
import { linear } from './scale';

export const kPanel = { width: 340, height: 190 };
const kLeft = 12;
const kTop = 22;
const kBase = 142;

interface Panel {
  title: string;
  low: number;
  high: number;
  counts: readonly number[];
  levels: readonly number[];
  levelCounts: readonly number[];
  below: string;
}

function Bars({ panel, palette }: { panel: Panel; palette: Palette }): VNode {
  const { low, high, counts, levels, levelCounts } = panel;
  const x = linear([low, high], [kLeft, kPanel.width - kLeft]);
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  const step = (high - low) / Math.max(1, counts.length);
  const width = (kPanel.width - 2 * kLeft) / Math.max(1, counts.length);
  return (
    <g font-size="11" fill={palette.quiet}>
      <text x={kLeft} y={12}>
        {panel.title}
      </text>
      {levels.map((level, at) => (
        <path key={level} d={`M${x(level)} ${kTop}V${kBase + 8}`} stroke={palette.accent} stroke-width="0.7">
          <title>{`level ${significant(level)}: ${count(levelCounts[at] ?? 0)}`}</title>
        </path>
      ))}
      {counts.map((value, at) => {
        const height = (kBase - kTop) * Math.sqrt(value / most);
        return (
          value > 0 && (
            <rect
              key={at}
              x={x(low + at * step)}
              y={kBase - height}
              width={Math.max(0.5, width - 0.4)}
              height={height}
              fill={palette.ink}
            >
              <title>{`from ${significant(low + at * step)}: ${count(value)}`}</title>
            </rect>
          )
        );
      })}
      <path d={`M${kLeft} ${kBase}H${kPanel.width - kLeft}`} stroke={palette.ink} />
      {x.ticks(5).map((tick) => (
        <text key={tick} x={x(tick)} y={kBase + 21} text-anchor="middle">
          {significant(tick, 3)}
        </text>
      ))}
      <text x={kLeft} y={kBase + 40}>
        {panel.below}
      </text>
    </g>
  );
}

export function panelsOf({ errors, values, levels, levelCounts }: FormatFigures): Panel[] {
  const outside = values.below + values.above;
  const beyond = outside === 0 ? '' : `outside: ${count(outside)}; `;
  return [
    {
      title: 'Values in units of their scale, and the levels',
      ...{ ...values, levels, levelCounts },
      below: `${beyond}${levels.length > 0 ? `${levels.length} levels` : 'more than 256 levels, not drawn'}`,
    },
    {
      title: 'Errors: decoded less original',
      ...{ low: -errors.limit, high: errors.limit, counts: errors.counts, levels: [], levelCounts: [] },
      below: errors.limit === 0 ? 'nothing was lost' : 'heights are square roots of counts',
    },
  ];
}

export function FormatPanel({ panel, palette = kPagePalette }: { panel: Panel; palette?: Palette }): VNode {
  return <Bars {...{ panel, palette }} />;
}

/** Both beside each other, for a file. */
export function FormatErrors({ row, palette }: { row: FormatFigures; palette: Palette }): VNode {
  return (
    <>
      {panelsOf(row).map((panel, at) => (
        <g key={panel.title} transform={`translate(${at * kPanel.width} 0)`}>
          <Bars {...{ panel, palette }} />
        </g>
      ))}
    </>
  );
}
