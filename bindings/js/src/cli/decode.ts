// halftone decode: an encoded value, or codes and scales, back to an array, or a model's encoded weights to plain or standard ones.
import { extname } from 'node:path';

import { npyHeader } from '../samples/npy.js';
import { HalftoneError } from '../shared/errors.js';
import { jsonFile } from '../shared/result_files.js';
import { UsageError } from './errors.js';
import type { EngineChoice, OutputOptions } from './options.js';
import { checkOutput, writeGrowing } from './output_files.js';
import { readParts } from './parts_file.js';
import { modelStem } from './quantize.js';
import { printable, sizeText } from './terminal.js';
import { writeConverted } from './weights.js';
import { type Context, withWork } from './work.js';

export type DecodeCommand = OutputOptions &
  EngineChoice & {
    type?: 'float32' | 'double' | 'float16';
    standard?: boolean;
    roundScales?: boolean;
  };

function isParts(path: string): boolean {
  return extname(path).toLowerCase() === '.json';
}

/** A value alone is a .pb file; everything else is taken for a model. */
function isValue(path: string): boolean {
  return extname(path).toLowerCase() === '.pb';
}

export async function decode(path: string, options: DecodeCommand, context: Context): Promise<void> {
  if (isParts(path)) return decodeParts(path, options, context);
  if (!isValue(path)) return decodeModel(path, options, context);
  if (options.standard === true || options.roundScales === true)
    throw new UsageError('--standard and --round-scales are for models.', 'Leave them out.');
  const output = options.output ?? `${modelStem(path)}.npy`;
  checkOutput(output, [path], options.force === true);
  await withWork(context, options, async (work) => {
    const { content: _, ...decoded } = await writeGrowing(output, (file) =>
      work.engine.decodeTensor(
        { path },
        {
          ...work.call,
          ...(options.type !== undefined && { type: options.type }),
          start: ({ type, dims }) => {
            if (type === 'bfloat16') throw noBfloat16(path);
            file.write(npyHeader(type, dims));
          },
          write: (bytes) => file.write(bytes),
        },
      ),
    );
    work.json(jsonFile({ ...decoded, output }));
    work.say(
      `${[
        `value     ${decoded.format}, ${decoded.name === null ? 'without a name' : decoded.name}`,
        `array     ${decoded.type} [${decoded.dims.join(', ')}], ${sizeText(decoded.bytes)}`,
        `written   ${output}`,
      ]
        .map((line) => printable(line))
        .join('\n')}\n`,
    );
  });
}

async function decodeParts(path: string, options: DecodeCommand, context: Context): Promise<void> {
  if (options.type !== undefined || options.standard === true || options.roundScales === true) {
    throw new UsageError(
      '--type is for a .pb value, --standard and --round-scales are for models; codes and scales become float32.',
      'Leave them out.',
    );
  }
  const output = options.output ?? `${modelStem(path)}.npy`;
  const { encoded, files } = readParts(path);
  checkOutput(output, [path, ...files], options.force === true);
  await withWork(context, options, async (work) => {
    const { format, dims } = encoded;
    const values = await work.engine.decodeParts(encoded, work.call);
    await writeGrowing(output, async (file) => {
      file.write(npyHeader('float32', dims));
      file.write(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    });
    work.json(jsonFile({ format, type: 'float32', dims, bytes: values.byteLength, output }));
    const lines = [
      `array     float32 [${dims.join(', ')}] from ${format}, ${sizeText(values.byteLength)}`,
      `written   ${output}`,
    ];
    work.say(`${lines.map((line) => printable(line)).join('\n')}\n`);
  });
}

async function decodeModel(path: string, options: DecodeCommand, context: Context): Promise<void> {
  if (options.type !== undefined)
    throw new UsageError('--type is for a .pb value: weights get the type that they had.', 'Leave it out.');
  const kind = options.standard === true ? 'standard' : 'float';
  const output = options.output ?? `${modelStem(path)}.${kind}.onnx`;
  checkOutput(output, [path], options.force === true);
  await withWork(context, options, async (work) => {
    const model = await work.openModel(path);
    await writeConverted({ output, input: path, model }, options, work, (externalData) => {
      const call = { ...work.call, ...externalData };
      if (options.standard !== true) return model.decodeWeights(call);
      return model.toStandard({ ...call, roundScales: options.roundScales === true });
    });
  });
}

function noBfloat16(path: string): HalftoneError {
  return new HalftoneError('unsupported_type', `${path} holds bfloat16 values, which .npy files can't.`, {
    where: path,
    next: 'Give --type float32.',
  });
}
