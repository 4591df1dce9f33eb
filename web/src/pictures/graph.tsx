// The graph: boxes with a square for what their weights cost and a disc for what they make, both as large as the loss, so
// that it reads without colour. Rails are Q/DQ pairs, dashes what stays in float.
import type { VNode } from 'preact';
import type { Box, BoxLink, Folded } from '../graph/fold';
import type { GraphLayout } from '../graph/layout';
import type { Flow } from '../graph/net';
import { printable } from '../text/format';
import type { Palette } from './palette';

export interface BoxLoss {
  /** From 0 to 1; null where nothing is known. */
  weight: number | null;
  activation: number | null;
  /** On the bad side of the threshold. */
  beyond: boolean;
  title: string;
}

const kLetter = 6.9;
const kMarks = 46;
const kMark = 25;
const kLeastWidth = 92;
const kMostWidth = 210;
const kMostMark = 8;
const kMostDot = 13;
const kLeastShare = 0.02;

export function boxSize({ title, note }: Pick<Box, 'title' | 'note'>): [number, number] {
  const letters = Math.max(title.length, note.length);
  const width = Math.min(kMostWidth, Math.max(kLeastWidth, kMarks + letters * kLetter + 10));
  return [Math.round(width), note === '' ? 28 : 42];
}

export interface Sight {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Props {
  folded: Folded;
  layout: GraphLayout;
  lossOf: (box: Box) => BoxLoss;
  sight: Sight | null;
  /** Dots in the place of boxes, where letters would be too small to read. */
  far: boolean;
  chosen: string | null;
  palette: Palette;
}

/** Corners are cut off by half of the shorter side at most. */
export function linePath(corners: readonly number[]): string {
  const at = (index: number): [number, number] => [corners[2 * index] ?? 0, corners[2 * index + 1] ?? 0];
  const count = corners.length / 2;
  if (count < 2) return '';
  let path = `M${at(0).map(Math.round).join(' ')}`;
  for (let index = 1; index + 1 < count; ++index) {
    const [x, y] = at(index);
    const [a, b] = [toward([x, y], at(index - 1)), toward([x, y], at(index + 1))];
    path += `L${a}Q${Math.round(x)} ${Math.round(y)} ${b}`;
  }
  return `${path}L${at(count - 1)
    .map(Math.round)
    .join(' ')}`;
}

const kCorner = 9;

function toward([x, y]: [number, number], [toX, toY]: [number, number]): string {
  const length = Math.hypot(toX - x, toY - y);
  const part = length === 0 ? 0 : Math.min(kCorner, length / 2) / length;
  return `${Math.round(x + (toX - x) * part)} ${Math.round(y + (toY - y) * part)}`;
}

function lineInSight(corners: readonly number[], sight: Sight): boolean {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let at = 0; at + 1 < corners.length; at += 2) {
    const [x, y] = [corners[at] ?? 0, corners[at + 1] ?? 0];
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return left <= sight.right && right >= sight.left && top <= sight.bottom && bottom >= sight.top;
}

function Lines({ folded, layout, sight, far, palette, chosen }: Props): VNode {
  const parts: Record<Flow, string> = { quantized: '', exempt: '', plain: '' };
  let marked = '';
  const shown: { link: BoxLink; path: string; at: number }[] = [];
  for (const [at, link] of folded.links.entries()) {
    const corners = layout.lines[at] ?? [];
    if (sight !== null && !lineInSight(corners, sight)) continue;
    const path = linePath(corners);
    parts[link.flow] += path;
    if (!far) shown.push({ link, path, at });
    if (folded.boxes[link.from]?.id === chosen || folded.boxes[link.to]?.id === chosen) marked += path;
  }
  const rail = far ? 3 : 3.4;
  return (
    <g fill="none">
      {marked !== '' && <path d={marked} stroke={palette.chosen} stroke-width="11" />}
      <path d={parts.plain} stroke={palette.faint} />
      <path d={parts.quantized} stroke={palette.ink} stroke-width={rail} />
      {!far && <path d={parts.quantized} stroke={palette.paper} stroke-width={rail - 2} />}
      <path d={parts.exempt} stroke={palette.ink} stroke-width={far ? 2 : 1.3} stroke-dasharray="5 4" />
      {shown.map(({ path, at }) => (
        <path
          key={at}
          data-link={at}
          d={path}
          stroke={palette.clear}
          stroke-width="11"
          pointer-events="stroke"
        />
      ))}
    </g>
  );
}

/** The area is the loss. What is known to cost nothing is a speck. */
function radius(share: number, most: number): number {
  return share < kLeastShare ? 1 : most * Math.sqrt(share);
}

function Marks({ loss, x, y, palette }: { loss: BoxLoss; x: number; y: number; palette: Palette }): VNode {
  const fill = loss.beyond ? palette.accent : palette.ink;
  const half = radius(loss.weight ?? 0, kMostMark - 0.5);
  return (
    <>
      {loss.weight !== null && (
        <rect x={x + kMark / 2 - half} y={y - half} width={2 * half} height={2 * half} fill={fill} />
      )}
      {loss.activation !== null && (
        <circle
          cx={x + (loss.weight === null ? kMark / 2 : 1.4 * kMark)}
          cy={y}
          r={radius(loss.activation, kMostMark + 0.5)}
          fill={fill}
        />
      )}
    </>
  );
}

function NearBox({ box, place, loss, chosen, palette }: BoxProps): VNode {
  const [width, height] = boxSize(box);
  const [x, y] = [place[0] - width / 2, place[1] - height / 2];
  const marks = Number(loss.weight !== null) + Number(loss.activation !== null);
  const indent = [0, kMark + 3, kMarks][marks] ?? 0;
  const letters = Math.floor((width - indent - 6) / kLetter);
  const lines = box.note === '' ? [box.title] : [box.title, box.note];
  return (
    <>
      <rect
        x={x}
        y={y}
        width={width}
        height={height}
        rx={box.block === null ? 1 : 7}
        fill={chosen ? palette.chosen : palette.paper}
        stroke={chosen || loss.beyond ? palette.accent : palette.ink}
        stroke-width={chosen ? 2.5 : loss.beyond ? 1.8 : 1}
      />
      <Marks loss={loss} x={x} y={place[1]} palette={palette} />
      {lines.map((line, at) => (
        <text
          key={line}
          x={marks === 0 ? place[0] : x + indent}
          text-anchor={marks === 0 ? 'middle' : undefined}
          y={place[1] + (lines.length === 1 ? 0 : at * 15 - 7)}
          dominant-baseline="central"
          font-size={at === 0 ? 12 : 11}
          fill={at === 0 ? palette.ink : palette.quiet}
        >
          {printable(line, Math.max(4, letters))}
        </text>
      ))}
    </>
  );
}

function FarBox({ box, place, loss, chosen, palette }: BoxProps): VNode {
  const share = Math.max(loss.weight ?? 0, loss.activation ?? 0);
  const known = loss.weight !== null || loss.activation !== null;
  const fill = loss.beyond ? palette.accent : palette.ink;
  const size = known ? radius(share, kMostDot) : 1;
  const half = Math.max(size, 2.4);
  const asSquare = (loss.weight ?? -1) >= (loss.activation ?? -1) && loss.weight !== null;
  return (
    <>
      <rect x={place[0] - 40} y={place[1] - 14} width="80" height="28" fill={palette.clear} />
      {box.block !== null && (
        <rect
          x={place[0] - 40}
          y={place[1] - 18}
          width="80"
          height="36"
          rx="10"
          fill={palette.paper}
          stroke={palette.ink}
        />
      )}
      {asSquare ? (
        <rect x={place[0] - half} y={place[1] - half} width={2 * half} height={2 * half} fill={fill} />
      ) : (
        <circle cx={place[0]} cy={place[1]} r={half} fill={fill} />
      )}
      {chosen && (
        <circle cx={place[0]} cy={place[1]} r="22" fill="none" stroke={palette.accent} stroke-width="6" />
      )}
    </>
  );
}

interface BoxProps {
  box: Box;
  place: readonly [number, number];
  loss: BoxLoss;
  chosen: boolean;
  palette: Palette;
}

export function GraphPicture(props: Props): VNode {
  const { folded, layout, sight, far, chosen, palette, lossOf } = props;
  const Shape = far ? FarBox : NearBox;
  return (
    <>
      <Lines {...props} />
      {folded.boxes.map((box, at) => {
        const place = layout.places[at] ?? [0, 0];
        const [width, height] = boxSize(box);
        if (
          sight !== null &&
          (place[0] + width / 2 < sight.left ||
            place[0] - width / 2 > sight.right ||
            place[1] + height / 2 < sight.top ||
            place[1] - height / 2 > sight.bottom)
        )
          return null;
        const loss = lossOf(box);
        return (
          <g key={box.id} data-box={at} data-beyond={loss.beyond || undefined}>
            <title>{loss.title}</title>
            <Shape box={box} place={place} loss={loss} chosen={box.id === chosen} palette={palette} />
          </g>
        );
      })}
    </>
  );
}
