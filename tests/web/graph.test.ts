// The graph as it is drawn: what flows where, which nodes belong together, and where boxes go.
import { describe, expect, test } from 'vitest';
import { blocksOf, openAtFirst } from '../../web/src/graph/blocks.js';
import { fold } from '../../web/src/graph/fold.js';
import { layoutGraph } from '../../web/src/graph/layout.js';
import { netOf } from '../../web/src/graph/net.js';
import type { ModelGraph, Plan } from '../../web/src/package.js';
import { boxSize, linePath } from '../../web/src/pictures/graph.js';
import { fakeGraph, fakePlan } from './fake_bench.js';

function planWith(inputs: Partial<Plan['inputs'][number]>[]): Plan {
  const part = { op: 'Conv', rule: 'r', why: 'because', partition: null };
  return { ...fakePlan(1, {}), inputs: inputs.map((input) => ({ ...part, ...input })) as Plan['inputs'] };
}

describe('the net', () => {
  test('folds constants into their readers, and knows what goes through a pair', () => {
    const graph: ModelGraph = {
      inputs: ['x', 'w'],
      outputs: ['y'],
      nodes: [
        { label: 'c', op: 'Constant', inputs: [], outputs: ['k'] },
        { label: 'conv', op: 'Conv', inputs: ['x', 'w'], outputs: ['t'] },
        { label: 'add', op: 'Add', inputs: ['t', 'x', '', 'k'], outputs: ['y', ''] },
      ],
      constants: ['w', 'k'],
    };
    const plan = planWith([
      { node: 'conv', input: 0, tensor: 'x', quantized: true },
      { node: 'add', input: 0, tensor: 't', quantized: false, why: 'not here' },
      { node: 'other', input: 1, tensor: 'x', quantized: true },
    ]);
    const { nodes, links } = netOf(graph, plan);
    expect(nodes.map(({ label }) => label)).toEqual(['x', 'conv', 'add', 'y']);
    expect(nodes[1]?.reads).toEqual([
      { tensor: 'x', from: 0, flow: 'quantized', why: 'because' },
      { tensor: 'w', from: null, flow: 'plain', why: expect.any(String) },
    ]);
    expect(links.map(({ from, to, readings }) => [from, to, readings.map(({ flow }) => flow)])).toEqual([
      [0, 1, ['quantized']],
      [1, 2, ['exempt']],
      [0, 2, ['plain']],
      [2, 3, ['plain']],
    ]);
  });

  test('a tensor that nobody makes, and an output that is an input, break nothing', () => {
    const graph: ModelGraph = {
      inputs: ['x'],
      outputs: ['x', 'gone'],
      nodes: [{ label: 'n', op: 'Relu', inputs: ['missing'], outputs: ['y'] }],
      constants: [],
    };
    const { nodes, links } = netOf(graph, null);
    expect(nodes).toHaveLength(4);
    expect(links).toEqual([{ from: 0, to: 2, readings: [expect.objectContaining({ tensor: 'x' })] }]);
  });
});

describe('blocks', () => {
  test('come from the folders in names, outermost first', () => {
    const net = netOf(fakeGraph(4, true), null);
    const { all, paths } = blocksOf(net);
    expect([...all.values()].map(({ title, size }) => [title, size])).toEqual([
      ['layer0', 3],
      ['layer1', 3],
      ['layer2', 3],
      ['layer3', 3],
    ]);
    expect(paths[1]).toEqual(['layer0']);
    expect(paths[0]).toEqual([]);
  });

  test('folders that only name the operator are none: the sequence that comes again is', () => {
    const graph = fakeGraph(6);
    const nodes = graph.nodes.map((node, at) => ({ ...node, label: `p2o.${node.op}.${at}` }));
    const { all, paths } = blocksOf(netOf({ ...graph, nodes }, null));
    expect(all.size).toBe(6);
    expect([...all.values()][1]).toMatchObject({ title: 'Conv \u00b7 Relu \u00b7 Add, 2 of 6', size: 3 });
    expect(paths.slice(1, 7).map(([block]) => block)).toEqual([
      'block 1.1',
      'block 1.1',
      'block 1.1',
      'block 1.2',
      'block 1.2',
      'block 1.2',
    ]);
  });

  test('closed ones are one box with what flows in and out; at first as many are open as can be read', () => {
    const net = netOf(fakeGraph(4, true), null);
    const blocks = blocksOf(net);
    const closed = fold(net, blocks, new Set());
    expect(closed.boxes.map(({ title, note }) => [title, note])).toEqual([
      ['activation_0', ''],
      ['layer0', '3 nodes'],
      ['layer1', '3 nodes'],
      ['layer2', '3 nodes'],
      ['layer3', '3 nodes'],
      ['y', ''],
    ]);
    expect(closed.links.map(({ from, to }) => [from, to])).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 4],
      [4, 5],
    ]);
    const half = fold(net, blocks, new Set(['layer2']));
    expect(half.boxes.map(({ title }) => title)).toEqual([
      'activation_0',
      'layer0',
      'layer1',
      'Conv',
      'Relu',
      'Add',
      'layer3',
      'y',
    ]);
    expect(openAtFirst(net, blocks, 100).size).toBe(4);
    expect(openAtFirst(net, blocks, 9).size).toBe(1);
    expect(openAtFirst(net, blocks, 3).size).toBe(0);
  });
});

describe('the layout', () => {
  const place = (layers: number, aspect = 1.4) => {
    const { boxes, links } = fold(netOf(fakeGraph(layers), null), { all: new Map(), paths: [] }, new Set());
    const sizes = boxes.map(boxSize);
    const pairs = links.map(({ from, to }) => [from, to] as const);
    return { sizes, pairs, layout: layoutGraph({ sizes, links: pairs, aspect }) };
  };

  test('puts no box on another, and every line from its box to its box', () => {
    const { sizes, pairs, layout } = place(20);
    const { places, lines } = layout;
    for (const [a, [x, y]] of places.entries()) {
      for (const [b, [otherX, otherY]] of places.entries()) {
        if (b <= a) continue;
        const apart =
          Math.abs(x - otherX) >= (sizes[a]![0] + sizes[b]![0]) / 2 ||
          Math.abs(y - otherY) >= (sizes[a]![1] + sizes[b]![1]) / 2;
        expect(apart, `${a} and ${b}`).toBe(true);
      }
    }
    const touches = (x: number, y: number, box: number): boolean =>
      Math.abs(x - places[box]![0]) <= sizes[box]![0] / 2 + 1 &&
      Math.abs(y - places[box]![1]) <= sizes[box]![1] / 2 + 1;
    for (const [at, [from, to]] of pairs.entries()) {
      const corners = lines[at]!;
      expect(touches(corners[0]!, corners[1]!, from), `start of ${at}`).toBe(true);
      expect(touches(corners.at(-2)!, corners.at(-1)!, to), `end of ${at}`).toBe(true);
    }
    for (const [x, y] of places) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x).toBeLessThanOrEqual(layout.width);
      expect(y).toBeLessThanOrEqual(layout.height);
    }
  });

  test('takes the form of the room', () => {
    const [wide, high] = [place(40, 3).layout, place(40, 0.5).layout];
    expect(wide.width / wide.height).toBeGreaterThan(1.2);
    expect(high.width / high.height).toBeLessThan(1);
  });

  test('of one box, of none, and of a loop that folding made', () => {
    expect(layoutGraph({ sizes: [[90, 28]], links: [], aspect: 1 }).places).toHaveLength(1);
    expect(layoutGraph({ sizes: [], links: [], aspect: 1 }).places).toEqual([]);
    const loop = layoutGraph({
      sizes: [
        [90, 28],
        [90, 28],
      ],
      links: [
        [0, 1],
        [1, 0],
      ],
      aspect: 1,
    });
    expect(loop.lines.every((corners) => corners.length >= 4 && corners.every(Number.isFinite))).toBe(true);
  });
});

test('a line has its corners cut, and starts and ends where it should', () => {
  expect(linePath([0, 0, 0, 40, 30, 40])).toBe('M0 0L0 31Q0 40 9 40L30 40');
  expect(linePath([0, 0])).toBe('');
});
