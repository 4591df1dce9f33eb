// A package whose answers are known, so that the command line can be tested without a core.

import { main } from '../../bindings/js/src/cli/main.js';
import type { Context } from '../../bindings/js/src/cli/work.js';
import type { Engine } from '../../bindings/js/src/client/engine_types.js';
import { HalftoneError } from '../../bindings/js/src/shared/errors.js';
import type {
  Encodings,
  Model,
  ModelSummary,
  Plan,
  SampleSet,
  SensitivityResults,
  SensitivityRow,
  Site,
} from '../../bindings/js/src/types.js';

export const SHA = 'ab'.repeat(32);

const site = (tensor: string, role: Site['role'], quantized: boolean): Site => ({
  tensor,
  role,
  quantized,
  format: role === 'activation' ? 'uint8' : 'int8',
  granularity: role === 'weight' ? 'channel' : 'tensor',
  axis: role === 'weight' ? 0 : null,
  block_size: null,
  symmetric: role === 'weight',
  scale_group: null,
  rule: 'rule',
  why: `because of ${tensor}`,
  consumers: [['conv', 0]],
});

export const SITES = [
  site('x', 'activation', true),
  site('w\u001b[31m<b>', 'weight', true),
  site('y', 'activation', false),
];

export const SUMMARY: ModelSummary = {
  model: {
    name: 'net.onnx',
    sha256: SHA,
    bytes: 1_234_567,
    ir_version: 8,
    opset: { '': 13 },
    producer: 'tests',
    inputs: [{ name: 'x', type: 'float32', shape: ['N', 2] }],
    outputs: [{ name: 'z', type: 'float32', shape: ['N', 2] }],
  },
  nodes: 3,
  operators: { Conv: 2, Relu: 1 },
  parameters: { count: 300_000, bytes: 1_200_000 },
  quantized: { pairs: 0 },
  targets: { onnxruntime: { sites: 3, quantized: 2, inputs_by_rule: { rule: 2, gemv: 1 } } },
  warnings: [{ code: 'old', message: 'Something about \u0007the model.', where: '' }],
};

const PLAN: Plan = {
  halftone: '0.1.0',
  model_sha256: SHA,
  target: 'onnxruntime',
  match: null,
  options: {},
  sites: SITES,
  inputs: [
    {
      node: 'conv',
      op: 'Conv',
      input: 0,
      tensor: 'x',
      quantized: true,
      rule: 'partition_head',
      why: 'It starts a group.',
      partition: 'cask:conv',
    },
    {
      node: 'r\u001b[31m',
      op: 'Relu',
      input: 0,
      tensor: 'y',
      quantized: false,
      rule: 'inside_partition',
      why: 'It is fused.',
      partition: null,
    },
  ],
  warnings: [],
};

const ENCODINGS: Encodings = {
  halftone: '0.1.0',
  model_sha256: SHA,
  method: 'minmax',
  samples: 2,
  encodings: { x: { format: 'uint8', scale: [0.1], zero_point: [0], axis: null, min: [0], max: [25.5] } },
};

function results(rows: SensitivityRow[], samples: SampleSet, partial = false): SensitivityResults {
  return {
    ranking: rows.map(({ name, score }, i) => ({ rank: i + 1, name, score })),
    halftone: {
      version: '0.1.0',
      model_sha256: SHA,
      target: 'onnxruntime',
      method: 'minmax',
      metric: 'psnr',
      higher_is_worse: false,
      scored: ['z'],
      samples: samples.count,
      by: 'quantizer',
      interval: rows.map(({ interval }) => interval),
      ...(partial && { order: rows.map(({ order }) => order), groups: 2, partial: true }),
      skipped: [],
      warnings: samples.warnings,
    },
  };
}

const ROWS: SensitivityRow[] = [
  {
    name: SITES[1]!.tensor,
    score: 40.125,
    role: 'weight',
    order: 1,
    sites: [SITES[1]!.tensor],
    interval: [39.5, 41],
    samples: 3,
  },
  { name: 'x', score: 60, role: 'activation', order: 0, sites: ['x'], interval: [58, 62], samples: 3 },
];

export interface Fake {
  /** What the package was asked for. */
  calls: string[];
  samples?: SampleSet;
  /** Stops the sensitivity run after this many rows, as Ctrl-C does. */
  stopAfter?: number;
  /** Thrown when results are joined. */
  mergeError?: Error;
  /** Thrown when a model is opened. */
  openError?: Error;
  closed: boolean;
}

function fakeModel(fake: Fake): Model {
  const model: Partial<Model> = {
    name: 'net.onnx',
    bytes: 1_234_567,
    inspect: async () => SUMMARY,
    plan: async (options) => {
      fake.calls.push(`plan ${JSON.stringify(options)}`);
      return PLAN;
    },
    previewPatterns: async (patterns) =>
      patterns.map((pattern) => ({
        pattern,
        nodes: pattern === 'op:Gemm' ? ['a', 'b\u0007', 'c', 'd', 'e'] : [],
        tensors: [],
        near_misses: [],
      })),
    checkPlan: async () => {
      fake.calls.push('checkPlan');
    },
    calibrate: async (_plan, samples, options) => {
      fake.samples = samples;
      fake.calls.push(`calibrate ${options?.method}`);
      options?.onProgress?.({ phase: 'calibrate', done: 1, total: 2, unit: 'runs' });
      return { ...ENCODINGS, samples: samples.count };
    },
    sensitivity: (_plan, _encodings, samples, options) => {
      const { signal: _signal, onProgress: _onProgress, ...asked } = options ?? {};
      fake.calls.push(`sensitivity ${JSON.stringify(asked)}`);
      return {
        results: async () => {
          if (fake.stopAfter !== undefined) throw new HalftoneError('cancelled', 'Cancelled.');
          return results(ROWS, samples);
        },
        partial: async () => results(ROWS.slice(0, fake.stopAfter), samples, true),
        costs: () => ({ sessions: 0, create_ms: 0, runs: 0, run_ms: 0, metric_ms: 0 }),
        [Symbol.asyncIterator]: async function* () {
          yield* ROWS;
        },
      };
    },
    quantize: async (_plan, encodings, options) => {
      fake.calls.push(`quantize random=${options?.random}`);
      const report = {
        output: '',
        bytes: 400_000,
        float_bytes: 1_234_567,
        nodes: 9,
        quantized_nodes: { Conv: 2 },
        quantized_node_names: ['conv_a', 'conv_b'],
        concat_groups: [],
        sites: { quantized: 2, by_rule: { rule: 2 }, float_by_rule: { gemv: 1 } },
        sizes_by_type: { int8: 300_000 },
        score: { simulated: null, fused: null },
        warnings: encodings.samples === 0 ? [] : [],
        changes: [],
      };
      return { model: new Blob(['the quantized model']), report };
    },
    graph: async () => ({
      inputs: ['x'],
      outputs: ['z'],
      nodes: [{ label: 'conv', op: 'Conv', inputs: ['x', SITES[1]!.tensor], outputs: ['y'] }],
      constants: [SITES[1]!.tensor],
    }),
    propagation: async () => [{ tensor: 'y', node: 'conv', op: 'Conv', psnr: 51.5, sqnr: 44.25, mse: 0.001 }],
    score: async () => ({ simulated: 31.5, fused: 30.25, scored: ['z'], warnings: [] }),
    close: async () => {},
  };
  return model as Model;
}

export interface Ended {
  status: number;
  out: string;
  err: string;
  fake: Fake;
}

/** Runs the command line in this process, in the current folder. */
export async function run(args: string[], options: Partial<Fake> & { tty?: boolean } = {}): Promise<Ended> {
  const fake: Fake = { calls: [], closed: false, ...options };
  let [out, err] = ['', ''];
  const engine: Partial<Engine> = {
    open: async () => {
      if (fake.openError !== undefined) throw fake.openError;
      return fakeModel(fake);
    },
    readResults: async (text) => {
      const read = JSON.parse(text) as SensitivityResults;
      if (read.ranking !== undefined) return read;
      throw new HalftoneError('invalid_policy', 'There is no ranking.', { next: 'Write it again.' });
    },
    mergeResults: async (texts) => {
      fake.calls.push(`merge ${texts.length}`);
      if (fake.mergeError !== undefined) throw fake.mergeError;
      return JSON.parse(texts[0]!);
    },
    compareResults: async (a, b) => ({
      metric: 'psnr',
      higher_is_worse: false,
      both: a.ranking.map(({ name, score, rank }, i) => ({
        name,
        before: score,
        after: b.ranking[i]!.score,
        difference: b.ranking[i]!.score! - score!,
        rank_before: rank,
        rank_after: b.ranking[i]!.rank,
      })),
      only_before: [{ name: 'old\u0007', score: 1, rank: 3 }],
      only_after: [],
      warnings: [],
    }),
    close: async () => {
      fake.closed = true;
    },
  };
  const context: Context = {
    terminal: {
      out: (text) => (out += text),
      err: (text) => (err += text),
      errIsTty: options.tty === true,
      now: () => 0,
    },
    halftone: {
      version: '0.1.0',
      createEngine: (chosen) => {
        fake.calls.push(`engine ${JSON.stringify(chosen)}`);
        return engine as Engine;
      },
      compare: async (_a, _b, samples) => ({
        outputs: [{ name: 'z', psnr: 20, max_abs_error: 0.5, sqnr: null, cosine: 0.999 }],
        samples: samples.count,
        runner: 'web',
        warnings: samples.warnings,
      }),
    },
    signal: new AbortController().signal,
  };
  const status = await main(args, context);
  return { status, out, err, fake };
}
