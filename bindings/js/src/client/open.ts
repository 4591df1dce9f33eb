// Opening: which files, in what order, and what a failure says.
import { builtin, isNode } from '../platform/platform.js';
import { toWireSource } from '../platform/source.js';
import { HalftoneError } from '../shared/errors.js';
import type { ExternalNeed, StoredFile, WireSource } from '../shared/protocol.js';
import type { ByteSource, Cancellable, Model } from '../types.js';
import type { HalftoneEngine } from './engine.js';
import type { OpenOptions } from './engine_types.js';
import { ModelHandle } from './model.js';

export interface OpenedModel {
  handle: number;
  files: StoredFile[];
  bytes: number;
  generation: number;
}

/** What is needed to open the model once more, after the worker that held it was lost. */
export type Reopen = (options: Cancellable) => Promise<OpenedModel>;

export async function openModel(
  engine: HalftoneEngine,
  source: ByteSource,
  options: OpenOptions,
): Promise<Model> {
  const main = await toWireSource(source);
  const external = await wireSources(options.externalData ?? {});
  const folder = 'path' in source && isNode ? folderOf(source.path) : null;
  const reopen: Reopen = (call) => load(engine, main, external, folder, call);
  const opened = await reopen(options);
  return new ModelHandle(engine, options.name ?? nameOf(source), main, opened, reopen);
}

/** The same files in another engine's worker. */
export async function openAgain(
  engine: HalftoneEngine,
  model: ModelHandle,
  options: Cancellable,
): Promise<ModelHandle> {
  const [main, ...others] = model.files;
  const external = new Map(others.map(({ path, source }) => [path, source]));
  const reopen: Reopen = (call) => load(engine, main!.source, external, null, call);
  return new ModelHandle(engine, model.name, main!.source, await reopen(options), reopen);
}

async function load(
  engine: HalftoneEngine,
  main: WireSource,
  external: Map<string, WireSource>,
  folder: string | null,
  options: Cancellable,
): Promise<OpenedModel> {
  const core = await engine.models();
  const { generation } = engine;
  const call = { signal: options.signal, onProgress: options.onProgress };
  const first = await core.call('open', { source: main }, call);
  try {
    const files: StoredFile[] = [{ path: 'model', source: main }];
    let bytes = first.bytes;
    for (const need of first.external) {
      const source = external.get(need.location) ?? (await besideModel(folder, need));
      const part = await core.call(
        'open.external',
        { model: first.model, location: need.location, source },
        call,
      );
      files.push({ path: need.location, source });
      bytes += part.bytes;
    }
    await core.call('open.finish', { model: first.model }, { signal: options.signal });
    return { handle: first.model, files, bytes, generation };
  } catch (error) {
    if (core.connected) await core.call('close', { model: first.model }).catch(() => {});
    throw error;
  }
}

async function wireSources(given: Record<string, ByteSource>): Promise<Map<string, WireSource>> {
  const entries = Object.entries(given).map(
    async ([location, source]) => [location, await toWireSource(source)] as const,
  );
  return new Map(await Promise.all(entries));
}

/** The core has refused locations that leave the model's folder, so joining is safe here. */
async function besideModel(folder: string | null, need: ExternalNeed): Promise<WireSource> {
  if (folder !== null) {
    const path = builtin<typeof import('node:path')>('node:path').join(folder, need.location);
    if (builtin<typeof import('node:fs')>('node:fs').existsSync(path)) return { path };
  }
  throw new HalftoneError(
    'external_data_missing',
    `The model's weights are in a second file, which is missing: ${need.location}.`,
    {
      where: need.location,
      next: 'Give the model together with that file.',
    },
  );
}

function folderOf(path: string): string {
  return builtin<typeof import('node:path')>('node:path').dirname(path);
}

function nameOf(source: ByteSource): string {
  if (source instanceof Uint8Array) return 'model.onnx';
  if ('path' in source) return source.path.split(/[\\/]/).at(-1) || 'model.onnx';
  return typeof File !== 'undefined' && source instanceof File && source.name !== ''
    ? source.name
    : 'model.onnx';
}
