// Which boxes a graph is drawn with: its nodes, or, where they are too many, groups of them by the scopes in their names
// ("/encoder/layer.0/attn/MatMul"), the finest that are few enough. Names without scopes end in runs of neighbours.
import type { ModelGraph } from '../types.js';

export interface Box {
  title: string;
  /** Indices of nodes; empty for an input of the graph. */
  nodes: number[];
  /** The name of the graph's input that this box is. */
  input: string | null;
}

export interface BoxGraph {
  boxes: Box[];
  /** Pairs of indices of boxes, each once, none to itself. */
  edges: { from: number; to: number; tensors: Set<string> }[];
  /** How nodes became boxes, as a sentence; empty if each node is one. */
  collapsed: string;
}

/** What a layout takes a second or two for. */
export const MAX_BOXES = 1000;

export function boxGraph(graph: ModelGraph): BoxGraph {
  const constants = new Set(graph.constants);
  const shown = graph.nodes.flatMap(({ outputs }, i) =>
    outputs.length > 0 && outputs.every((output) => constants.has(output)) ? [] : [i],
  );
  const { keys, collapsed } = grouping(graph, shown);
  const boxes: Box[] = graph.inputs
    .filter((input) => !constants.has(input))
    .map((input) => ({ title: input, nodes: [], input }));
  const boxOfTensor = new Map(boxes.map(({ title }, i) => [title, i]));
  const boxOfKey = new Map<string, number>();
  const boxOfNode = new Map<number, number>();
  shown.forEach((node, i) => {
    const key = keys[i]!;
    const box = boxOfKey.get(key) ?? boxes.push({ title: key, nodes: [], input: null }) - 1;
    boxOfKey.set(key, box);
    boxes[box]!.nodes.push(node);
    boxOfNode.set(node, box);
    for (const output of graph.nodes[node]!.outputs) boxOfTensor.set(output, box);
  });
  return { boxes, edges: edgesBetween(graph, shown, boxOfNode, boxOfTensor), collapsed };
}

function edgesBetween(
  graph: ModelGraph,
  shown: readonly number[],
  boxOfNode: ReadonlyMap<number, number>,
  boxOfTensor: ReadonlyMap<string, number>,
): BoxGraph['edges'] {
  const edges = new Map<string, BoxGraph['edges'][number]>();
  for (const node of shown) {
    const to = boxOfNode.get(node)!;
    for (const tensor of graph.nodes[node]!.inputs) {
      const from = boxOfTensor.get(tensor);
      if (from === undefined || from === to) continue;
      const key = `${from} ${to}`;
      const edge = edges.get(key);
      if (edge === undefined) edges.set(key, { from, to, tensors: new Set([tensor]) });
      else edge.tensors.add(tensor);
    }
  }
  return [...edges.values()];
}

function grouping(graph: ModelGraph, shown: readonly number[]): { keys: string[]; collapsed: string } {
  if (shown.length <= MAX_BOXES) return { keys: shown.map((node) => `node ${node}`), collapsed: '' };
  const scopes = shown.map((node) => graph.nodes[node]!.label.replace(/^\//, '').split('/').slice(0, -1));
  const deepest = scopes.reduce((depth, scope) => Math.max(depth, scope.length), 0);
  for (let depth = Math.min(deepest, 12); depth > 0; --depth) {
    const keys = scopes.map((scope, i) =>
      scope.length === 0 ? `node ${shown[i]}` : scope.slice(0, depth).join('/'),
    );
    if (new Set(keys).size <= MAX_BOXES) {
      const collapsed = `${shown.length} nodes are more than the ${MAX_BOXES} that are drawn one by one: each box is a scope of names, ${depth} deep.`;
      return { keys, collapsed };
    }
  }
  const run = Math.ceil(shown.length / MAX_BOXES);
  return {
    keys: shown.map(
      (_, i) =>
        `nodes ${run * Math.floor(i / run) + 1} to ${Math.min(shown.length, run * (Math.floor(i / run) + 1))}`,
    ),
    collapsed: `${shown.length} nodes are more than the ${MAX_BOXES} that are drawn one by one, and their names have no scopes: each box is a run of ${run} neighbours in the file.`,
  };
}
