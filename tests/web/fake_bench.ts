// A bench without a worker: a small made-up model, answers at once or when the test says. For tests of the page's own logic.
import type { Bench } from '../../web/src/engine/bench.js';
import { layoutGraph } from '../../web/src/graph/layout.js';
import type {
  Encodings,
  Flip,
  Model,
  ModelGraph,
  ModelSummary,
  ParetoPoint,
  Plan,
  PlanOptions,
  Sample,
  SampleSet,
  SensitivityResults,
  SensitivityRow,
  Site,
} from '../../web/src/package.js';

export interface FakeOptions {
  layers?: number;
  /** Awaited before every row and every calibrated sample. */
  pause?: (signal: AbortSignal | undefined) => Promise<void>;
  openFails?: (name: string, data: readonly string[]) => unknown;
}

export interface FakeBench extends Bench {
  closed: string[];
  plans: PlanOptions[];
  /** Plans that were scored. */
  scored: Plan[];
  /** First samples of the sets that plans were made with. */
  shapesFrom: string[];
  /** Sweeps that were started, and how many rows each went on from. */
  sweeps: { metric: unknown; by: unknown; resumed: number }[];
  flips: number;
  /** Patterns that were asked about, in the order of asking. */
  previews: string[];
}

function siteOf(tensor: string, index: number, options: PlanOptions): Site {
  const weight = index % 2 === 1;
  const channel = weight && options.perChannel !== false;
  return {
    tensor,
    role: weight ? 'weight' : 'activation',
    quantized: true,
    format: weight ? (options.weights ?? 'int8') : (options.activations ?? 'uint8'),
    granularity: channel ? 'channel' : 'tensor',
    axis: channel ? 0 : null,
    block_size: null,
    symmetric: weight,
    scale_group: null,
    rule: weight ? 'ort.weight' : 'ort.activation',
    why: weight ? 'Constant second input of a Conv.' : 'First input of a Conv.',
    consumers: [[`Conv_${index >> 1}`, index % 2]],
  };
}

export function fakePlan(layers: number, options: PlanOptions): Plan {
  const names = Array.from({ length: layers * 2 }, (_, index) =>
    index % 2 === 1 ? `conv_${index >> 1}.weight` : `activation_${index >> 1}`,
  );
  return {
    halftone: '0.1.0',
    model_sha256: 'a'.repeat(64),
    target: options.target ?? 'onnxruntime',
    match: options.match ?? null,
    options: { ...options, direct_io: options.directIo === true },
    sites: names.map((name, index) => siteOf(name, index, options)),
    inputs: [],
    warnings: [],
  };
}

/** Distinct and without order, from 41 to 96 dB. */
export function fakeScore(index: number): number {
  return 41 + ((index * 37) % 101) * 0.5437 + index * 1e-4;
}

function summaryOf(name: string, layers: number): ModelSummary {
  return {
    model: {
      name,
      sha256: 'a'.repeat(64),
      bytes: 585532,
      ir_version: 7,
      opset: { '': 13 },
      producer: 'fake',
      inputs: [{ name: 'x', type: 'float32', shape: ['batch', 3, 48, 192] }],
      outputs: [{ name: 'y', type: 'float32', shape: ['batch', 2] }],
    },
    nodes: layers * 3,
    operators: { Conv: layers, Relu: layers, Add: layers >> 1, Softmax: 1 },
    parameters: { count: 140000, bytes: 560000 },
    quantized: { pairs: 0 },
    targets: { onnxruntime: { sites: layers * 2, quantized: layers * 2, inputs_by_rule: {} } },
    warnings: [],
  };
}

function encodingsOf(plan: Plan, samples: number): Encodings {
  const entries = plan.sites.map((site, index) => {
    const scale = site.granularity === 'channel' ? [0.01, 0.02, 0.015] : [(index + 1) * 0.01];
    const encoding = {
      format: site.format,
      scale,
      zero_point: scale.map(() => (site.symmetric ? 0 : 128)),
      axis: site.axis,
      min: scale.map((value) => -128 * value),
      max: scale.map((value) => 127 * value),
    };
    return [site.tensor, encoding] as const;
  });
  return {
    halftone: '0.1.0',
    model_sha256: plan.model_sha256,
    method: 'minmax',
    samples,
    encodings: Object.fromEntries(entries),
  };
}

function resultsOf(rows: readonly SensitivityRow[], plan: Plan, samples: number): SensitivityResults {
  const sorted = [...rows].sort((a, b) => a.score - b.score || a.order - b.order);
  return {
    ranking: sorted.map((row, index) => ({ rank: index + 1, name: row.name, score: row.score })),
    halftone: {
      version: '0.1.0',
      model_sha256: plan.model_sha256,
      target: 'onnxruntime',
      method: 'minmax',
      metric: 'psnr',
      higher_is_worse: false,
      scored: ['logits'],
      samples,
      by: 'quantizer',
      interval: [],
      skipped: [],
      warnings: [],
    },
  };
}

/** Layers of a convolution with its activation, and a sum that skips every second one. */
export function fakeGraph(layers: number, scoped = false): ModelGraph {
  const nodes: ModelGraph['nodes'] = [];
  const name = (layer: number, op: string): string => (scoped ? `/layer${layer}/${op}` : `${op}_${layer}`);
  for (let layer = 0; layer < layers; ++layer) {
    const [input, conv] = [`activation_${layer}`, `convolved_${layer}`];
    const output = layer + 1 === layers ? 'y' : `activation_${layer + 1}`;
    nodes.push({
      label: name(layer, 'Conv'),
      op: 'Conv',
      inputs: [input, `conv_${layer}.weight`],
      outputs: [conv],
    });
    nodes.push({ label: name(layer, 'Relu'), op: 'Relu', inputs: [conv], outputs: [`rectified_${layer}`] });
    nodes.push({
      label: name(layer, 'Add'),
      op: 'Add',
      inputs: [`rectified_${layer}`, input],
      outputs: [output],
    });
  }
  const constants = Array.from({ length: layers }, (_, layer) => `conv_${layer}.weight`);
  return { inputs: ['activation_0'], outputs: ['y'], nodes, constants };
}

class FakeModel implements Model {
  readonly bytes = 585532;

  constructor(
    readonly name: string,
    private readonly options: Required<Pick<FakeOptions, 'layers' | 'pause'>>,
    private readonly log: FakeBench,
  ) {}

  async inspect(): Promise<ModelSummary> {
    return summaryOf(this.name, this.options.layers);
  }

  async plan(options: PlanOptions = {}, samples?: SampleSet): Promise<Plan> {
    this.log.plans.push(options);
    if (samples !== undefined) this.log.shapesFrom.push(samples.name(0));
    if (samples?.name(0) === 'unfit_0.npy') throw { code: 'invalid_sample', message: 'It does not fit' };
    const plan = fakePlan(this.options.layers, options);
    const shapes = samples === undefined ? [] : [{ tensor: 'activation_1', shape: [1, 8] }];
    return { ...plan, options: { ...plan.options, sample_shapes: shapes } };
  }

  async checkPlan(): Promise<void> {}

  async previewPatterns(patterns: string[]) {
    this.log.previews.push(...patterns);
    await this.options.pause(undefined);
    const { layers } = this.options;
    const names = Array.from({ length: layers }, (_, layer) => `Conv_${layer}`);
    return patterns.map((pattern) => {
      if (pattern === 're:(') throw { code: 'invalid_policy', message: 'The pattern "re:(" ends early' };
      const nodes = pattern === 'op:Conv' ? names : names.filter((name) => name === pattern);
      return { pattern, nodes, tensors: [], near_misses: nodes.length > 0 ? [] : ['Conv_0'] };
    });
  }

  async calibrate(
    ...[plan, samples, { signal, onProgress } = {}]: Parameters<Model['calibrate']>
  ): Promise<Encodings> {
    for (let index = 0; index < samples.count; ++index) {
      await this.options.pause(signal);
      signal?.throwIfAborted();
      onProgress?.({ phase: 'calibrate', done: index + 1, total: samples.count, unit: 'runs' });
    }
    return encodingsOf(await plan, samples.count);
  }

  sensitivity(
    ...[plan, , samples, { signal, onProgress, onRow, resume, metric, by } = {}]: Parameters<
      Model['sensitivity']
    >
  ) {
    const rows: SensitivityRow[] = [];
    const { pause } = this.options;
    const { sweeps } = this.log;
    sweeps.push({ metric, by, resumed: resume?.ranking.length ?? 0 });
    const known = new Set(resume?.ranking.map(({ name }) => name));
    async function* all(): AsyncGenerator<SensitivityRow> {
      const { sites } = await plan;
      for (const [order, site] of sites.entries()) {
        const role = site.role === 'weight' ? 'weight' : 'activation';
        const score = fakeScore(order);
        const row = {
          name: site.tensor,
          score,
          role,
          order,
          sites: [site.tensor],
          samples: samples.count,
        } as const;
        if (!known.has(row.name)) {
          onRow?.({ ...row, score: score + 1, interval: null, samples: 1, sites: [...row.sites] });
          await pause(signal);
          signal?.throwIfAborted();
        }
        rows.push({ ...row, interval: [score - 2, score + 2], sites: [...row.sites] });
        onProgress?.({ phase: 'sensitivity', done: rows.length, total: sites.length, unit: 'runs' });
        yield rows.at(-1) as SensitivityRow;
      }
    }
    const partial = async () => resultsOf(rows, await plan, samples.count);
    const costs = () => ({ sessions: 0, create_ms: 0, runs: 0, run_ms: 0, metric_ms: 0 });
    return { [Symbol.asyncIterator]: all, results: partial, partial, costs };
  }

  async localRanking() {
    return [];
  }

  async weights() {
    return [];
  }

  async encodeWeights(): Promise<never> {
    throw new Error('not in the fake');
  }

  async decodeWeights(): Promise<never> {
    throw new Error('not in the fake');
  }

  async toStandard(): Promise<never> {
    throw new Error('not in the fake');
  }

  async graph() {
    const { layers } = this.options;
    return fakeGraph(layers);
  }

  async propagation(...[plan]: Parameters<Model['propagation']>) {
    const { sites } = await plan;
    return sites.map(({ tensor }, at) => ({
      tensor,
      node: `Conv_${at}`,
      op: 'Conv',
      psnr: 60 - at,
      sqnr: 50 - at,
      mse: 0.01,
    }));
  }

  async cost() {
    return { weight_bytes: 1000, macs: 1, bit_ops: 64, unknown: [] };
  }

  async flip(
    ...[plan, encodings, results, { threshold, worst, names, percent, to }]: Parameters<Model['flip']>
  ): Promise<Flip> {
    const ranked = results.ranking.map(({ name }) => name);
    const share = Math.ceil(((percent ?? 0) / 100) * ranked.length);
    const below = results.ranking.filter(({ score }) => score !== null && score < (threshold ?? -1)).length;
    const flipped = [...(names ?? ranked.slice(0, worst ?? (percent === undefined ? below : share)))];
    const sites = plan.sites.map((site) =>
      flipped.includes(site.tensor) ? { ...site, format: (to.weights ?? 'int16') as Site['format'] } : site,
    );
    this.log.flips += 1;
    const cost = await this.cost();
    return {
      plan: { ...plan, sites },
      encodings,
      flipped,
      before: cost,
      after: { ...cost, weight_bytes: 1000 + flipped.length },
      predicted: 40 + flipped.length,
      warnings: [],
    };
  }

  async pareto(...[plan, encodings, , , { onPoint, signal }]: Parameters<Model['pareto']>) {
    const points: ParetoPoint[] = [];
    for (let at = 0; at < 3; ++at) {
      await this.options.pause(signal);
      signal?.throwIfAborted();
      const cost = { weight_bytes: 1000 + at, macs: 1, bit_ops: 64 + at, unknown: [] };
      const flipped = plan.sites.slice(0, at).map(({ tensor }) => tensor);
      points.push({ flipped, plan, encodings, score: 40 + at, cost, front: true, warnings: [] });
      onPoint?.(points.at(-1) as ParetoPoint);
    }
    return points;
  }

  async quantize() {
    const report = {
      output: '',
      bytes: 170000,
      float_bytes: 585532,
      nodes: 300,
      quantized_nodes: { Conv: this.options.layers },
      quantized_node_names: Array.from({ length: this.options.layers }, (_, layer) => `conv_${layer}`),
      concat_groups: [],
      sites: { quantized: this.options.layers * 2, by_rule: {}, float_by_rule: {} },
      sizes_by_type: { int8: 140000 },
      score: { simulated: null, fused: null },
      warnings: [],
      changes: [{ what: 'Weights stored as int8 behind DequantizeLinear.', where: 'conv_0.weight' }],
    };
    return { model: new Blob(['quantized']), report };
  }

  async score(...[plan]: Parameters<Model['score']>) {
    this.log.scored.push(await plan);
    return { simulated: 38.125, fused: 37.5, scored: ['logits'], warnings: [] };
  }

  async run(sample: Parameters<Model['run']>[0]) {
    const first = (sample.x?.data as Float32Array | undefined)?.[0] ?? 0;
    return { y: { type: 'float32', dims: [1, 2], data: new Float32Array([1 - first, first]) } };
  }

  async *runEach(samples: SampleSet): AsyncGenerator<Sample> {
    for (let index = 0; index < samples.count; ++index) yield this.run(await samples.load(index));
  }

  async statistics(...[tensor, , { encoding } = {}]: Parameters<Model['statistics']>) {
    const histogram = Array.from({ length: 64 }, (_, bin) =>
      Math.round(4000 * Math.exp(-(((bin - 26) / 9) ** 2))),
    );
    return {
      tensor,
      count: 9216,
      min: -1.31,
      max: 1.62,
      histogram,
      clipped: encoding === undefined ? null : 0.0002,
      sqnr: encoding === undefined ? null : 38.1,
    };
  }

  async close(): Promise<void> {
    this.log.closed.push(this.name);
  }
}

export function fakeSamples(count: number, random = false, stem = 'sample'): SampleSet {
  return {
    count,
    warnings: [],
    random,
    name: (index) => `${stem}_${index}.npy`,
    load: async (index) => ({ x: { type: 'float32', dims: [1], data: new Float32Array([index % 2]) } }),
  };
}

export function fakeBench(options: FakeOptions = {}): FakeBench {
  const { layers = 54, pause = async () => {} } = options;
  const bench: FakeBench = {
    closed: [],
    plans: [],
    scored: [],
    shapesFrom: [],
    previews: [],
    sweeps: [],
    flips: 0,
    bundled: [
      {
        id: 'text-direction',
        title: 'Text direction',
        what: 'Tells whether a line of text stands upright or upside down.',
        modelBytes: 578966,
        sampleBytes: 6557,
        sampleCount: 8,
        sampleKind: 'image',
        labels: ['0°', '180°'],
      },
      {
        id: 'wake-embedding',
        title: 'Speech embedding',
        what: 'Turns 76 frames of a mel spectrogram into 96 numbers about what was said.',
        modelBytes: 1326578,
        sampleBytes: 78848,
        sampleCount: 8,
        sampleKind: 'sample',
        labels: null,
      },
    ],
    warm: async () => ({ version: '0.1.0', commit: '0123456789ab' }),
    prepare: async () => {},
    open: async (model, { externalData }) => {
      const failure = options.openFails?.(
        model.name,
        externalData.map(({ path }) => path),
      );
      if (failure) throw failure;
      return new FakeModel(model.name, { layers, pause }, bench);
    },
    fetchSample: async () => ({
      model: new File(['onnx'], 'cls.onnx'),
      samples: [{ path: 'line_0.png', file: new File(['png'], 'line_0.png') }],
      image: null,
    }),
    readSamples: async ([first]) =>
      fakeSamples(8, false, first?.path.startsWith('unfit') ? 'unfit' : 'sample'),
    randomSamples: async (_inputs, count) => fakeSamples(count, true),
    runDeployed: async function* (_blob, _name, set) {
      for (let index = 0; index < set.count; ++index) {
        yield { y: { type: 'float32', dims: [1, 2], data: new Float32Array([0.25, 0.75]) } };
      }
    },
    formats: {
      formats: async () => [],
      compareFormats: async () => [],
      encodeTensor: () => Promise.reject(new Error('Not in this bench.')),
    },
    layOut: async (request) => layoutGraph(request),
    liveObjects: async () => 0,
    write: {
      plan: (value) => JSON.stringify(value),
      encodings: (value) => JSON.stringify(value),
      sensitivity: (value) => JSON.stringify(value),
      sensitivityCsv: () => 'rank,name,psnr_db\r\n',
    },
  };
  return bench;
}
