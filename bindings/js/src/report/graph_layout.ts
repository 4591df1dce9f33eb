// Where boxes and edges of a graph go, top down, by dagre.
import { Graph, layout } from '@dagrejs/dagre';
import type { BoxGraph } from './graph_groups.js';

export interface Placed {
  width: number;
  height: number;
  boxes: { x: number; y: number }[];
  /** As in BoxGraph: points from the upper box to the lower one. */
  edges: { x: number; y: number }[][];
}

export const BOX = { width: 150, height: 26 } as const;

/** dagre makes a node of every rank that an edge passes; more of them than this takes too long. */
const MAX_STEPS = 12_000;

/** null for a graph that is too entangled to be drawn. */
export function placeGraph({ boxes, edges }: BoxGraph): Placed | null {
  if (stepsOf(boxes.length, edges) > MAX_STEPS) return null;
  const graph = new Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 14, ranksep: 20, edgesep: 6, marginx: 10, marginy: 10 });
  graph.setDefaultEdgeLabel(() => ({}));
  boxes.forEach((_, i) => {
    graph.setNode(String(i), { ...BOX });
  });
  for (const { from, to } of edges) graph.setEdge(String(from), String(to));
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    boxes: boxes.map((_, i) => {
      const { x, y } = graph.node(String(i)) as { x: number; y: number };
      return { x, y };
    }),
    edges: edges.map(({ from, to }) => {
      const { points } = graph.edge(String(from), String(to)) as { points: { x: number; y: number }[] };
      return points;
    }),
  };
}

/** The ranks that all edges pass, from the longest way to each box; edges back, which collapsing can make, count as one. */
function stepsOf(count: number, edges: BoxGraph['edges']): number {
  const rank = new Array<number>(count).fill(0);
  const sorted = [...edges].filter(({ from, to }) => from < to).sort((a, b) => a.from - b.from);
  for (const { from, to } of sorted) rank[to] = Math.max(rank[to]!, rank[from]! + 1);
  return edges.reduce((sum, { from, to }) => sum + Math.max(1, rank[to]! - rank[from]!), 0);
}
