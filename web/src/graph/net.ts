// The graph as a picture needs it: nodes that compute, what flows between them, and which readings go through a Q/DQ pair.
// Constants are folded into the nodes that read them.
import type { ModelGraph, Plan } from '../package';

/** `plain`: no quantizer could sit there, as on shapes and indices. */
export type Flow = 'quantized' | 'exempt' | 'plain';

export interface Reading {
  tensor: string;
  /** The node that makes it; null for a constant. */
  from: number | null;
  flow: Flow;
  why: string;
}

export interface NetNode {
  kind: 'node' | 'input' | 'output';
  label: string;
  op: string;
  reads: readonly Reading[];
  makes: readonly string[];
}

export interface Net {
  nodes: readonly NetNode[];
  /** Nodes that read a tensor of a node, each once, in order. */
  links: readonly Link[];
}

export interface Link {
  from: number;
  to: number;
  /** All that flows there, at least one. */
  readings: readonly Reading[];
}

type Decide = (label: string, tensor: string, input: number) => Pick<Reading, 'flow' | 'why'>;

const kKey = '\u0000';

/** Labels of nodes need not be unique; the tensor that is read tells those apart that matter. */
function decisionsOf(plan: Plan | null): Decide {
  const known = new Map<string, Pick<Reading, 'flow' | 'why'>>();
  for (const { node, tensor, input, quantized, why } of plan?.inputs ?? [])
    known.set([node, tensor, input].join(kKey), { flow: quantized ? 'quantized' : 'exempt', why });
  return (label, tensor, input) =>
    known.get([label, tensor, input].join(kKey)) ?? { flow: 'plain', why: 'No quantizer can sit here.' };
}

export function netOf(graph: ModelGraph, plan: Plan | null): Net {
  const constants = new Set(graph.constants);
  const decide = decisionsOf(plan);
  const maker = new Map<string, number>();
  const nodes: NetNode[] = [];
  const add = (node: NetNode): void => {
    for (const tensor of node.makes) if (tensor !== '') maker.set(tensor, nodes.length);
    nodes.push(node);
  };
  const read = (label: string, tensor: string, input: number): Reading => {
    const from = constants.has(tensor) ? null : (maker.get(tensor) ?? null);
    return { tensor, from, ...decide(label, tensor, input) };
  };
  for (const name of graph.inputs) {
    if (!constants.has(name)) add({ kind: 'input', label: name, op: 'input', reads: [], makes: [name] });
  }
  for (const { label, op, inputs, outputs } of graph.nodes) {
    if (outputs.length > 0 && outputs.every((tensor) => tensor === '' || constants.has(tensor))) continue;
    const reads = inputs.flatMap((tensor, at) => (tensor === '' ? [] : [read(label, tensor, at)]));
    add({ kind: 'node', label, op, reads, makes: outputs });
  }
  for (const name of graph.outputs) {
    const from = maker.get(name) ?? null;
    const reading: Reading = { tensor: name, from, flow: 'plain', why: 'An output of the model.' };
    nodes.push({ kind: 'output', label: name, op: 'output', reads: [reading], makes: [] });
  }
  return { nodes, links: linksOf(nodes) };
}

function linksOf(nodes: readonly NetNode[]): Link[] {
  const links: Link[] = [];
  for (const [to, { reads }] of nodes.entries()) {
    const byMaker = new Map<number, Reading[]>();
    for (const reading of reads) {
      if (reading.from === null) continue;
      const list = byMaker.get(reading.from);
      if (list === undefined) byMaker.set(reading.from, [reading]);
      else list.push(reading);
    }
    for (const [from, readings] of byMaker) links.push({ from, to, readings });
  }
  return links;
}

/** One flow for several readings: what isn't quantized shows. */
export function flowOf(readings: readonly Pick<Reading, 'flow'>[]): Flow {
  if (readings.some(({ flow }) => flow === 'exempt')) return 'exempt';
  return readings.some(({ flow }) => flow === 'quantized') ? 'quantized' : 'plain';
}
