// Runs of first-order models on this thread.
import { readFileSync } from 'node:fs';
import * as ort from 'onnxruntime-web/wasm';
import type { ModelHandle } from '../../bindings/js/src/client/model.js';
import type { Encodings, Model, Plan } from '../../bindings/js/src/index.js';
import type { Shapes, SiteSwitch, Skeleton, StoredFile } from '../../bindings/js/src/shared/protocol.js';

export type FirstOrder = Skeleton & { cotangent: string; effects: string };

export interface TestSweep {
  scored: string[];
  sites: string[];
  files: readonly StoredFile[];
  firstOrder: (sites: string[], shapes: Shapes) => Promise<FirstOrder>;
  /** With switches for all sites. */
  switched: () => Promise<Skeleton & { switches: SiteSwitch[]; start: string }>;
}

const AS_A_SWEEP: ort.InferenceSession.SessionOptions = {
  executionProviders: ['wasm'],
  graphOptimizationLevel: 'all',
  logSeverityLevel: 3,
  extra: {
    session: { disable_quant_qdq: '1', disable_double_qdq_remover: '1', disable_prepacking: '1' },
    optimization: { disable_specified_optimizers: 'ClipQuantRewrite;ReluQuantRewrite' },
  },
};

export function tensorOf(values: Float32Array, dims: readonly number[]): ort.Tensor {
  return new ort.Tensor('float32', values, dims);
}

export function norm(values: Float32Array): number {
  return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
}

/** Of a whole file, or of a skeleton over a model's files. */
export function openSession(
  model: Uint8Array,
  skeleton?: Skeleton,
  files: readonly StoredFile[] = [],
): Promise<ort.InferenceSession> {
  const externalData = [
    ...(skeleton?.buffers ?? []).map(({ path, bytes }) => ({ path, data: bytes })),
    ...files.flatMap(({ path, source }) =>
      'path' in source ? [{ path, data: new Uint8Array(readFileSync(source.path)) }] : [],
    ),
  ];
  return ort.InferenceSession.create(model, { ...AS_A_SWEEP, externalData });
}

/** A sweep without its engine's scores, for as long as the work takes. */
export async function withSweep<T>(
  model: Model,
  plan: Plan,
  encodings: Encodings,
  score: string[],
  work: (sweep: TestSweep) => Promise<T>,
): Promise<T> {
  const { files } = model as ModelHandle;
  const { core, model: handle } = await (model as ModelHandle).core();
  const choice = { score, by: 'quantizer', groups: null, only: '' as const, sweep: 'enable' as const };
  const info = await core.call('sweep.start', { model: handle, plan, encodings, choice });
  const { sweep } = info;
  try {
    return await work({
      scored: info.scored,
      files,
      sites: info.groups.flatMap((group) => group.sites),
      firstOrder: (sites, shapes) => core.call('sweep.first_order', { sweep, sites, shapes }),
      switched: () =>
        core.call('sweep.switched', { sweep, groups: info.groups.map((_, i) => i), stages: [] }),
    });
  } finally {
    await core.call('sweep.end', { sweep });
  }
}

/** The effects of all sites for one cotangent. */
export async function effectsOf(
  order: FirstOrder,
  files: readonly StoredFile[],
  inputs: Record<string, ort.Tensor>,
  cotangent: ort.Tensor,
): Promise<Float32Array> {
  const session = await openSession(order.model, order, files);
  const results = await session.run({ ...inputs, [order.cotangent]: cotangent });
  await session.release();
  return results[order.effects]!.data as Float32Array;
}
