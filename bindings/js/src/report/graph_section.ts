// The graph, laid out when the file is made. A box's dot is its worst loss: larger is worse, so it reads in black and white.
import { scoreText } from '../shared/metric_text.js';
import type { ModelGraph, Plan, SensitivityResults } from '../types.js';
import { px } from './axis.js';
import { type Box, type BoxGraph, boxGraph } from './graph_groups.js';
import { BOX, type Placed, placeGraph } from './graph_layout.js';
import { escapeHtml } from './markup.js';
import { isQuantizerRun, metricOf, type RankingRow, scoreTitle } from './ranking_rows.js';
import type { ReportData } from './report_data.js';

const MAX_LINES = 8;
const LARGEST_DOT = 11;

export function graphSection({ graph, plan, results }: ReportData, rows: readonly RankingRow[]): string {
  if (graph === undefined || graph.nodes.length === 0) return '';
  const drawn = boxGraph(graph);
  const placed = placeGraph(drawn);
  if (placed === null)
    return section('<p>The graph has too many long connections to be laid out in this file.</p>');
  const rowsOf = rowsByBox(graph, drawn, rows, results);
  const notes = [
    'The larger the dot, the worse the score. Dashed connections stay float.',
    drawn.collapsed,
    rowsOf.some((own) => own.length > 0) ? '' : 'The rows of this ranking are no nodes, so no box has a dot.',
  ].filter((note) => note !== '');
  return section(`<p>${notes.map(escapeHtml).join(' ')}</p>
<div class="graph">${picture(graph, drawn, placed, rowsOf, results, plan)}</div>`);
}

function section(body: string): string {
  return `<h2 id="graph">Graph</h2>\n${body}`;
}

/** A quantizer belongs to the node that makes its tensor, a weight to those that read it, a group to the nodes it names. */
function rowsByBox(
  graph: ModelGraph,
  { boxes }: BoxGraph,
  rows: readonly RankingRow[],
  results: SensitivityResults,
): RankingRow[][] {
  const boxOf = new Map<string, Set<number>>();
  const add = (key: string, box: number) => {
    const found = boxOf.get(key);
    if (found === undefined) boxOf.set(key, new Set([box]));
    else found.add(box);
  };
  const byTensor = isQuantizerRun(results);
  const byOperator = results.halftone?.by === 'operator';
  const constants = new Set(graph.constants);
  boxes.forEach(({ nodes, input }, box) => {
    if (input !== null && byTensor) add(input, box);
    for (const node of nodes) {
      const { label, op, inputs, outputs } = graph.nodes[node]!;
      if (byOperator) add(op, box);
      else if (!byTensor) add(label, box);
      else {
        for (const output of outputs) add(output, box);
        for (const tensor of inputs) if (constants.has(tensor)) add(tensor, box);
      }
    }
  });
  const found: RankingRow[][] = boxes.map(() => []);
  for (const row of rows) for (const box of boxOf.get(row.name) ?? []) found[box]!.push(row);
  return found;
}

function picture(
  graph: ModelGraph,
  { boxes, edges }: BoxGraph,
  placed: Placed,
  rowsOf: RankingRow[][],
  results: SensitivityResults,
  plan: Plan | undefined,
): string {
  const quantized = quantizedReads(plan);
  const lines = edges.map(({ to, tensors }, i) => {
    const isQuantized = boxes[to]!.nodes.some((node) => {
      const reads = quantized.get(graph.nodes[node]!.label);
      return reads !== undefined && [...reads].some((tensor) => tensors.has(tensor));
    });
    return `<path class="${isQuantized || plan === undefined ? 'edge' : 'edge float'}" d="${pathOf(placed.edges[i]!)}"/>`;
  });
  const shapes = boxes.map((box, i) => boxShape(graph, box, placed.boxes[i]!, rowsOf[i]!, results));
  const [width, height] = [px(placed.width), px(placed.height)];
  return `<svg role="img" aria-label="The graph, ${boxes.length} boxes" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
${lines.join('\n')}
${shapes.join('\n')}</svg>`;
}

/** Tensors that each node reads as codes. */
function quantizedReads(plan: Plan | undefined): Map<string, Set<string>> {
  const reads = new Map<string, Set<string>>();
  for (const { node, tensor, quantized } of plan?.inputs ?? []) {
    if (!quantized) continue;
    const tensors = reads.get(node);
    if (tensors === undefined) reads.set(node, new Set([tensor]));
    else tensors.add(tensor);
  }
  return reads;
}

function pathOf(points: readonly { x: number; y: number }[]): string {
  return points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${px(x)} ${px(y)}`).join('');
}

function boxShape(
  graph: ModelGraph,
  box: Box,
  { x, y }: { x: number; y: number },
  rows: readonly RankingRow[],
  results: SensitivityResults,
): string {
  const loss = rows.reduce((worst, row) => Math.max(worst, row.loss), 0);
  const text = boxText(graph, box);
  const left = x - BOX.width / 2;
  const dot =
    rows.length === 0
      ? ''
      : `<circle class="dot" cx="${px(left + 13)}" cy="${px(y)}" r="${px(1 + loss * (LARGEST_DOT - 1))}"/>`;
  const label = text.length > 19 ? `${text.slice(0, 18)}…` : text;
  return `<g class="box"><title>${escapeHtml(boxTitle(graph, box, rows, results))}</title><rect class="${box.input === null ? 'node' : 'input'}" x="${px(left)}" y="${px(y - BOX.height / 2)}" width="${BOX.width}" height="${BOX.height}" rx="3"/>${dot}<text x="${px(left + 28)}" y="${px(y + 4)}">${escapeHtml(label)}</text></g>`;
}

function boxText(graph: ModelGraph, { title, nodes, input }: Box): string {
  if (input !== null) return input;
  return nodes.length === 1 ? graph.nodes[nodes[0]!]!.op : `${title} (${nodes.length})`;
}

function boxTitle(
  graph: ModelGraph,
  { title, nodes, input }: Box,
  rows: readonly RankingRow[],
  results: SensitivityResults,
): string {
  const metric = metricOf(results);
  const single = nodes.length === 1 ? graph.nodes[nodes[0]!]! : null;
  const head =
    input !== null
      ? `input ${input}`
      : single !== null
        ? `${single.op} ${single.label}`
        : `${title}: ${nodes.length} nodes`;
  const scores = [...rows]
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MAX_LINES)
    .map((row) => `${scoreTitle(results)} ${scoreText(metric, row.score)}, rank ${row.rank}: ${row.name}`);
  const more = rows.length > MAX_LINES ? [`and ${rows.length - MAX_LINES} more`] : [];
  return [head, ...scores, ...more].join('; ');
}
