// Which nodes belong together: by the folders in their names, or, where names have none, by a sequence of operators that
// comes again and again.
import type { Net, NetNode } from './net';

export interface Block {
  id: string;
  title: string;
  /** The block around it; null at the top. */
  parent: string | null;
  /** Nodes in it, at any depth. */
  size: number;
}

export interface Blocks {
  all: ReadonlyMap<string, Block>;
  /** For each node the blocks that it is in, outermost first. */
  paths: readonly (readonly string[])[];
}

const kMostDepth = 12;
/** Names tell the blocks where at least so many nodes are in one. */
const kShareInBlocks = 0.5;

function foldersOf({ kind, label }: NetNode): string[] {
  if (kind !== 'node' || label.startsWith('@')) return [];
  const parts = label.split(label.includes('/') ? '/' : '.').filter((part) => part !== '');
  return parts.slice(0, -1).slice(0, kMostDepth);
}

function pathOf(folders: readonly string[]): string[] {
  return folders.map((_, depth) => folders.slice(0, depth + 1).join('/'));
}

/** A block lies together in the order of the graph; names that only say what a node is are spread all over it. */
const kMostSpread = 2;

/** The ids of all folders that are blocks, with their sizes. */
function blockSizes(paths: readonly (readonly string[])[]): Map<string, number> {
  const known = new Map<string, { first: number; last: number; size: number }>();
  for (const [at, path] of paths.entries()) {
    for (const id of path) {
      const span = known.get(id) ?? { first: at, last: at, size: 0 };
      known.set(id, { first: span.first, last: at, size: span.size + 1 });
    }
  }
  const named = paths.filter((path) => path.length > 0).length;
  // A block around one node, or around all of them, says nothing.
  const kept = [...known].filter(
    ([, { first, last, size }]) => size > 1 && size < named && last - first + 1 <= kMostSpread * size,
  );
  return new Map(kept.map(([id, { size }]) => [id, size]));
}

export function blocksOf(net: Net): Blocks {
  const paths = net.nodes.map(foldersOf).map(pathOf);
  const sizes = blockSizes(paths);
  // Neither does one around all that the block outside it holds.
  const kept = paths.map((path) =>
    path
      .filter((id) => sizes.has(id))
      .filter((id, depth, list) => sizes.get(id) !== sizes.get(list[depth - 1] ?? '')),
  );
  const inBlocks = kept.filter((path) => path.length > 0).length;
  if (inBlocks < kShareInBlocks * net.nodes.length) return repeatsOf(net);
  const all = new Map<string, Block>();
  for (const path of kept) {
    for (const [depth, id] of path.entries()) {
      const parent = path[depth - 1] ?? null;
      const title = parent === null ? id : id.slice(parent.length + 1);
      if (!all.has(id)) all.set(id, { id, title, parent, size: sizes.get(id) ?? 0 });
    }
  }
  return { all, paths: kept };
}

interface Run {
  from: number;
  period: number;
  times: number;
}

const kLongestPeriod = 120;
const kShortestPeriod = 2;
const kFewestTimes = 3;

/** The stretch of equal sequences that covers most, in which no node is covered already; null if there is none. */
function longestRun(ops: readonly string[], taken: readonly boolean[]): Run | null {
  let best: Run | null = null;
  for (
    let period = kShortestPeriod;
    period <= Math.min(kLongestPeriod, ops.length / kFewestTimes);
    ++period
  ) {
    let length = 0;
    for (let at = 0; at + period <= ops.length; ++at) {
      const same = at + period < ops.length && ops[at] === ops[at + period];
      if (same && !taken[at] && !taken[at + period]) {
        length += 1;
        continue;
      }
      const times = Math.floor(length / period) + 1;
      const covered = times * period;
      if (times >= kFewestTimes && covered > (best === null ? 0 : best.period * best.times))
        best = { from: at - length, period, times };
      length = 0;
    }
  }
  return best;
}

const kMostRuns = 8;

function repeatsOf({ nodes }: Net): Blocks {
  const ops = nodes.map(({ op }) => op);
  const taken = ops.map((op) => op === 'input' || op === 'output');
  const all = new Map<string, Block>();
  const paths: string[][] = nodes.map(() => []);
  for (let count = 0; count < kMostRuns; ++count) {
    const run = longestRun(ops, taken);
    if (run === null) break;
    const what = [...new Set(ops.slice(run.from, run.from + run.period))].slice(0, 3).join(' \u00b7 ');
    for (let time = 0; time < run.times; ++time) {
      const id = `block ${count + 1}.${time + 1}`;
      all.set(id, { id, title: `${what}, ${time + 1} of ${run.times}`, parent: null, size: run.period });
      for (let at = 0; at < run.period; ++at) {
        const node = run.from + time * run.period + at;
        taken[node] = true;
        paths[node]?.push(id);
      }
    }
  }
  return { all, paths };
}

/** Which blocks are open at first: as many as leave the picture readable, the largest ones first. */
export function openAtFirst(net: Net, { all, paths }: Blocks, most: number): Set<string> {
  const open = new Set<string>();
  let boxes = countBoxes(paths, open);
  if (net.nodes.length <= most) return new Set(all.keys());
  const bySize = [...all.values()].sort((a, b) => b.size - a.size);
  for (const block of bySize) {
    if (block.parent !== null && !open.has(block.parent)) continue;
    open.add(block.id);
    const opened = countBoxes(paths, open);
    if (opened > most) {
      open.delete(block.id);
      break;
    }
    boxes = opened;
  }
  return boxes > 0 ? open : new Set();
}

function countBoxes(paths: readonly (readonly string[])[], open: ReadonlySet<string>): number {
  const closed = new Set<string>();
  let single = 0;
  for (const path of paths) {
    const first = path.find((id) => !open.has(id));
    if (first === undefined) single += 1;
    else closed.add(first);
  }
  return single + closed.size;
}
