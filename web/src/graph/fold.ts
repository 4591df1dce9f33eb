// The boxes that are drawn: nodes by themselves, and closed blocks in the place of what is in them.
import type { Blocks } from './blocks';
import { type Flow, flowOf, type Net, type Reading } from './net';

export interface Box {
  id: string;
  title: string;
  /** A second line; empty for a node. */
  note: string;
  /** Places in the net, at least one. */
  nodes: readonly number[];
  /** The block that is closed here. */
  block: string | null;
}

export interface BoxLink {
  from: number;
  to: number;
  flow: Flow;
  readings: readonly Reading[];
}

export interface Folded {
  boxes: readonly Box[];
  links: readonly BoxLink[];
}

export function fold(net: Net, { all, paths }: Blocks, open: ReadonlySet<string>): Folded {
  const boxes: (Omit<Box, 'nodes'> & { nodes: number[] })[] = [];
  const blockBox = new Map<string, number>();
  const boxOf = net.nodes.map((node, at) => {
    const block = paths[at]?.find((id) => !open.has(id));
    const known = block === undefined ? undefined : blockBox.get(block);
    if (known !== undefined) {
      boxes[known]?.nodes.push(at);
      return known;
    }
    const title =
      block === undefined ? (node.kind === 'node' ? node.op : node.label) : (all.get(block)?.title ?? block);
    boxes.push({
      id: block === undefined ? `node ${at}` : `block ${block}`,
      title,
      note: '',
      nodes: [at],
      block: block ?? null,
    });
    if (block !== undefined) blockBox.set(block, boxes.length - 1);
    return boxes.length - 1;
  });
  for (const box of boxes) if (box.block !== null) box.note = `${box.nodes.length} nodes`;
  return { boxes, links: linksBetween(net, boxOf) };
}

function linksBetween(net: Net, boxOf: readonly number[]): BoxLink[] {
  const links = new Map<string, { from: number; to: number; readings: Reading[] }>();
  for (const link of net.links) {
    const [from, to] = [boxOf[link.from] ?? 0, boxOf[link.to] ?? 0];
    if (from === to) continue;
    const key = `${from} ${to}`;
    const known = links.get(key);
    if (known === undefined) links.set(key, { from, to, readings: [...link.readings] });
    else known.readings.push(...link.readings);
  }
  return [...links.values()].map((link) => ({ ...link, flow: flowOf(link.readings) }));
}
