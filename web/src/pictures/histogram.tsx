// The values of one tensor, the range that was chosen, the grid of codes as ticks, what is clipped hatched.
import type { VNode } from 'preact';
import type { Encoding, TensorStatistics } from '../package';
import { count, percent, significant } from '../text/format';
import { layoutHistogram } from './histogram_layout';

const kWidth = 304;
const kHeight = 116;
const kTop = 14;
const kBelow = 36;

interface Props {
  tensor: string;
  statistics: TensorStatistics;
  encoding: Encoding | null;
  logarithmic: boolean;
}

function describe({ statistics, encoding }: Props): string {
  const range = `${count(statistics.count)} values from ${significant(statistics.min)} to ${significant(statistics.max)}.`;
  if (encoding === null) return `${range} No range is chosen yet.`;
  const clipped =
    statistics.clipped === null
      ? ''
      : ` ${percent(statistics.clipped)} of them lie outside the chosen range.`;
  return range + clipped;
}

export function Histogram(props: Props): VNode {
  const { statistics, encoding, logarithmic, tensor } = props;
  const layout = layoutHistogram({ statistics, encoding, width: kWidth, height: kHeight, logarithmic });
  const base = kTop + kHeight;
  return (
    <svg
      class="histogram"
      viewBox={`-8 0 ${kWidth + 16} ${base + kBelow}`}
      role="img"
      aria-labelledby="histogram-title histogram-desc"
    >
      <title id="histogram-title">{`Values of ${tensor}`}</title>
      <desc id="histogram-desc">{describe(props)}</desc>
      <defs>
        <pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="1.6" height="4" fill="var(--accent)" />
        </pattern>
      </defs>
      {layout.range !== null && <Chosen from={layout.range.from} to={layout.range.to} base={base} />}
      {layout.bars.map((bar) => (
        <rect
          key={bar.x}
          x={bar.x}
          y={base - bar.height}
          width={Math.max(0.6, bar.width - 0.5)}
          height={bar.height}
          fill={bar.clipped ? 'url(#hatch)' : 'var(--ink)'}
        >
          <title>{`${significant(bar.from)} to ${significant(bar.to)}: ${count(bar.count)}`}</title>
        </rect>
      ))}
      <line x1={0} x2={kWidth} y1={base + 0.5} y2={base + 0.5} stroke="var(--ink)" />
      {layout.codes.map((x) => (
        <line key={x} x1={x} x2={x} y1={base + 2} y2={base + 7} stroke="var(--accent)" />
      ))}
      {layout.ticks.map(({ x, value }) => (
        <text key={value} x={x} y={base + 22} text-anchor="middle" font-size="10.5" fill="var(--quiet)">
          {significant(value, 3)}
        </text>
      ))}
      <text x={0} y={base + 34} font-size="10.5" fill="var(--quiet)">
        {layout.codes.length > 0
          ? `ticks: ${layout.everyCode === 1 ? 'every code' : `every ${layout.everyCode}th code`}`
          : ''}
      </text>
      <text x={kWidth} y={base + 34} text-anchor="end" font-size="10.5" fill="var(--quiet)">
        {logarithmic ? 'log count' : 'count'}
      </text>
    </svg>
  );
}

/** A bracket over the range that the codes cover. */
function Chosen({ from, to, base }: { from: number; to: number; base: number }): VNode {
  return (
    <>
      <rect x={from} y={kTop} width={Math.max(1, to - from)} height={base - kTop} fill="var(--chosen)" />
      <path
        d={`M${from} ${kTop + 6}V${kTop - 4}H${to}V${kTop + 6}`}
        fill="none"
        stroke="var(--accent)"
        stroke-width="1.5"
      />
    </>
  );
}
