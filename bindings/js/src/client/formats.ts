// Number formats on tensors: encoded, decoded, compared. What is written leaves in pieces, so that neither this thread nor
// the core ever holds an array as a whole.
import { toWireSource } from '../platform/source.js';
import { HalftoneError } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import type { EncodeRequest, FormatChoice, Operations } from '../shared/protocol.js';
import type {
  ByteSource,
  Cancellable,
  CompareFormatsOptions,
  DecodedTensor,
  DecodeOptions,
  EncodedTensor,
  EncodeOptions,
  FormatFigures,
  Model,
  StorageFormat,
  TensorComparison,
  TensorSource,
  WeightInfo,
  WeightRef,
} from '../types.js';
import type { Connection } from './connection.js';
import { ModelHandle } from './model.js';
import { arrayOf, countOf } from './tensor_source.js';

export async function formats(core: Connection, block = 0): Promise<StorageFormat[]> {
  return core.call('formats', { block });
}

export async function encodeTensor(
  core: Connection,
  source: TensorSource,
  options: EncodeOptions,
): Promise<EncodedTensor> {
  const { array } = await arrayOf(source);
  const info = await core.call('encode.start', { array, request: requestOf(options) }, callOf(options));
  const count = countOf(array.dims);
  const kept = info.parts.map(() => [] as Blob[]);
  const written = info.parts.map(() => 0);
  const tensorScale = await drain(
    core,
    info.feed,
    options,
    new ProgressReporter('encode', 'bytes', info.passes * bytesOf(array), options.onProgress),
    async (part, bytes) => {
      written[part]! += bytes.length;
      if (options.write === undefined) kept[part]!.push(new Blob([bytes]));
      else await options.write(bytes, info.parts[part]!.name);
    },
  );
  const parts = info.parts.map(({ name, bytes }, i) => {
    if (bytes !== 0 && written[i] !== bytes)
      throw new HalftoneError('internal', 'The encoded tensor came back incomplete.');
    return { name, bytes: written[i]!, content: new Blob(kept[i], { type: 'application/octet-stream' }) };
  });
  const family = (await formats(core)).find(({ name }) => name === options.format)!.family;
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0) + (tensorScale === null ? 0 : 4);
  const bitsPerWeight = count === 0 ? 0 : (bytes * 8) / count;
  const { type, dims } = array;
  return {
    format: options.format,
    family,
    block: info.block,
    type,
    dims,
    count,
    bytes,
    bitsPerWeight,
    parts,
    tensorScale,
  };
}

export async function decodeTensor(
  core: Connection,
  source: ByteSource,
  options: DecodeOptions,
): Promise<DecodedTensor> {
  const wire = await toWireSource(source);
  const { feed, ...info } = await core.call(
    'decode.start',
    { source: wire, type: options.type ?? '' },
    callOf(options),
  );
  const kept: Blob[] = [];
  let written = 0;
  // The payload's length isn't known here; values are what a person waits for.
  const progress = new ProgressReporter('decode', 'bytes', info.bytes, options.onProgress);
  await guarded(core, feed, async () => options.start?.(info));
  await drain(core, feed, options, null, async (_, bytes) => {
    written += bytes.length;
    if (options.write === undefined) kept.push(new Blob([bytes]));
    else await options.write(bytes);
    progress.advance(bytes.length);
  });
  progress.finish();
  if (written !== info.bytes) throw new HalftoneError('internal', 'The decoded tensor came back incomplete.');
  return { ...info, content: new Blob(kept, { type: 'application/octet-stream' }) };
}

/** Of formats that keep codes and scales apart; the values as float32. */
export async function decodeParts(
  core: Connection,
  encoded: EncodedTensor,
  options: Cancellable,
): Promise<Float32Array<ArrayBuffer>> {
  const part = (wanted: string) => encoded.parts.find(({ name }) => name === wanted)?.content ?? new Blob([]);
  const { format, block, count, tensorScale } = encoded;
  return core.call(
    'decode.stored',
    {
      request: { format, block, count, tensorScale },
      codes: part('codes'),
      scales: part('scales'),
      zeroPoints: part('zero_points'),
    },
    callOf(options),
  );
}

/** Every format in every block size over every tensor, each tensor read once (twice for a scale of the tensor). */
export async function compareFormats(
  core: Connection,
  tensors: readonly (TensorSource | WeightRef)[],
  choices: readonly FormatChoice[],
  options: CompareFormatsOptions,
): Promise<TensorComparison[]> {
  if (choices.length === 0) {
    throw new HalftoneError('invalid_policy', 'No format was given.', { next: 'Give one or more formats.' });
  }
  const results: TensorComparison[] = [];
  const known = new Map<Model, Promise<WeightInfo[]>>();
  for (const tensor of tensors) {
    const { name, dims, wire } = await comparedTensor(tensor, known);
    const rows = await core.call('formats.compare', { tensor: wire, choices: [...choices] }, callOf(options));
    const winner = bestOf(rows, options.bitsPerWeight ?? Infinity);
    results.push({ tensor: name, dims, count: countOf(dims), formats: rows, winner });
  }
  return results;
}

/** Each format with each block size that it can have; without block sizes, with its own. */
export function formatChoices(
  known: readonly StorageFormat[],
  names: readonly string[],
  blocks: readonly number[],
): FormatChoice[] {
  const choices = names.flatMap((name): FormatChoice[] => {
    const format = known.find((other) => other.name === name);
    if (format === undefined || blocks.length === 0 || !format.anyBlock) return [[name, 0]];
    return blocks.map((block) => [name, block]);
  });
  return choices.filter(
    ([name, block], i) => choices.findIndex((other) => other[0] === name && other[1] === block) === i,
  );
}

async function comparedTensor(tensor: TensorSource | WeightRef, known: Map<Model, Promise<WeightInfo[]>>) {
  if (!(tensor instanceof Float32Array) && 'model' in tensor) {
    const { model } = tensor;
    if (!(model instanceof ModelHandle))
      throw new HalftoneError('invalid_state', 'This model is of another engine or version.');
    const weights = known.get(model) ?? model.weights(0);
    known.set(model, weights);
    const info = (await weights).find((weight) => weight.tensor === tensor.tensor);
    const handle = (await (await model.inFormats()).core()).model;
    return { name: tensor.tensor, dims: info?.dims ?? [], wire: { model: handle, tensor: tensor.tensor } };
  }
  const { name, array } = await arrayOf(tensor);
  return { name, dims: array.dims, wire: array };
}

function bestOf(rows: TensorComparison['formats'], mostBits: number): TensorComparison['winner'] {
  const fitting = rows.filter(
    (row): row is FormatFigures => !('error' in row) && row.count > 0 && row.bitsPerWeight <= mostBits,
  );
  const best = fitting.reduce<FormatFigures | null>(
    (before, row) =>
      before === null ||
      row.rmsError < before.rmsError ||
      (row.rmsError === before.rmsError && row.bitsPerWeight < before.bitsPerWeight)
        ? row
        : before,
    null,
  );
  return best === null ? null : { format: best.format, block: best.block };
}

function requestOf(options: EncodeOptions): EncodeRequest {
  const list = (numbers: readonly number[] | undefined) => (numbers === undefined ? null : [...numbers]);
  return {
    format: options.format,
    block: options.block ?? 0,
    name: options.name ?? null,
    scales: list(options.scales),
    zeroPoints: list(options.zeroPoints),
    offsets: list(options.offsets),
    codebooks: list(options.codebooks),
    permutation: list(options.permutation),
    forward: list(options.forward),
    inverse: list(options.inverse),
    outliers: list(options.outliers),
  };
}

function callOf({ signal, onProgress }: Cancellable) {
  return { signal, onProgress };
}

function bytesOf({ type, dims }: { type: string; dims: number[] }): number {
  const width = type === 'double' ? 8 : type === 'float32' ? 4 : 2;
  return countOf(dims) * width;
}

/** Takes all that a feed gives; the next piece is made while the last is written. */
async function drain(
  core: Connection,
  feed: number,
  { signal }: Cancellable,
  progress: ProgressReporter | null,
  write: (part: number, bytes: Uint8Array<ArrayBuffer>) => Promise<void>,
): Promise<number | null> {
  return guarded(core, feed, async () => {
    type Made = Operations['feed.next']['out'];
    const ask = (): Promise<Made> => core.call('feed.next', { feed }, { signal });
    let pending: Promise<Made> | null = ask();
    while (pending !== null) {
      const made: Made = await pending;
      pending = made.done ? null : ask();
      // Its failure is met at the next await; meanwhile it isn't unhandled.
      pending?.catch(() => {});
      for (const [part, bytes] of made.pieces) await write(part, bytes);
      progress?.advance(made.read);
    }
    progress?.finish();
    return (await core.call('feed.end', { feed }, { signal }))?.tensorScale ?? null;
  });
}

/** A feed is put away if anything fails. */
async function guarded<T>(core: Connection, feed: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (core.connected) await core.call('feed.drop', { feed }).catch(() => {});
    throw error;
  }
}
