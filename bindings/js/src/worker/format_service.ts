// Number formats: arrays are read in slices, through the core, and out again, whatever their size.
import { cancelled } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import type { ArrayData, Operations } from '../shared/protocol.js';
import type { FormatFailure, FormatFigures } from '../types.js';
import { type Core, type CoreJob, type CoreModel, type CoreTrial, unwrap } from './core.js';
import type { CallContext, Handlers } from './dispatch.js';
import { openEncodedValue } from './encoded_value_file.js';
import { macrotask } from './read_into.js';
import { Table } from './tables.js';
import { ArrayReader, feedOnce, TensorFeed } from './tensor_feed.js';

/** Of a constant: between two looks at whether somebody cancelled. */
const CONSTANT_STEP_BYTES = 2 ** 20;
/** Whole bytes of codes and zero points, whatever their width. */
const BLOCKS_TOGETHER = 8;
const STORED_PIECE_VALUES = 2 ** 20;

export function formatHandlers(coreOf: () => Core, models: Table<CoreModel>, jobs: Table<CoreJob>): Handlers {
  const feeds = new Table<TensorFeed>('tensor');
  return {
    formats: ({ block }) => unwrap(coreOf().listFormats(block)),
    weights: ({ model, least }) => unwrap(coreOf().weightsOf(models.get(model), least)),
    'formats.compare': ({ tensor, choices }, context) =>
      'model' in tensor
        ? compareConstant(
            unwrap(coreOf().createConstantTrial(models.get(tensor.model), tensor.tensor, choices)),
            context,
          )
        : compareArray(unwrap(coreOf().createTrial(tensor.type, tensor.dims, choices)), tensor, context),
    'encode.start': ({ array, request }) => {
      const { type, dims } = array;
      const { job, ...info } = unwrap(coreOf().createEncoder({ ...request, type, dims }));
      return { ...info, feed: feeds.add(startFeed(job, array, info.passes, info.parts.length)) };
    },
    'decode.start': async ({ source, type }) => {
      const { frame, payloadStart, payloadBytes } = await openEncodedValue(source);
      const { job, ...info } = unwrap(coreOf().createDecoder(frame, payloadBytes, type));
      const payload = { source, offset: payloadStart, bytes: payloadBytes, swap: 1 };
      return { ...info, feed: feeds.add(feedOrDelete(job, () => new TensorFeed(job, payload, 1, 1))) };
    },
    'feed.next': async ({ feed, blobs }, context) => {
      const { pieces, ...made } = await feeds.get(feed).next(context.signal);
      if (blobs) return { ...made, pieces: pieces.map(([part, bytes]) => [part, new Blob([bytes])]) };
      context.transfer(...pieces.map(([, bytes]) => bytes.buffer));
      return { ...made, pieces };
    },
    'feed.end': ({ feed }) => {
      const ended = feeds.get(feed);
      feeds.take(feed);
      try {
        return unwrap(ended.job.result()) as Operations['feed.end']['out'];
      } finally {
        ended.close();
      }
    },
    'feed.drop': ({ feed }) => {
      feeds.take(feed)?.close();
      return null;
    },
    'weights.start': ({ model, request, external }) => {
      const { job, ...info } = unwrap(
        coreOf().createEncodedExport(models.get(model), request, external ?? ''),
      );
      return { ...info, job: jobs.add(job) };
    },
    'decode.stored': (stored, context) => decodeStored(coreOf(), stored, context),
  };
}

const WIDTH = { float32: 4, double: 8, float16: 2, bfloat16: 2 } as const;

function plainBytes({ source, offset, type, dims, bigEndian }: ArrayData) {
  const width = WIDTH[type];
  return {
    source,
    offset,
    bytes: dims.reduce((product, dim) => product * dim, width),
    swap: bigEndian ? width : 1,
  };
}

function startFeed(job: CoreTrial['job'], array: ArrayData, passes: number, parts: number): TensorFeed {
  return feedOrDelete(job, () => new TensorFeed(job, plainBytes(array), passes, parts));
}

function feedOrDelete(job: CoreTrial['job'], make: () => TensorFeed): TensorFeed {
  try {
    return make();
  } catch (error) {
    job.delete();
    throw error;
  }
}

type Compared = (FormatFigures | FormatFailure)[];

async function compareArray(
  { job, passes, bytes }: CoreTrial,
  array: ArrayData,
  context: CallContext,
): Promise<Compared> {
  try {
    const progress = new ProgressReporter('compare', 'bytes', passes * bytes, context.progress);
    const reader = new ArrayReader(plainBytes(array));
    try {
      for (let pass = 0; pass < passes; ++pass) {
        reader.rewind();
        while (!reader.done) {
          if (context.signal.aborted) throw cancelled();
          progress.advance(await feedOnce(job, reader));
          await macrotask();
        }
      }
    } finally {
      reader.close();
    }
    progress.finish();
    return unwrap(job.result()) as Compared;
  } finally {
    job.delete();
  }
}

async function compareConstant({ job, bytes }: CoreTrial, context: CallContext): Promise<Compared> {
  try {
    const progress = new ProgressReporter('compare', 'bytes', bytes, context.progress);
    for (let done = 0; done < bytes; done += CONSTANT_STEP_BYTES) {
      if (context.signal.aborted) throw cancelled();
      unwrap(job.commit(CONSTANT_STEP_BYTES));
      progress.advance(CONSTANT_STEP_BYTES);
      await macrotask();
    }
    progress.finish();
    return unwrap(job.result()) as Compared;
  } finally {
    job.delete();
  }
}

/** Piece by piece, so that the core needs little beside what it gives back. */
async function decodeStored(
  core: Core,
  { request, codes, scales, zeroPoints }: Operations['decode.stored']['in'],
  context: CallContext,
): Promise<Float32Array<ArrayBuffer>> {
  const { count } = request;
  const format = unwrap(core.listFormats(0)).find(({ name }) => name === request.format);
  const block = request.block || (format?.block ?? 1);
  const bits = format?.bits ?? 0;
  const together = block * BLOCKS_TOGETHER;
  const step = Math.max(1, Math.floor(STORED_PIECE_VALUES / together)) * together;
  const scaleBytes = count === 0 ? 0 : scales.size / Math.ceil(count / block);
  const pieceOf = (blob: Blob, bytes: number, first: number) => {
    const last = first + step >= count ? blob.size : ((first + step) / together) * bytes;
    return blobBytes(blob, (first / together) * bytes, last);
  };
  const values = new Float32Array(count);
  for (let first = 0; first < count; first += step) {
    if (context.signal.aborted) throw cancelled();
    const piece = unwrap(
      core.decodeStored(
        { ...request, count: Math.min(step, count - first) },
        await pieceOf(codes, bits * block, first),
        await pieceOf(scales, scaleBytes * BLOCKS_TOGETHER, first),
        await pieceOf(zeroPoints, zeroPoints.size === 0 ? 0 : bits, first),
      ),
    );
    values.set(piece, first);
    await macrotask();
  }
  context.transfer(values.buffer);
  return values;
}

async function blobBytes(blob: Blob, first: number, last: number): Promise<Uint8Array> {
  return new Uint8Array(await blob.slice(first, Math.max(first, last)).arrayBuffer());
}
