// What a box or a line of the graph says when the pointer or the focus is on it.
import type { Box, BoxLink } from '../graph/fold';
import type { Net, Reading } from '../graph/net';
import type { SensitivityRow } from '../package';
import type { LossAxis } from '../pictures/loss_axis';
import type { Loss } from '../state/graph';
import { counted, printable } from './format';

const kReadingsSaid = 4;
const kLongestWhy = 160;

function scoreWords(what: string, row: SensitivityRow | null, axis: LossAxis | null): string[] {
  if (row === null || axis === null) return [];
  const unit = axis.unit === '' ? '' : `\u00a0${axis.unit}`;
  return [`${what} ${printable(row.name, 48)} ${axis.figure(row.score)}${unit}`];
}

export function readingWords({ tensor, flow, why }: Reading): string {
  const name = printable(tensor, 48);
  if (flow === 'plain') return `${name}: ${printable(why, kLongestWhy)}`;
  return `${name} ${flow === 'quantized' ? 'through Q/DQ' : 'in float'}: ${printable(why, kLongestWhy)}`;
}

export function boxWords(box: Box, net: Net, loss: Loss, axis: LossAxis | null): string {
  const scores = [...scoreWords('weight', loss.weight, axis), ...scoreWords('makes', loss.activation, axis)];
  const [first = 0] = box.nodes;
  const node = net.nodes[first];
  if (box.block !== null || node === undefined)
    return [`${printable(box.title)}: ${counted(box.nodes.length, 'node')}`, ...scores].join(' \u00b7 ');
  const name =
    node.kind === 'node' ? `${printable(node.op, 40)} ${printable(node.label, 80)}` : printable(node.label);
  const kind = node.kind === 'node' ? name : `${node.kind} ${name}`;
  const flows = node.reads.filter(({ from }) => from !== null).slice(0, kReadingsSaid);
  return [kind, ...scores, ...flows.map(readingWords)].join(' \u00b7 ');
}

export function linkWords({ readings }: BoxLink): string {
  const said = readings.slice(0, kReadingsSaid).map(readingWords);
  const rest = readings.length - said.length;
  return [...said, ...(rest > 0 ? [`and ${rest} more`] : [])].join(' \u00b7 ');
}
