// The plan as rows: groups of scales, filters, and the sentences about patterns and growth.
import { describe, expect, test } from 'vitest';
import { previewSentence } from '../../web/src/actions/preview.js';
import type { InputDecision, Site } from '../../web/src/package.js';
import {
  byRule,
  filterInputs,
  filterSites,
  type InputRow,
  scaleGroupsOf,
} from '../../web/src/state/plan_rows.js';
import { concatText, sharingText } from '../../web/src/text/plan_words.js';
import { growthText } from '../../web/src/views/save_report.js';

function site(tensor: string, more: Partial<Site> = {}): Site {
  return {
    tensor,
    role: 'activation',
    quantized: true,
    format: 'int8',
    granularity: 'tensor',
    axis: null,
    block_size: null,
    symmetric: true,
    scale_group: null,
    rule: 'partition_head',
    why: 'Starts a group.',
    consumers: [],
    ...more,
  };
}

function input(node: string, tensor: string, more: Partial<InputDecision> = {}): InputDecision {
  return {
    node,
    op: 'Conv',
    input: 0,
    tensor,
    quantized: true,
    rule: 'partition_head',
    why: 'Starts a group.',
    partition: null,
    ...more,
  };
}

const rowsOf = (inputs: readonly InputDecision[]): InputRow[] => inputs.map((each, at) => ({ ...each, at }));

const kAll = { search: '', decision: 'all', role: 'all' } as const;

describe('scale groups', () => {
  const sites = [site('a', { scale_group: 'concat:a' }), site('b', { scale_group: 'concat:a' }), site('c')];
  const inputs = [
    input('join', 'a', { op: 'Concat' }),
    input('join', 'b', { op: 'Concat', input: 1 }),
    input('other', 'b', { op: 'Concat' }),
    input('elsewhere', 'c', { op: 'Concat' }),
    input('conv', 'a'),
  ];

  test('name their tensors, and each Concat that joins one of them once', () => {
    expect([...scaleGroupsOf({ sites, inputs })]).toEqual([
      ['concat:a', { tensors: ['a', 'b'], concats: ['join', 'other'] }],
    ]);
    expect(scaleGroupsOf({ sites: [site('c')], inputs })).toEqual(new Map());
  });

  test('are said from the view of one of them', () => {
    const group = scaleGroupsOf({ sites, inputs }).get('concat:a')!;
    expect(concatText(group)).toBe('Concat join and 1 more');
    expect(sharingText(sites[0]!, group)).toBe('Concat join and 1 more: the same scale as b');
    const wide = { tensors: ['a', 'b', 'c', 'd', 'e', 'f', 'g\u202e'], concats: [] };
    expect(sharingText(site('a'), wide)).toBe('shared: the same scale as b, c, d, e and 2\u00a0more tensors');
    expect(concatText({ tensors: [], concats: ['x\u202ey'] })).toBe('Concat x\ufffdy');
  });
});

describe('filters', () => {
  const rows = rowsOf([
    input('Conv_1', 'x', { partition: 'cask:Conv_1' }),
    input('Relu_2', 't', {
      op: 'Relu',
      quantized: false,
      rule: 'inside_partition',
      partition: 'cask:Conv_1',
    }),
    input('Resize_3', '', { op: 'Resize', quantized: false, rule: 'omitted', why: 'Not given.' }),
  ]);

  test('find inputs by node, operator, tensor, rule, partition and reason, in any case', () => {
    const found = (search: string) => filterInputs(rows, { ...kAll, search }).map((row) => row.node);
    expect(found('')).toEqual(['Conv_1', 'Relu_2', 'Resize_3']);
    expect(found(' RELU ')).toEqual(['Relu_2']);
    expect(found('cask:')).toEqual(['Conv_1', 'Relu_2']);
    expect(found('not given')).toEqual(['Resize_3']);
    expect(found('inside_')).toEqual(['Relu_2']);
    expect(found('absent')).toEqual([]);
    expect(filterInputs(rows, { ...kAll, decision: 'float' }).map((row) => row.at)).toEqual([1, 2]);
    expect(
      filterInputs(rows, { ...kAll, decision: 'quantized', role: 'weight' }).map((row) => row.at),
    ).toEqual([0]);
  });

  test('find sites by consumer and group too, and keep to roles', () => {
    const sites = [
      site('a', { consumers: [['Gemm_7', 1]], role: 'weight' }),
      site('b', { scale_group: 'concat:z', quantized: false }),
    ];
    const found = (part: object) => filterSites(sites, { ...kAll, ...part }).map((each) => each.tensor);
    expect(found({ search: 'gemm_7' })).toEqual(['a']);
    expect(found({ search: 'concat:z' })).toEqual(['b']);
    expect(found({ role: 'weight' })).toEqual(['a']);
    expect(found({ decision: 'float' })).toEqual(['b']);
  });

  test('rules keep the order in which they occur', () => {
    const mixed = rowsOf([input('1', 'x'), input('2', 'x', { rule: 'omitted' }), input('3', 'x')]);
    expect([...byRule(mixed)].map(([rule, list]) => [rule, list.map((row) => row.node)])).toEqual([
      ['partition_head', ['1', '3']],
      ['omitted', ['2']],
    ]);
  });
});

describe('sentences', () => {
  test('say what a pattern takes, or what is near it', () => {
    const read = (part: object) =>
      previewSentence({
        state: 'read',
        match: { pattern: 'p', nodes: [], tensors: [], near_misses: [], ...part },
      });
    expect(read({ nodes: ['a'], tensors: ['t', 'u'] })).toBe('1\u00a0node: a; 2\u00a0tensors: t, u');
    expect(read({ nodes: ['a', 'b', 'c', 'd', 'e', 'f'] })).toBe('6\u00a0nodes: a, b, c, d and 2 more');
    expect(read({})).toBe('Takes nothing.');
    expect(read({ near_misses: ['conv_1', 'conv\u202e'] })).toBe(
      'Takes nothing; near it: conv_1, conv\ufffd',
    );
    expect(previewSentence(null)).toBe('Looking\u2026');
    expect(previewSentence({ state: 'failed', message: 'No such kind.' })).toBe('No such kind.');
  });

  test('say what sharing a scale cost a branch', () => {
    expect([1, 1.25, 12.3456, null].map(growthText)).toEqual([
      'as on its own',
      '1.25 times coarser',
      '12.3 times coarser',
      'holds only zeros',
    ]);
  });
});
