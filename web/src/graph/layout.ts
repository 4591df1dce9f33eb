// Where boxes and the lines between them go. dagre lays out stretches of the graph; the stretches stand beside each other
// like columns of text, cut where the fewest lines cross, so that a deep network fits a screen and none is too deep.
import { Graph, layout } from '@dagrejs/dagre';

export interface LayoutRequest {
  sizes: readonly (readonly [width: number, height: number])[];
  /** Places among the sizes, which are in the order of the graph. */
  links: readonly (readonly [from: number, to: number])[];
  /** Width of the room over its height. */
  aspect: number;
}

export interface GraphLayout {
  width: number;
  height: number;
  /** Centres. */
  places: [x: number, y: number][];
  /** For each link its corners: x, y, x, y, … */
  lines: number[][];
}

const kRowHeight = 54;
const kColumnWidth = 200;
const kGutter = 46;
const kLane = 5;
const kMostLanes = 6;
const kLeastInColumn = 8;
/** dagre goes as deep into itself as a stretch is long. */
const kMostInColumn = 400;

export function layoutGraph(request: LayoutRequest): GraphLayout {
  const columns = cut(request).map((range) => layoutColumn(request, range));
  return join(request, columns);
}

interface Range {
  from: number;
  to: number;
}

/** How many boxes' outputs are needed on the other side of each place. */
function crossings({ sizes, links }: LayoutRequest): number[] {
  const last = sizes.map((_, at) => at);
  for (const [from, to] of links) last[from] = Math.max(last[from] ?? 0, to);
  const change = new Array<number>(sizes.length + 1).fill(0);
  for (const [from, to] of last.entries()) {
    if (to <= from) continue;
    change[from + 1] = (change[from + 1] ?? 0) + 1;
    change[to + 1] = (change[to + 1] ?? 0) - 1;
  }
  let open = 0;
  return change.map((by) => {
    open += by;
    return open;
  });
}

function cut(request: LayoutRequest): Range[] {
  const count = request.sizes.length;
  const wanted = Math.sqrt((request.aspect * count * kRowHeight) / kColumnWidth);
  const inColumn = Math.min(kMostInColumn, Math.max(kLeastInColumn, count / Math.max(1, Math.round(wanted))));
  const cost = crossings(request);
  const ranges: Range[] = [];
  let from = 0;
  while (count - from > inColumn * 1.3) {
    let best = from + Math.round(inColumn);
    for (let at = from + Math.ceil(inColumn * 0.7); at <= from + inColumn * 1.3; ++at) {
      const closer = Math.abs(at - from - inColumn) < Math.abs(best - from - inColumn);
      const [here, there] = [cost[at] ?? 0, cost[best] ?? 0];
      if (here < there || (here === there && closer)) best = at;
    }
    ranges.push({ from, to: best });
    from = best;
  }
  ranges.push({ from, to: count });
  return ranges;
}

interface Column {
  range: Range;
  width: number;
  height: number;
  places: Map<number, [number, number]>;
  /** Corners of the lines inside, by link. */
  lines: Map<number, number[]>;
  /** Of boxes that are read further on: from the box to the lower end of the column. */
  exits: Map<number, number[]>;
  /** Of boxes before that are read here, by link: from the upper end to the reader. */
  entries: Map<number, number[]>;
}

interface Ends {
  v: string;
  w: string;
}

/** A column of dagre's, with the lines that leave it led to its lower end and those that come in from its upper end. */
function layoutColumn({ sizes, links }: LayoutRequest, range: Range): Column {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: 18, edgesep: 8, ranksep: 24 });
  const inside = (at: number): boolean => at >= range.from && at < range.to;
  for (let at = range.from; at < range.to; ++at) {
    const [width, height] = sizes[at] ?? [0, 0];
    graph.setNode(String(at), { width, height });
  }
  for (const end of ['top', 'bottom']) graph.setNode(end, { width: 0, height: 0 });
  const port = (name: string): void => {
    if (!graph.hasNode(name)) graph.setNode(name, { width: 4, height: 2 });
  };
  const edge = (v: string, w: string, name: string, weight: number): void => {
    graph.setEdge(v, w, { weight, minlen: 1 }, name);
  };
  const [reads, read] = [new Set<number>(), new Set<number>()];
  for (const [at, [from, to]] of links.entries()) {
    if (inside(from) && inside(to)) {
      edge(String(from), String(to), `line ${at}`, 2);
      reads.add(to);
      read.add(from);
    } else if (inside(from)) {
      port(`exit ${from}`);
      edge(String(from), `exit ${from}`, `exit ${from}`, 1);
      edge(`exit ${from}`, 'bottom', 'end', 8);
      read.add(from);
    } else if (inside(to)) {
      port(`entry ${from}`);
      edge('top', `entry ${from}`, 'end', 8);
      edge(`entry ${from}`, String(to), `entry ${at}`, 1);
      reads.add(to);
    }
  }
  for (let at = range.from; at < range.to; ++at) {
    if (!reads.has(at)) edge('top', String(at), 'end', 0);
    if (!read.has(at)) edge(String(at), 'bottom', 'end', 0);
  }
  layout(graph);
  return collect(graph, range);
}

function collect(graph: Graph, range: Range): Column {
  const size = graph.graph() as { width?: number; height?: number };
  const column: Column = {
    range,
    width: size.width ?? 0,
    height: size.height ?? 0,
    places: new Map(),
    lines: new Map(),
    exits: new Map(),
    entries: new Map(),
  };
  for (let at = range.from; at < range.to; ++at) {
    const { x, y } = graph.node(String(at)) as { x: number; y: number };
    column.places.set(at, [x, y]);
  }
  for (const edge of graph.edges() as (Ends & { name?: string })[]) {
    const [kind, at] = (edge.name ?? '').split(' ');
    const { points } = graph.edge(edge) as { points?: { x: number; y: number }[] };
    const corners = (points ?? []).flatMap(({ x, y }) => [x, y]);
    if (kind === 'line') column.lines.set(Number(at), corners);
    else if (kind === 'exit') column.exits.set(Number(at), corners);
    else if (kind === 'entry') column.entries.set(Number(at), corners);
  }
  return column;
}

function moved(corners: readonly number[], dx: number, dy: number): number[] {
  return corners.map((value, at) => value + (at % 2 === 0 ? dx : dy));
}

/** Columns beside each other, from the same upper edge; lines between them run below the one and down into the other. */
function join({ sizes, links }: LayoutRequest, columns: readonly Column[]): GraphLayout {
  const top = kLane * (kMostLanes + 1);
  const height = columns.reduce((most, column) => Math.max(most, column.height), 0);
  const lefts: number[] = [];
  let width = 0;
  for (const column of columns) {
    lefts.push(width);
    width += column.width + kGutter;
  }
  const columnOf = (at: number): number => columns.findIndex(({ range }) => at < range.to);
  const places = sizes.map((_, at): [number, number] => {
    const column = columnOf(at);
    const [x, y] = columns[column]?.places.get(at) ?? [0, 0];
    return [x + (lefts[column] ?? 0), y + top];
  });
  const lines = links.map(([from, to], at) => {
    const [start, end] = [columnOf(from), columnOf(to)];
    const inside = columns[start]?.lines.get(at);
    if (inside !== undefined) return moved(inside, lefts[start] ?? 0, top);
    const exit = moved(columns[start]?.exits.get(from) ?? [], lefts[start] ?? 0, top);
    const entry = moved(columns[end]?.entries.get(at) ?? [], lefts[end] ?? 0, top);
    const [outX = 0, inX = 0] = [exit.at(-2), entry[0]];
    const lane = (1 + (from % kMostLanes)) * kLane;
    const below = top + height + lane;
    const gutter = (lefts[end] ?? 0) - kGutter / 2 + lane - (kMostLanes * kLane) / 2;
    return [...exit, outX, below, gutter, below, gutter, top - lane, inX, top - lane, ...entry];
  });
  return { width: Math.max(0, width - kGutter), height: height + 2 * top, places, lines };
}
