// The bench that ships: the package's engine with this page's own copies of its files, and the samples beside the page.

import runtimeUrl from 'onnxruntime-web/ort-wasm-simd-threaded.wasm?url';
import coreUrl from '../../../bindings/js/dist/halftone.wasm?url';
import formatsUrl from '../../../bindings/js/dist/halftone-formats.wasm?url';
import workerUrl from '../../../bindings/js/dist/worker.js?url';
import sampleList from '../../samples/samples.json';
import {
  createEngine,
  type Engine,
  HalftoneError,
  jsonFile,
  type Model,
  randomSamples,
  type Sample,
  type SampleSet,
  sensitivityCsv,
  type ValueInfo,
} from '../package';
import { bytes, printable } from '../text/format';
import type { Bench, BundledSample, FetchedSample, ImageOptions, OpenRequest, PathFile } from './bench';
import { layOut, prepareLayouts } from './layouts';

type ListedSample = (typeof sampleList.samples)[number];

const kImageDefaults: ImageOptions = {
  fit: 'stretch',
  layout: 'nchw',
  color: 'rgb',
  scale: 1 / 255,
  mean: [0],
  std: [1],
};

function address(path: string): string {
  return new URL(path, document.baseURI).href;
}

function bundledSample(listed: ListedSample): BundledSample {
  return {
    id: listed.id,
    title: listed.title,
    what: listed.description,
    modelBytes: listed.model.bytes,
    sampleBytes: listed.sampleBytes,
    sampleCount: listed.files.length,
    sampleKind: listed.images === null ? 'sample' : 'image',
    labels: listed.prediction?.labels ?? null,
  };
}

async function fetchFile(path: string, name: string, signal: AbortSignal): Promise<File> {
  const answer = await fetch(address(path), { signal, credentials: 'same-origin' }).catch(
    (cause: unknown) => {
      if (signal.aborted) throw new HalftoneError('cancelled', 'Cancelled.');
      const next = 'Check the connection and click the sample again.';
      throw new HalftoneError('internal', `The sample file ${name} could not be fetched.`, {
        where: path,
        next,
        cause,
      });
    },
  );
  if (!answer.ok) {
    const next = 'Reload the page; if it stays, the site is not complete.';
    throw new HalftoneError('internal', `The server answered ${answer.status} for the sample file ${name}.`, {
      where: path,
      next,
    });
  }
  return new File([await answer.blob()], name);
}

async function fetchSample(id: string, signal: AbortSignal): Promise<FetchedSample> {
  const listed = sampleList.samples.find((sample) => sample.id === id);
  if (listed === undefined) throw new HalftoneError('internal', `There is no sample named ${id}.`);
  const model = await fetchFile(`samples/${id}/${listed.model.name}`, listed.model.name, signal);
  const files = await Promise.all(
    listed.files.map((name) => fetchFile(`samples/${id}/${name}`, name, signal)),
  );
  const image =
    listed.images === null ? null : { ...kImageDefaults, ...(listed.images as Partial<ImageOptions>) };
  return { model, samples: files.map((file) => ({ path: file.name, file })), image };
}

/** Locations in a model may name folders; people drop plain files. The last part of the name decides. */
function lastPart(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

/** What a WebAssembly memory can hold beside the work itself. */
const kLargestModelBytes = 4e9;

/** Before a byte is read. */
function refuseTooLarge(model: File, externalData: readonly PathFile[]): void {
  const size = externalData.reduce((sum, { file }) => sum + file.size, model.size);
  if (size <= kLargestModelBytes) return;
  const message = `${printable(model.name)} has ${bytes(size)}, and a page can hold models of up to ${bytes(kLargestModelBytes)}.`;
  throw new HalftoneError('too_large', message, {
    where: printable(model.name),
    next: 'Use the native library for a model of this size.',
  });
}

async function openWithData(engine: Engine, model: File, request: OpenRequest): Promise<Model> {
  const { externalData, ...rest } = request;
  refuseTooLarge(model, externalData);
  const byLocation: Record<string, Blob> = Object.create(null);
  for (const { path, file } of externalData) {
    byLocation[path] = file;
    byLocation[file.name] = file;
  }
  for (;;) {
    try {
      return await engine.open(model, { ...rest, name: model.name, externalData: byLocation });
    } catch (cause) {
      if (!(cause instanceof HalftoneError) || cause.code !== 'external_data_missing') throw cause;
      const found = externalData.find(({ file }) => file.name === lastPart(cause.where));
      if (found === undefined || byLocation[cause.where] !== undefined) throw cause;
      byLocation[cause.where] = found.file;
    }
  }
}

async function* runDeployed(
  engine: Engine,
  blob: Blob,
  name: string,
  set: SampleSet,
  signal: AbortSignal,
): AsyncIterable<Sample> {
  const model = await engine.open(blob, { name, signal });
  try {
    yield* model.runEach(set, { optimization: 'default', signal });
  } finally {
    await model.close();
  }
}

/** Decoders of images and archives are a third of the page's code; they come with what a run needs. */
async function sampleReaders(): Promise<typeof import('./sample_readers')> {
  try {
    return await import('./sample_readers');
  } catch (cause) {
    const next = 'Check the connection and choose the samples again.';
    throw new HalftoneError('internal', 'The readers of sample files could not be fetched.', { next, cause });
  }
}

/** All that any step asks for, so that a page with an open model works without a network. */
async function prepare(engine: Engine): Promise<void> {
  await Promise.all([engine.prepare(), sampleReaders(), prepareLayouts(), engine.formats()]);
}

export function halftoneBench(): Bench {
  const engine = createEngine({
    assets: {
      worker: address(workerUrl),
      core: address(coreUrl),
      formats: address(formatsUrl),
      runtime: address(runtimeUrl),
    },
  });
  return {
    bundled: sampleList.samples.map(bundledSample),
    warm: () => engine.info(),
    prepare: () => prepare(engine),
    open: (model, request) => openWithData(engine, model, request),
    fetchSample,
    readSamples: async (
      files: readonly PathFile[],
      inputs: readonly ValueInfo[],
      image: ImageOptions | null,
    ) => {
      const { readSamples } = await sampleReaders();
      const sources = files.map(({ path, file }) => ({ name: path, source: file }));
      return readSamples(sources, inputs, image ?? {});
    },
    randomSamples: async (inputs, count, seed) => randomSamples(inputs, { count, seed }),
    runDeployed: (blob, name, set, signal) => runDeployed(engine, blob, name, set, signal),
    layOut,
    formats: engine,
    liveObjects: () => engine.liveObjects(),
    write: { plan: jsonFile, encodings: jsonFile, sensitivity: jsonFile, sensitivityCsv },
  };
}
