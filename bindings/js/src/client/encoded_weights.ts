// Models with their weights in number formats, and back; the core makes them, and they are read in pieces.
import type { WeightsRequest } from '../shared/protocol.js';
import type { Cancellable, ConvertedModel, EncodeWeightsOptions, StandardOptions } from '../types.js';
import type { ModelHandle } from './model.js';
import { readWritten } from './quantize.js';

const LEAST_VALUES = 1024;

const NOTHING: WeightsRequest = {
  kind: 'encode',
  format: '',
  block: 0,
  tensors: null,
  least: LEAST_VALUES,
  codebook: null,
  transpose: false,
  standard: false,
  roundScales: false,
  contribOperators: true,
};

export function encodeWeights(model: ModelHandle, options: EncodeWeightsOptions): Promise<ConvertedModel> {
  const standard = options.standard === true ? {} : options.standard || null;
  const request: WeightsRequest = {
    ...NOTHING,
    format: options.format,
    block: options.block ?? 0,
    tensors: options.tensors === undefined ? null : [...options.tensors],
    least: options.least ?? LEAST_VALUES,
    codebook: options.codebook === undefined ? null : [...options.codebook],
    transpose: options.transpose === true,
    standard: standard !== null,
    ...standardOf(standard ?? {}),
  };
  return convert(model, request, options);
}

export function decodeWeights(
  model: ModelHandle,
  options: { externalData?: string } & Cancellable,
): Promise<ConvertedModel> {
  return convert(model, { ...NOTHING, kind: 'decode' }, options);
}

export function toStandard(model: ModelHandle, options: StandardOptions): Promise<ConvertedModel> {
  return convert(model, { ...NOTHING, kind: 'standard', ...standardOf(options) }, options);
}

function standardOf({ roundScales, contribOperators }: StandardOptions) {
  return { roundScales: roundScales === true, contribOperators: contribOperators !== false };
}

async function convert(
  model: ModelHandle,
  request: WeightsRequest,
  options: { externalData?: string } & Cancellable,
): Promise<ConvertedModel> {
  const { core, model: handle } = await (await model.inFormats(options)).core(options);
  const { job, modelBytes, externalBytes, ...facts } = await core.call(
    'weights.start',
    { model: handle, request, external: options.externalData ?? null },
    { signal: options.signal },
  );
  const written = await readWritten(core, { job, modelBytes, externalBytes }, options);
  return { ...written, report: { bytesBefore: model.bytes, bytes: modelBytes + externalBytes, ...facts } };
}
