// What a report is computed from: which rows match, how much they lose, and how a large graph becomes few boxes.
import { describe, expect, it } from 'vitest';
import { axisOver, pixelOf, ticks, valueAt } from '../../bindings/js/src/report/axis.js';
import { matcher, offeredGroups, typedGroup } from '../../bindings/js/src/report/filters.js';
import { boxGraph, MAX_BOXES } from '../../bindings/js/src/report/graph_groups.js';
import { placeGraph } from '../../bindings/js/src/report/graph_layout.js';
import { graphPositions } from '../../bindings/js/src/report/ranking_plot.js';
import { lossScale, type RankingRow, rankingRows } from '../../bindings/js/src/report/ranking_rows.js';
import { symlogOver, symlogShare } from '../../bindings/js/src/report/symlog.js';
import type { ModelGraph } from '../../bindings/js/src/types.js';
import { DATA, EVIL, GRAPH, PLAN, RESULTS } from './report_data.js';

const rows = rankingRows(DATA);

describe('rows of a ranking', () => {
  it('know their role, operators, and place in the graph', () => {
    expect(rows.map(({ role, order }) => [role, order])).toEqual([
      ['activation', 3],
      ['weight', 1],
      ['activation', 0],
      ['activation', 2],
    ]);
    expect(rows.map(({ ops }) => ops)).toEqual([[EVIL], ['Conv'], ['Conv'], ['Conv']]);
    expect(graphPositions(rows)).toEqual([3, 1, 0, 2]);
    expect(graphPositions(rankingRows({ results: RESULTS }))).toBeNull();
  });

  it('of nodes and operators stand where the graph has them', () => {
    const by = (unit: string, names: string[]) =>
      rankingRows({
        graph: GRAPH,
        results: {
          ranking: names.map((name, i) => ({ rank: i + 1, name, score: i })),
          halftone: { ...RESULTS.halftone, by: unit },
        },
      });
    expect(by('layer', ['last', 'conv']).map(({ order, ops }) => [order, ops])).toEqual([
      [2, ['Relu']],
      [0, ['Conv']],
    ]);
    expect(by('operator', ['Relu', 'Conv']).map(({ order, ops }) => [order, ops])).toEqual([
      [2, ['Relu']],
      [0, ['Conv']],
    ]);
    expect(graphPositions(by('re:(c)', ['c']))).toBeNull();
  });

  it('prefer the order that the results themselves have', () => {
    const results = { ...RESULTS, halftone: { ...RESULTS.halftone, order: [7, 5, 9, 0] } };
    expect(graphPositions(rankingRows({ results, plan: PLAN }))).toEqual([2, 1, 3, 0]);
  });

  it('lose their share of the worst, from no loss at all or from the best row', () => {
    const loss = lossScale(RESULTS);
    expect([loss(null), loss(41.23456789012345), loss(100)]).toEqual([1, 1, 0]);
    expect(loss(77.125)).toBeCloseTo(22.875 / 58.76543210987655, 12);
    const own = { ...RESULTS.halftone, metric: 'perplexity', higher_is_worse: true };
    const ranking = [9, 5, 4].map((score, i) => ({ rank: i + 1, name: String(i), score }));
    expect(ranking.map(({ score }) => lossScale({ ranking, halftone: own })(score))).toEqual([1, 0.2, 0]);
    expect(lossScale({ ranking: ranking.slice(0, 1), halftone: own })(9)).toBe(0);
  });
});

describe('filters', () => {
  const names = (takes: (row: RankingRow) => boolean) => rows.filter(takes).map(({ name }) => name);
  const nothing = { threshold: null, search: '', groups: [] };

  it('beyond means below where lower is worse, above where higher is; no number is always beyond', () => {
    expect(names(matcher({ ...nothing, threshold: 52.5 }, false))).toEqual(['z', EVIL]);
    expect(names(matcher({ ...nothing, threshold: 52.5 }, true))).toEqual(['z', 'y']);
    expect(names(matcher(nothing, false))).toHaveLength(4);
  });

  it('groups join, then hold together with search and threshold', () => {
    const weights = { label: '', kind: 'role', value: 'weight' } as const;
    expect(names(matcher({ ...nothing, groups: [weights] }, false))).toEqual([EVIL]);
    const both = [weights, typedGroup('re:^x$')!];
    expect(names(matcher({ ...nothing, groups: both }, false))).toEqual([EVIL, 'x']);
    expect(names(matcher({ threshold: 50, search: 'IMG', groups: both }, false))).toEqual([EVIL]);
    expect(typedGroup('re:(')).toBeNull();
    expect(typedGroup('q_proj')).toEqual({ label: 'q_proj', kind: 'text', value: 'q_proj' });
  });

  it('offers what tells rows apart only', () => {
    expect(offeredGroups(rows).map(({ label }) => label)).toEqual(['weights', 'activations', 'Conv', EVIL]);
    expect(offeredGroups(rows.slice(1, 2))).toEqual([]);
  });
});

function chain(count: number, label: (i: number) => string): ModelGraph {
  return {
    inputs: ['t0'],
    outputs: [`t${count}`],
    nodes: Array.from({ length: count }, (_, i) => ({
      label: label(i),
      op: 'Relu',
      inputs: [`t${i}`],
      outputs: [`t${i + 1}`],
    })),
    constants: [],
  };
}

describe('graphs', () => {
  it('up to the limit have a box for each node, without constants, and one edge for each pair', () => {
    const graph = chain(3, (i) => `n${i}`);
    graph.nodes.unshift({ label: 'c', op: 'Constant', inputs: [], outputs: ['k'] });
    graph.constants.push('k');
    graph.nodes[2]!.inputs.push('k', 't1', '');
    const { boxes, edges, collapsed } = boxGraph(graph);
    expect([boxes.map(({ nodes }) => nodes), collapsed]).toEqual([[[], [1], [2], [3]], '']);
    expect(edges.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
  });

  it('above it are collapsed by the finest scopes that are few enough, and say so', () => {
    const graph = chain(2000, (i) => `/block.${Math.floor(i / 10)}/half.${Math.floor(i / 5) % 2}/Relu_${i}`);
    const { boxes, collapsed } = boxGraph(graph);
    expect(boxes).toHaveLength(1 + 400);
    expect(boxes[1]).toMatchObject({ title: 'block.0/half.0', nodes: [0, 1, 2, 3, 4] });
    expect(collapsed).toContain('2 deep');
  });

  it('without scopes become runs of neighbours', () => {
    const { boxes, collapsed } = boxGraph(chain(2001, (i) => `conv2d_${i}`));
    expect(boxes.length).toBeLessThanOrEqual(1 + MAX_BOXES);
    expect(boxes[1]!.nodes).toEqual([0, 1, 2]);
    expect(boxes.at(-1)!.nodes).toEqual([1998, 1999, 2000]);
    expect(collapsed).toContain('a run of 3 neighbours');
  });

  it('are laid out top down without boxes on top of each other; entangled ones are refused', () => {
    const drawn = boxGraph(chain(5, (i) => `n${i}`));
    const placed = placeGraph(drawn)!;
    const tops = placed.boxes.map(({ y }) => y);
    expect(tops).toEqual([...tops].sort((a, b) => a - b));
    expect(new Set(tops).size).toBe(6);
    const dense = chain(200, (i) => `n${i}`);
    dense.nodes.forEach((node, i) => {
      for (let k = 0; k < i; ++k) node.inputs.push(`t${k}`);
    });
    expect(placeGraph(boxGraph(dense))).toBeNull();
  });
});

describe('axes', () => {
  it('put values and pixels one to one, with round marks', () => {
    const axis = axisOver([10, Number.NaN, 20], 100, 0);
    expect([axis.low, axis.high]).toEqual([9.5, 20.5]);
    expect(valueAt(axis, pixelOf(axis, 12.5))).toBeCloseTo(12.5, 12);
    expect(ticks(axis, 5)).toEqual([10, 15, 20]);
    expect(ticks(axisOver([], 0, 1), 4)).toEqual([-1, -0.5, 0, 0.5, 1]);
    expect(axisOver([5], 0, 1)).toMatchObject({ low: 4.75, high: 5.25 });
  });

  it('show ranges of different sizes beside each other', () => {
    const scale = symlogOver([-0.01, 0, 100]);
    expect([symlogShare(scale, 0), symlogShare(scale, 100), symlogShare(scale, -100)]).toEqual([0, 1, -1]);
    expect(symlogShare(scale, 0.01)).toBeGreaterThan(0.05);
    expect(symlogShare(symlogOver([0]), 0)).toBe(0);
  });
});
