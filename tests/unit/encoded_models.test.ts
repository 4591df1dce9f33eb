// Models with their weights in number formats: encoded, plain again, and in standard operators that onnxruntime runs.
import * as ort from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';
import type { ConvertedModel, Model } from '../../bindings/js/src/index.js';
import { engine, rejection } from './test_engine.js';

const [K, N] = [64, 48];

// ---- a model of one MatMul, written by hand

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}
const int = (field: number, value: number) => [...varint(field * 8), ...varint(value)];
const block = (field: number, bytes: ArrayLike<number>) => [
  ...varint(field * 8 + 2),
  ...varint(bytes.length),
  ...Array.from(bytes),
];
const text = (field: number, value: string) => block(field, new TextEncoder().encode(value));

function valueInfo(field: number, name: string, dims: number[]): number[] {
  const shape = dims.flatMap((dim) => block(1, int(1, dim)));
  return block(field, [...text(1, name), ...block(2, block(1, [...int(1, 1), ...block(2, shape)]))]);
}

function matmulModel(weights: Float32Array): Uint8Array {
  const raw = new Uint8Array(weights.buffer, weights.byteOffset, weights.byteLength);
  const tensor = [...int(1, K), ...int(1, N), ...int(2, 1), ...text(8, 'w'), ...block(9, raw)];
  const node = [
    ...text(1, 'x'),
    ...text(1, 'w'),
    ...text(2, 'y'),
    ...text(3, 'product'),
    ...text(4, 'MatMul'),
  ];
  const graph = [
    ...block(1, node),
    ...text(2, 'g'),
    ...block(5, tensor),
    ...valueInfo(11, 'x', [2, K]),
    ...valueInfo(12, 'y', [2, N]),
  ];
  return Uint8Array.from([...int(1, 10), ...block(7, graph), ...block(8, int(2, 21))]);
}

const wave = (count: number, step: number) =>
  Float32Array.from({ length: count }, (_, i) => Math.sin(i * step));

async function withModel(bytes: Uint8Array, work: (model: Model) => Promise<void>): Promise<void> {
  const model = await engine.open(bytes);
  try {
    await work(model);
  } finally {
    await model.close();
  }
}

const bytesOf = async ({ model }: ConvertedModel) => new Uint8Array(await model.arrayBuffer());

async function outputs(model: Uint8Array): Promise<Float32Array> {
  const session = await ort.InferenceSession.create(model, { graphOptimizationLevel: 'disabled' });
  const x = new ort.Tensor('float32', wave(2 * K, 0.37), [2, K]);
  const { y } = await session.run({ x });
  await session.release();
  return y!.data as Float32Array;
}

describe('weights of a model', () => {
  const weights = wave(K * N, 0.7);
  const bytes = matmulModel(weights);

  it('are listed', () =>
    withModel(bytes, async (model) => {
      expect(await model.weights()).toEqual([{ tensor: 'w', dims: [K, N], count: K * N }]);
      expect(await model.weights(K * N + 1)).toEqual([]);
    }));

  it('are compared where they are as outside of the model', () =>
    withModel(bytes, async (model) => {
      const formats = ['nf4', 'modelopt_nvfp4', 'onnx_int4', 'gguf_q4_0'];
      const [inside] = await engine.compareFormats([{ model, tensor: 'w' }], formats);
      const [outside] = await engine.compareFormats([{ name: 'w', data: weights, dims: [K, N] }], formats);
      expect(inside).toEqual(outside);
      const error = await rejection(engine.compareFormats([{ model, tensor: 'v' }], formats));
      expect(error.message).toBe('The model has no weight "v".');
    }));

  it('encoded and decoded are what the codec makes of the tensor', () =>
    withModel(bytes, async (model) => {
      const encoded = await model.encodeWeights({ format: 'int4', block: 32 });
      expect(encoded.report.encoded).toMatchObject([{ tensor: 'w', type: 'float32', dims: [K, N] }]);
      await withModel(await bytesOf(encoded), async (again) => {
        const plain = await again.decodeWeights();
        expect(plain.report.decoded).toMatchObject([{ tensor: 'w', floatBytes: K * N * 4 }]);
        const value = await engine.encodeTensor(
          { data: weights, dims: [K, N] },
          { format: 'int4', block: 32 },
        );
        const back = await engine.decodeTensor(new Uint8Array(await value.parts[0]!.content.arrayBuffer()));
        const expected = new Float32Array(await back.content.arrayBuffer());
        expect(await outputs(await bytesOf(plain))).toEqual(await outputs(matmulModel(expected)));
      });
    }));

  it.each([
    ['int4', 16, 'DequantizeLinear'],
    ['int8', 16, 'DequantizeLinear'],
    ['mxfp4', 16, 'DequantizeLinear'],
    ['ort_matmulnbits_int4', 16, 'MatMulNBits'],
    ['nf4', 64, 'MatMulBnb4'],
  ])('%s in standard operators runs, and gives what decoded weights give', (format, size, form) =>
    withModel(bytes, async (model) => {
      const options = { format, block: size, transpose: true };
      const made = await model.encodeWeights({ ...options, standard: { roundScales: true } });
      expect(made.report.left).toEqual([]);
      expect(made.report.standard).toMatchObject([{ tensor: expect.any(String), form }]);
      const encoded = await model.encodeWeights(options);
      await withModel(await bytesOf(encoded), async (again) => {
        const standard = await bytesOf(await again.toStandard({ roundScales: true }));
        expect(standard).toEqual(await bytesOf(made));
        const expected = await outputs(await bytesOf(await again.decodeWeights()));
        if (format === 'mxfp4') return; // no runtime here runs float4e2m1
        const actual = await outputs(standard);
        // Sums of 64 products of at most 1, in another order, with scales rounded to float32: 64 * 2^-22 at most.
        for (let i = 0; i < expected.length; ++i)
          expect(Math.abs(actual[i]! - expected[i]!)).toBeLessThan(64 * 2 ** -22);
      });
    }),
  );

  it('what isn’t encodable is said', () =>
    withModel(bytes, async (model) => {
      const layout = await rejection(model.encodeWeights({ format: 'gguf_q4_0' }));
      expect(layout.message).toContain('gguf_q4_0, which is no profile');
      const learned = await rejection(model.encodeWeights({ format: 'squeezellm' }));
      expect(learned.code).toBe('invalid_policy');
      const none = await model.encodeWeights({ format: 'nf4', tensors: ['nothing'] });
      expect(none.report.encoded).toEqual([]);
    }));
});
