// A report's data with every part and hostile names, as a model and its files could have them.
import type { ReportData } from '../../bindings/js/src/report/report_data.js';
import type { ModelGraph, ParetoPoint, Plan, SensitivityResults, Site } from '../../bindings/js/src/types.js';
import { SHA, SUMMARY } from '../cli/fake_package.js';

export const EVIL =
  'a"<img src=x onerror=alert(1)>\u001b[2J\u202e</script><script>alert(2)</script>\u0085\nb';

const site = (tensor: string, role: Site['role'], consumers: Site['consumers']): Site => ({
  tensor,
  role,
  quantized: true,
  format: role === 'activation' ? 'uint8' : 'int8',
  granularity: role === 'weight' ? 'channel' : 'tensor',
  axis: role === 'weight' ? 0 : null,
  block_size: null,
  symmetric: role === 'weight',
  scale_group: null,
  rule: EVIL,
  why: `because of ${EVIL}`,
  consumers,
});

export const PLAN: Plan = {
  halftone: '0.1.0',
  model_sha256: SHA,
  target: 'onnxruntime',
  match: null,
  options: {},
  sites: [
    site('x', 'activation', [['conv', 0]]),
    site(EVIL, 'weight', [['conv', 1]]),
    site('y', 'activation', [[EVIL, 0]]),
    site('z', 'activation', [['last', 0]]),
  ],
  inputs: [
    {
      node: 'conv',
      op: 'Conv',
      input: 0,
      tensor: 'x',
      quantized: true,
      rule: 'r',
      why: 'w',
      partition: null,
    },
    { node: EVIL, op: EVIL, input: 0, tensor: 'y', quantized: true, rule: 'r', why: 'w', partition: null },
    {
      node: 'last',
      op: 'Relu',
      input: 0,
      tensor: 'z',
      quantized: false,
      rule: 'r',
      why: 'w',
      partition: null,
    },
  ],
  warnings: [{ code: 'c', message: `Plan: ${EVIL}.`, where: EVIL }],
};

export const GRAPH: ModelGraph = {
  inputs: ['x'],
  outputs: ['out'],
  nodes: [
    { label: 'conv', op: 'Conv', inputs: ['x', EVIL], outputs: ['y'] },
    { label: EVIL, op: EVIL, inputs: ['y'], outputs: ['z'] },
    { label: 'last', op: 'Relu', inputs: ['z'], outputs: ['out'] },
  ],
  constants: [EVIL],
};

/** Ranked as a sweep ranks: what is no number first, then the lowest PSNR. */
export const RESULTS: SensitivityResults = {
  ranking: [
    { rank: 1, name: 'z', score: null },
    { rank: 2, name: EVIL, score: 41.23456789012345, detail: EVIL },
    { rank: 3, name: 'x', score: 52.5 },
    { rank: 4, name: 'y', score: 77.125 },
  ],
  halftone: {
    version: '0.1.0',
    model_sha256: SHA,
    target: 'onnxruntime',
    method: 'minmax',
    metric: 'psnr',
    higher_is_worse: false,
    scored: [EVIL],
    samples: 8,
    by: 'quantizer',
    interval: [null, [40.5, 42], [51, 54.25], [70, 84]],
    skipped: [{ name: EVIL, why: EVIL }],
    warnings: [{ code: 'c', message: `About ${EVIL}.`, where: EVIL }],
  },
};

const point = (flipped: string[], score: number, weight_bytes: number, front: boolean): ParetoPoint => ({
  flipped,
  plan: PLAN,
  encodings: { halftone: '0.1.0', model_sha256: SHA, method: 'minmax', samples: 8, encodings: {} },
  score,
  cost: { weight_bytes, macs: 1000, bit_ops: 64_000, unknown: [] },
  front,
  warnings: [],
});

export const DATA: ReportData = {
  results: RESULTS,
  title: `Title ${EVIL}`,
  description: `Description ${EVIL}`,
  summary: { ...SUMMARY, model: { ...SUMMARY.model, name: EVIL, opset: { [EVIL]: 13 } } },
  plan: PLAN,
  encodings: {
    halftone: '0.1.0',
    model_sha256: SHA,
    method: 'minmax',
    samples: 8,
    encodings: {
      x: { format: 'uint8', scale: [0.1], zero_point: [0], axis: null, min: [0], max: [25.5] },
      [EVIL]: {
        format: 'int8',
        scale: [0.001953125, 0.25],
        zero_point: [0, 0],
        axis: 0,
        min: [-0.25, -32],
        max: [0.248046875, 31.75],
      },
    },
  },
  propagation: [
    { tensor: 'y', node: 'conv', op: 'Conv', psnr: 61.0625, sqnr: 50.5, mse: 0.001 },
    { tensor: 'z', node: EVIL, op: EVIL, psnr: null, sqnr: null, mse: null },
  ],
  graph: GRAPH,
  pareto: [point([], 30.5, 1000, true), point([EVIL], 36.25, 1100, true), point(['x'], 29, 1050, false)],
  quantized: {
    output: EVIL,
    bytes: 160_000,
    float_bytes: 578_966,
    nodes: 9,
    quantized_nodes: { [EVIL]: 2 },
    quantized_node_names: [EVIL, EVIL],
    concat_groups: [{ group: EVIL, branches: [{ tensor: EVIL, growth: 1.5 }] }],
    sites: { quantized: 2, by_rule: {}, float_by_rule: { [EVIL]: 1 } },
    sizes_by_type: {},
    score: { simulated: 31.5, fused: null },
    warnings: [],
    changes: [{ what: `Opset of ${EVIL} raised.`, where: EVIL }],
  },
  predictions: [
    {
      sample: EVIL,
      float: { label: 'upright', probability: 0.999 },
      quantized: { label: EVIL, probability: 0.51 },
      agree: false,
    },
  ],
};
