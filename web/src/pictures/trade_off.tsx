// Score against size: a point for each model that was measured, those that nothing beats joined and filled.
import type { VNode } from 'preact';
import { bytes, decibel, significant } from '../text/format';
import { kPagePalette, type Palette } from './palette';
import { linear, type Scale } from './scale';

export interface Point {
  size: number;
  score: number;
  front: boolean;
  title: string;
}

export interface TradeOffLayout {
  width: number;
  height: number;
  x: Scale;
  y: Scale;
}

const kLeft = 58;
const kRight = 24;
const kTop = 30;
const kBottom = 42;

function ends(values: readonly number[]): [number, number] {
  const low = values.reduce((a, b) => Math.min(a, b), values[0] ?? 0);
  const high = values.reduce((a, b) => Math.max(a, b), values[0] ?? 1);
  const room = (high - low || Math.abs(high) || 1) * 0.06;
  return [low - room, high + room];
}

export function layoutTradeOff(
  points: readonly Point[],
  { width, height }: { width: number; height: number },
): TradeOffLayout {
  const known = points.filter(({ score }) => Number.isFinite(score));
  return {
    width,
    height,
    x: linear(ends(known.map(({ size }) => size)), [kLeft, Math.max(kLeft + 60, width - kRight)]),
    y: linear(ends(known.map(({ score }) => score)), [Math.max(kTop + 60, height - kBottom), kTop]),
  };
}

interface Props {
  points: readonly Point[];
  layout: TradeOffLayout;
  unit: 'bytes' | 'operations';
  chosen: number | null;
  palette?: Palette;
}

function Axes({
  layout,
  unit,
  palette,
}: {
  layout: TradeOffLayout;
  unit: Props['unit'];
  palette: Palette;
}): VNode {
  const base = layout.height - kBottom + 8;
  const size = (value: number): string =>
    unit === 'bytes' ? bytes(value) : `${significant(value / 1e9, 3)}`;
  return (
    <g font-size="11" fill={palette.quiet}>
      {layout.y.ticks(6).map((value) => (
        <g key={`y ${value}`}>
          <line
            x1={kLeft}
            x2={layout.width - kRight}
            y1={layout.y(value)}
            y2={layout.y(value)}
            stroke={palette.line}
            stroke-dasharray="1 3"
          />
          <text x={kLeft - 8} y={layout.y(value)} text-anchor="end" dominant-baseline="central">
            {significant(value, 4)}
          </text>
        </g>
      ))}
      {layout.x.ticks(Math.max(2, Math.floor(layout.width / 130))).map((value) => (
        <g key={`x ${value}`}>
          <line x1={layout.x(value)} x2={layout.x(value)} y1={base - 6} y2={base} stroke={palette.ink} />
          <text x={layout.x(value)} y={base + 13} text-anchor="middle">
            {size(value)}
          </text>
        </g>
      ))}
      <line x1={kLeft} x2={layout.width - kRight} y1={base - 6} y2={base - 6} stroke={palette.ink} />
      <text x={kLeft} y={14}>
        PSNR, dB: up is less loss
      </text>
      <text x={layout.width - kRight} y={base + 29} text-anchor="end">
        {unit === 'bytes' ? 'bytes of weights' : 'bit operations, 10\u2079'}
      </text>
    </g>
  );
}

export function TradeOff({ points, layout, unit, chosen, palette = kPagePalette }: Props): VNode {
  const known = points.flatMap((point, at) => (Number.isFinite(point.score) ? [{ ...point, at }] : []));
  // What is unbeaten in one size only need not be so in the other; the steps are of the one that is shown.
  let best = Number.NEGATIVE_INFINITY;
  let steps = '';
  for (const { size, score } of known.slice().sort((a, b) => a.size - b.size || b.score - a.score)) {
    if (score <= best) continue;
    const [x, y] = [layout.x(size), layout.y(score)];
    steps += steps === '' ? `M${x} ${y}` : `H${x}V${y}`;
    best = score;
  }
  return (
    <g>
      <Axes {...{ layout, unit, palette }} />
      <path d={steps} fill="none" stroke={palette.faint} />
      {known.map(({ size, score, front: best, title, at }) => (
        <g key={at} data-point={at}>
          <title>{`${title}, ${decibel(score)}`}</title>
          <circle cx={layout.x(size)} cy={layout.y(score)} r={11} fill={palette.clear} />
          <circle
            cx={layout.x(size)}
            cy={layout.y(score)}
            r={best ? 5 : 3.5}
            fill={best ? palette.ink : palette.chosen}
            stroke={palette.ink}
          />
          {at === chosen && (
            <circle
              cx={layout.x(size)}
              cy={layout.y(score)}
              r={9}
              fill="none"
              stroke={palette.accent}
              stroke-width="2"
            />
          )}
        </g>
      ))}
    </g>
  );
}
