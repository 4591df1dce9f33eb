// AIMET's worked example end to end: placement, encodings observed behind quantized weights, and what each sweep finds, for
// weights of 4 and of 8 bits. The numbers are from an independent implementation of AIMET's formulas, to a thousandth of a dB.
import { describe, expect, it } from 'vitest';
import type { Encodings, Model, Plan, SampleSet, SensitivityOptions } from '../../bindings/js/src/index.js';
import { matmulRelu, matmulReluSamples } from './matmul_relu.js';
import { engine } from './test_engine.js';

const samples = matmulReluSamples();
const X = { scale: 0.0125490198, zero_point: 96 };

const COLUMNS = [
  {
    weights: 'int4',
    encodings: {
      W: { scale: [0.1875, 0.128571425], zero_point: [0, 0] },
      X: { scale: [X.scale], zero_point: [X.zero_point] },
      Y: { scale: [0.0165252101], zero_point: [197] },
      Z: { scale: [0.0037310923], zero_point: [0] },
    },
    quantizers: { W: 30.7145, X: 54.1105, Y: 49.205, Z: 52.4127 },
    ranking: ['W', 'Y', 'Z', 'X'],
    enabling: { MatMul: 30.0667, Relu: 52.4127 },
    disabling: { MatMul: 52.4127, Relu: 30.0667 },
    all: 30.1255,
  },
  {
    weights: 'int8',
    encodings: {
      W: { scale: [0.01171875, 0.007086614], zero_point: [0, 0] },
      X: { scale: [X.scale], zero_point: [X.zero_point] },
      Y: { scale: [0.0169043102], zero_point: [198] },
      Z: { scale: [0.003751737], zero_point: [0] },
    },
    quantizers: { W: 55.6075, X: 54.1105, Y: 44.56, Z: 65.1776 },
    ranking: ['Y', 'X', 'W', 'Z'],
    enabling: { MatMul: 44.56, Relu: 65.1776 },
    disabling: { MatMul: 65.1776, Relu: 44.56 },
    all: 47.2212,
  },
] as const;

interface Prepared {
  model: Model;
  plan: Plan;
  encodings: Encodings;
  samples: SampleSet;
}

async function prepared<T>(weights: 'int4' | 'int8', use: (one: Prepared) => Promise<T>): Promise<T> {
  const model = await engine.open(matmulRelu());
  try {
    const plan = await model.plan({ target: 'aimet', weights });
    const encodings = await model.calibrate(plan, samples);
    return await use({ model, plan, encodings, samples });
  } finally {
    await model.close();
  }
}

async function scores({ model, plan, encodings }: Prepared, options: SensitivityOptions) {
  const { ranking } = await model.sensitivity(plan, encodings, samples, options).results();
  return ranking.map(({ name, score }) => [name, score] as [string, number]);
}

function expectScores(got: [string, number][], expected: Record<string, number>): void {
  expect(got.map(([name]) => name).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, score] of got) {
    expect(Math.abs(score - expected[name]!), `${name}: ${score}, not ${expected[name]}`).toBeLessThan(1e-3);
  }
}

describe.each(COLUMNS)('weights $weights, activations uint8', (column) => {
  it('has the sites in the order of AIMET, and its encodings', async () => {
    await prepared(column.weights, async ({ plan, encodings }) => {
      const on = plan.sites.filter((site) => site.quantized);
      expect(on.map(({ tensor, role }) => [tensor, role])).toEqual([
        ['W', 'weight'],
        ['X', 'activation'],
        ['Y', 'activation'],
        ['Z', 'activation'],
      ]);
      for (const [tensor, expected] of Object.entries(column.encodings)) {
        const { scale, zero_point } = encodings.encodings[tensor]!;
        expect(zero_point, tensor).toEqual(expected.zero_point);
        scale.forEach((value, i) => {
          expect(Math.abs(value / expected.scale[i]! - 1), tensor).toBeLessThan(1e-6);
        });
      }
    });
  });

  it('ranks single quantizers', async () => {
    await prepared(column.weights, async (one) => {
      const got = await scores(one, {});
      expectScores(got, column.quantizers);
      expect(got.map(([name]) => name)).toEqual(column.ranking);
    });
  });

  it('ranks layers by enabling and by disabling them', async () => {
    await prepared(column.weights, async (one) => {
      expectScores(await scores(one, { by: 'layer' }), column.enabling);
      expectScores(await scores(one, { by: 'layer', sweep: 'disable' }), column.disabling);
    });
  });

  it('scores the whole', async () => {
    await prepared(column.weights, async ({ model, plan, encodings }) => {
      const { simulated } = await model.score(plan, encodings, samples);
      expect(Math.abs(simulated - column.all)).toBeLessThan(1e-3);
    });
  });
});

it('a saved model runs, and what it gives lies on the grid of its last quantizer', async () => {
  await prepared('int8', async ({ model, plan, encodings }) => {
    const { model: written } = await model.quantize(plan, encodings);
    const opened = await engine.open(written);
    const sample = await samples.load(1);
    const { Z } = await opened.run(sample, { outputs: ['Z'] });
    await opened.close();
    const { scale } = encodings.encodings.Z!;
    expect(Z!.data).toHaveLength(2);
    for (const value of Z!.data as Float32Array) {
      const code = value / scale[0]!;
      expect(Math.abs(code - Math.round(code))).toBeLessThan(1e-4);
      expect(code).toBeGreaterThan(0);
    }
  });
});

it('takes an AIMET configuration, and says where it is wrong', async () => {
  const model = await engine.open(matmulRelu());
  const config = {
    defaults: {
      ops: { is_output_quantized: 'True' },
      params: { is_quantized: 'True', is_symmetric: 'True' },
    },
    supergroups: [{ op_list: ['MatMul', 'Relu'] }],
    hardware: 'any',
  };
  const plan = await model.plan({ target: 'aimet', config });
  expect(plan.sites.filter((site) => site.quantized).map((site) => site.tensor)).toEqual(['W', 'Z']);
  expect(plan.options.config).toEqual(config);
  expect(plan.warnings.map(({ code, where }) => [code, where])).toEqual([
    ['config_key_unknown', '$.hardware'],
  ]);
  await expect(model.plan({ target: 'aimet', config: { defaults: { ops: 'on' } } })).rejects.toMatchObject({
    code: 'invalid_policy',
    message: 'In the AIMET configuration, $.defaults.ops is not an object.',
  });
  await expect(model.plan({ config })).rejects.toMatchObject({
    message: 'The option config has no meaning for target onnxruntime.',
  });
  await model.close();
});
