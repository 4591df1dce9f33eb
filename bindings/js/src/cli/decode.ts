// halftone decode: an encoded value back to an array.

import { npyHeader } from '../samples/npy.js';
import { HalftoneError } from '../shared/errors.js';
import { jsonFile } from '../shared/result_files.js';
import type { EngineChoice, OutputOptions } from './options.js';
import { checkOutput, writeGrowing } from './output_files.js';
import { modelStem } from './quantize.js';
import { printable, sizeText } from './terminal.js';
import { type Context, withWork } from './work.js';

export type DecodeCommand = OutputOptions & EngineChoice & { type?: 'float32' | 'double' | 'float16' };

export async function decode(path: string, options: DecodeCommand, context: Context): Promise<void> {
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

function noBfloat16(path: string): HalftoneError {
  return new HalftoneError('unsupported_type', `${path} holds bfloat16 values, which .npy files can't.`, {
    where: path,
    next: 'Give --type float32.',
  });
}
