// Scores of whole models that onnxruntime can't simply be fed with: inputs of codes, and float8.
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createEngine,
  type Engine,
  type Model,
  type PlanOptions,
  type SampleSet,
} from '../../bindings/js/src/index.js';
import { openGraph } from './golden_models.js';

let engine: Engine;

beforeAll(() => {
  engine = createEngine({ workers: 1 });
});

afterAll(() => engine.close());

async function scored(graph: string, options: PlanOptions) {
  const { model, samples } = await openGraph(engine, graph);
  const plan = await model.plan({ target: 'tensorrt', ...options }, samples);
  const encodings = await model.calibrate(plan, samples);
  const score = await model.score(plan, encodings, samples);
  const { report, model: written } = await model.quantize(plan, encodings);
  await model.close();
  expect(await engine.liveObjects()).toBe(0);
  return { plan, score, report, written };
}

it('a model that takes codes is scored with the pairs that its caller will have', async () => {
  const direct = await scored('g01_res_identity', { directIo: true });
  const plain = await scored('g01_res_identity', {});
  expect(direct.plan.options.direct_io).toBe(true);
  const opened = await engine.open(direct.written);
  expect((await opened.inspect()).model.inputs[0]!.type).toBe('int8');
  await opened.close();
  expect(direct.score.simulated).toBe(plain.score.simulated);
  expect(direct.score.fused).toBe(plain.score.fused);
  expect(plain.score.simulated).toBeGreaterThan(20);
});

it.each(['g03_res_downsample', 'g15_hardswish_op', 'g17_relu6_fan'])(
  '%s in float8 is simulated; what the default options can not run is said',
  async (graph) => {
    const { score, report } = await scored(graph, { weights: 'float8e4m3fn' });
    expect(score.simulated).toBeGreaterThan(10);
    expect(score.simulated).toBeLessThan(60);
    expect(Object.keys(report.sizes_by_type)).toContain('float8e4m3fn');
    if (Number.isNaN(score.fused)) {
      expect(score.warnings.map(({ code }) => code)).toEqual(['not_run_by_default']);
    } else {
      expect(score.warnings).toEqual([]);
      expect(Math.abs(score.fused - score.simulated)).toBeLessThan(6);
    }
  },
);

it('a default run that means something else than the pairs is said: its optimizer drops a Relu in front of float8', async () => {
  const { score } = await scored('g51_outputs_conv', { weights: 'float8e4m3fn' });
  expect(score.simulated).toBeGreaterThan(40);
  expect(score.fused).toBeLessThan(score.simulated - 6);
  expect(score.warnings.map(({ code }) => code)).toEqual(['fused_differs']);
});

async function outputsOf(model: Model, samples: SampleSet, optimization: 'exact' | 'disabled') {
  const values: number[] = [];
  for await (const outputs of model.runEach(samples, { optimization })) {
    for (const { data } of Object.values(outputs)) values.push(...(data as Float32Array));
  }
  return values;
}

// A Relu before a float8 QuantizeLinear matters, since its codes are signed, whatever the runtime's optimizers hold.
it.each([
  'g03_res_downsample',
  'g05_bottleneck_identity',
  'g11_conv_bn_relu_pool',
  'g29_gemm_transb1',
  'g47_shared_conv',
  'g51_outputs_conv',
])('%s in float8 computes with the exact options what it computes node by node', async (graph) => {
  const { written, score } = await scored(graph, { weights: 'float8e4m3fn' });
  expect(score.simulated).toBeGreaterThan(30);
  const { model, samples } = await openGraph(engine, graph);
  const quantized = await engine.open(written);
  const exact = await outputsOf(quantized, samples, 'exact');
  const nodeByNode = await outputsOf(quantized, samples, 'disabled');
  await Promise.all([model.close(), quantized.close()]);
  // The kernel that fuses Conv with Relu may round the last bit otherwise.
  const peak = nodeByNode.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  expect(exact).toHaveLength(nodeByNode.length);
  const far = exact.filter((value, i) => !(Math.abs(value - nodeByNode[i]!) <= 1e-6 * peak));
  expect(far).toEqual([]);
});
