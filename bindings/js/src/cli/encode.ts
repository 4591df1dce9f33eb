// halftone encode: an array as one encoded value or as codes and scales, or a model's weights as encoded initializers.
import { extname } from 'node:path';
import { jsonFile } from '../shared/result_files.js';
import type { EncodedTensor, EncodeOptions } from '../types.js';
import { UsageError } from './errors.js';
import type { EngineChoice, OutputOptions } from './options.js';
import { checkOutput, writeGrowing } from './output_files.js';
import { checkPartOutputs, writeParts } from './parts_file.js';
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
  await withWork(context, options, async (work) => {
    const format = (await work.engine.formats()).find(({ name }) => name === options.format);
    const value = format === undefined || format.family === 'onnx-light profile';
    const output = options.output ?? `${modelStem(path)}.${options.format}.${value ? 'pb' : 'json'}`;
    const encoded = value
      ? await encodeValue(path, output, options, work)
      : await encodeParts(path, output, options, work, context);
    work.json(jsonFile({ ...factsOf(encoded), output }));
    work.say(encodedText(encoded, output));
  });
}

async function encodeValue(
  path: string,
  output: string,
  options: EncodeCommand,
  work: Work,
): Promise<EncodedTensor> {
  checkOutput(output, [path], options.force === true);
  const source = { npy: { path }, name: path };
  return writeGrowing(output, (file) =>
    work.engine.encodeTensor(source, {
      ...encodeOptions(path, options),
      ...work.call,
      write: (bytes) => file.write(bytes),
    }),
  );
}

async function encodeParts(
  path: string,
  output: string,
  options: EncodeCommand,
  work: Work,
  { halftone }: Context,
): Promise<EncodedTensor> {
  if (options.name !== undefined || options.scales !== undefined || options.zeroPoints !== undefined) {
    throw new UsageError(
      `--name, --scales and --zero-points are for onnx-light’s profiles, and ${options.format} is none.`,
      'Leave them out: scales are computed.',
    );
  }
  if (extname(output).toLowerCase() !== '.json') {
    throw new UsageError(
      `${options.format} keeps codes and scales apart, in files beside a .json file, and ${output} is none.`,
      'Give a name that ends in .json after -o.',
    );
  }
  checkPartOutputs(output, [path], options.force === true);
  const choice = { format: options.format, ...(options.block !== undefined && { block: options.block }) };
  return writeParts(output, halftone.version, (write) =>
    work.engine.encodeTensor({ npy: { path }, name: path }, { ...choice, ...work.call, write }),
  );
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
