// Writes the quantized model as a Blob made of pieces, so that no copy of the whole is ever in one place of memory.
import { HalftoneError } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import type { QuantizeInfo } from '../shared/protocol.js';
import type {
  Cancellable,
  Encodings,
  Plan,
  QuantizedModel,
  QuantizeOptions,
  QuantizeReport,
} from '../types.js';
import type { Connection } from './connection.js';
import type { ModelHandle } from './model.js';
import { provenanceOf } from './provenance.js';

type WrittenJob = Pick<QuantizeInfo, 'job' | 'modelBytes' | 'externalBytes'>;

const PIECE_BYTES = 16 * 2 ** 20;

export async function quantize(
  model: ModelHandle,
  plan: Plan,
  encodings: Encodings,
  options: QuantizeOptions,
): Promise<QuantizedModel> {
  const { signal } = options;
  const { method, samples } = provenanceOf(encodings);
  const { core, model: handle } = await model.core(options);
  const info = await core.call(
    'quantize.start',
    {
      model: handle,
      plan,
      encodings,
      method,
      samples: options.samples ?? samples,
      random: options.random === true,
      external: options.externalData ?? null,
    },
    { signal },
  );
  const written = await readWritten(core, info, options);
  return { ...written, report: reportOf(model, info, options.random === true) };
}

/** The files of a model that a job has written, and the end of the job. */
export async function readWritten(
  core: Connection,
  info: WrittenJob,
  { signal, onProgress }: Cancellable,
): Promise<{ model: Blob; externalData?: Blob }> {
  try {
    const progress = new ProgressReporter('write', 'bytes', info.modelBytes + info.externalBytes, onProgress);
    const read = (part: 0 | 1, bytes: number) => readPart(core, info, part, bytes, signal, progress);
    const model = await read(0, info.modelBytes);
    const externalData = info.externalBytes > 0 ? await read(1, info.externalBytes) : undefined;
    progress.finish();
    return externalData === undefined ? { model } : { model, externalData };
  } finally {
    if (core.connected) await core.call('quantize.end', { job: info.job }).catch(() => {});
  }
}

async function readPart(
  core: Connection,
  info: WrittenJob,
  part: 0 | 1,
  bytes: number,
  signal: AbortSignal | undefined,
  progress: ProgressReporter,
): Promise<Blob> {
  const parts: Blob[] = [];
  for (let offset = 0; offset < bytes; offset += PIECE_BYTES) {
    const length = Math.min(PIECE_BYTES, bytes - offset);
    const piece = await core.call('quantize.read', { job: info.job, part, offset, length }, { signal });
    if (piece.size !== length) throw new HalftoneError('internal', 'The written model came back incomplete.');
    parts.push(piece);
    progress.advance(length);
  }
  return new Blob(parts, { type: 'application/octet-stream' });
}

function reportOf(model: ModelHandle, info: QuantizeInfo, random: boolean): QuantizeReport {
  const warnings = [...info.warnings];
  if (info.sites.quantized === 0) {
    warnings.unshift({
      code: 'nothing_quantized',
      message:
        'Nothing was quantized: the written model is the float model. The plan says for each tensor why not.',
      where: '',
    });
  }
  if (random) {
    warnings.unshift({
      code: 'random_data',
      message: 'The model was calibrated with random numbers: don’t deploy it.',
      where: '',
    });
  }
  return {
    output: '',
    bytes: info.modelBytes + info.externalBytes,
    float_bytes: model.bytes,
    nodes: info.nodes,
    quantized_nodes: info.quantizedNodes,
    quantized_node_names: info.quantizedNodeNames,
    concat_groups: info.concatGroups,
    sites: {
      quantized: info.sites.quantized,
      by_rule: info.sites.byRule,
      float_by_rule: info.sites.floatByRule,
    },
    sizes_by_type: info.sizesByType,
    score: { simulated: null, fused: null },
    warnings,
    changes: info.changes,
  };
}
