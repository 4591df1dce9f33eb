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
  const { write } = options;
  const progress = new ProgressReporter('encode', 'bytes', info.passes * bytesOf(array), options.onProgress);
  const { made, tensorScale } = await drain(
    core,
    info.feed,
    info.parts.length,
    options,
    (read) => progress.advance(read),
    write && ((bytes, part) => write(bytes, info.parts[part]!.name)),
  );
  progress.finish();
  const parts = info.parts.map(({ name, bytes }, i) => {
    const part = made[i]!;
    if (bytes !== 0 && part.bytes !== bytes)
      throw new HalftoneError('internal', 'The encoded tensor came back incomplete.');
    return { name, ...part };
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
  // The payload's length isn't known here; values are what a person waits for.
  const progress = new ProgressReporter('decode', 'bytes', info.bytes, options.onProgress);
  await guarded(core, feed, async () => options.start?.(info));
  const report = (_: number, written: number) => progress.advance(written);
  const { made } = await drain(core, feed, 1, options, report, options.write);
  progress.finish();
  const { bytes, content } = made[0]!;
  if (bytes !== info.bytes) throw new HalftoneError('internal', 'The decoded tensor came back incomplete.');
  return { ...info, content };
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

/**
 * Takes all that a feed gives, as Blobs without `write`; the next piece is made while the last is written. `report` is told
 * how many bytes were read and how many were made of them.
 */
async function drain(
  core: Connection,
  feed: number,
  partCount: number,
  { signal }: Cancellable,
  report: (read: number, written: number) => void,
  write: ((bytes: Uint8Array<ArrayBuffer>, part: number) => void | Promise<void>) | undefined,
): Promise<{ made: { bytes: number; content: Blob }[]; tensorScale: number | null }> {
  const kept = Array.from({ length: partCount }, (): Blob[] => []);
  const bytes = kept.map(() => 0);
  return guarded(core, feed, async () => {
    type Made = Operations['feed.next']['out'];
    const ask = (): Promise<Made> => core.call('feed.next', { feed, blobs: write === undefined }, { signal });
    let pending: Promise<Made> | null = ask();
    while (pending !== null) {
      const { pieces, read, done }: Made = await pending;
      pending = done ? null : ask();
      // Its failure is met at the next await; meanwhile it isn't unhandled.
      pending?.catch(() => {});
      let written = 0;
      for (const [part, piece] of pieces) {
        const size = piece instanceof Blob ? piece.size : piece.length;
        written += size;
        bytes[part]! += size;
        if (piece instanceof Blob) kept[part]!.push(piece);
        else await write?.(piece, part);
      }
      report(read, written);
    }
    const end = await core.call('feed.end', { feed }, { signal });
    const made = kept.map((blobs, part) => ({
      bytes: bytes[part]!,
      content: new Blob(blobs, { type: 'application/octet-stream' }),
    }));
    return { made, tensorScale: end?.tensorScale ?? null };
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
