// halftone encode: an array as one encoded value, or a model's weights as encoded initializers.
import { extname } from 'node:path';
import { HalftoneError } from '../shared/errors.js';
import { jsonFile } from '../shared/result_files.js';
import type { EncodedTensor, EncodeOptions } from '../types.js';
import { UsageError } from './errors.js';
import type { EngineChoice, OutputOptions } from './options.js';
import { checkOutput, writeGrowing } from './output_files.js';
import { modelStem } from './quantize.js';
import { printable, sizeText } from './terminal.js';
import { chosenWeights, writeConverted } from './weights.js';
import { type Context, type Work, withWork } from './work.js';

export type EncodeCommand = OutputOptions &
  EngineChoice & {
    format: string;
    block?: number;
    tensors: string[];
    name?: string;
    scales?: number[];
    zeroPoints?: number[];
    standard?: boolean;
    roundScales?: boolean;
  };

export function isArray(path: string): boolean {
  return extname(path).toLowerCase() === '.npy';
}

export async function encode(path: string, options: EncodeCommand, context: Context): Promise<void> {
  if (!isArray(path)) return encodeModel(path, options, context);
  if (options.tensors.length > 0)
    throw new UsageError('--tensors chooses weights of a model, and an array has none.', 'Leave it out.');
  if (options.standard === true || options.roundScales === true)
    throw new UsageError('--standard and --round-scales are for models.', 'Leave them out.');
  const output = options.output ?? `${modelStem(path)}.${options.format}.pb`;
  checkOutput(output, [path], options.force === true);
  await withWork(context, options, async (work) => {
    await checkProfile(work, options.format);
    const encoded = await writeGrowing(output, (file) =>
      work.engine.encodeTensor(
        { npy: { path }, name: path },
        {
          ...encodeOptions(path, options),
          ...work.call,
          write: (bytes) => file.write(bytes),
        },
      ),
    );
    work.json(jsonFile({ ...factsOf(encoded), output }));
    work.say(encodedText(encoded, output));
  });
}

async function encodeModel(path: string, options: EncodeCommand, context: Context): Promise<void> {
  if (options.name !== undefined || options.scales !== undefined || options.zeroPoints !== undefined) {
    throw new UsageError(
      '--name, --scales and --zero-points are for a .npy array.',
      'Leave them out: a weight keeps its name, and scales are computed.',
    );
  }
  const output = options.output ?? `${modelStem(path)}.${options.format}.onnx`;
  checkOutput(output, [path], options.force === true);
  await withWork(context, options, async (work) => {
    const model = await work.openModel(path);
    const chosen = options.tensors.length > 0 ? await chosenWeights(model, options.tensors) : undefined;
    await writeConverted({ output, input: path, model }, options, work, (externalData) =>
      model.encodeWeights({
        format: options.format,
        ...work.call,
        ...externalData,
        ...(options.block !== undefined && { block: options.block }),
        // Who names a weight means it, however small it is.
        ...(chosen !== undefined && { tensors: chosen, least: 1 }),
        ...(options.standard === true && {
          transpose: true,
          standard: { roundScales: options.roundScales === true },
        }),
      }),
    );
  });
}

function encodeOptions(path: string, options: EncodeCommand): EncodeOptions {
  return {
    format: options.format,
    name: options.name ?? modelStem(path),
    ...(options.block !== undefined && { block: options.block }),
    ...(options.scales !== undefined && { scales: options.scales }),
    ...(options.zeroPoints !== undefined && { zeroPoints: options.zeroPoints }),
  };
}

async function checkProfile(work: Work, name: string): Promise<void> {
  const format = (await work.engine.formats()).find((other) => other.name === name);
  if (format === undefined || format.family === 'onnx-light profile') return;
  const profiles = 'int8, int4, nf4, mxfp4, nvfp4, fp8_e4m3';
  throw new HalftoneError(
    'invalid_policy',
    `An encoded value can't hold ${name}, which is a${format.family === 'ONNX type' ? 'n ONNX type' : ' block layout'}.`,
    {
      where: name,
      next: `Use a profile such as ${profiles}; encodeTensor() in JavaScript gives the codes and scales of ${name}.`,
    },
  );
}

function factsOf({ parts: _, tensorScale: __, ...facts }: EncodedTensor) {
  return facts;
}

function encodedText(encoded: EncodedTensor, output: string): string {
  const lines = [
    `array     ${encoded.type} [${encoded.dims.join(', ')}], ${encoded.count.toLocaleString('en-US')} values`,
    `encoded   ${encoded.format}, blocks of ${encoded.block}: ${sizeText(encoded.bytes)}, ${encoded.bitsPerWeight.toFixed(3)} bits per value`,
    `written   ${output}`,
  ];
  return `${lines.map((line) => printable(line)).join('\n')}\n`;
}
