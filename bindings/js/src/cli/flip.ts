// halftone flip: what hurts most gets a higher precision. Writes a plan, and the encodings that go with it.
import { scoreText } from '../shared/metric_text.js';
import { jsonFile } from '../shared/result_files.js';
import type { Flip, FlipOptions, ModelCost } from '../types.js';
import { UsageError } from './errors.js';
import { encodingsBeside, type PrecisionChoice, precision } from './mixed_options.js';
import type { CalibrationChoice, EngineChoice, OutputOptions, PlanChoice, SampleChoice } from './options.js';
import { checkOutput, writeOutput } from './output_files.js';
import { modelStem } from './quantize.js';
import { readResultsFile } from './results_file.js';
import { printable, sizeText } from './terminal.js';
import { type Context, checkSampleChoice, withWork } from './work.js';

export type FlipCommand = OutputOptions &
  EngineChoice &
  PlanChoice &
  SampleChoice &
  CalibrationChoice &
  PrecisionChoice & {
    results: string;
    worst?: number;
    percent?: number;
    threshold?: number;
    row: string[];
  };

export async function flip(path: string, options: FlipCommand, context: Context): Promise<void> {
  const output = options.output ?? `${modelStem(path)}.flipped.json`;
  const encodingsOutput = encodingsBeside(output);
  const inputs = [path, options.plan, options.encodings, options.results].filter(
    (input) => input !== undefined,
  );
  for (const file of [output, encodingsOutput]) checkOutput(file, inputs, options.force === true);
  const needsSamples =
    options.encodings === undefined || options.samples !== undefined || options.randomData !== undefined;
  if (needsSamples) checkSampleChoice(options);
  const request: FlipOptions = { ...rowChoice(options), to: precision(options) };
  await withWork(context, options, async (work) => {
    const results = await readResultsFile(options.results, work);
    const model = await work.openModel(path);
    const samples = needsSamples ? await work.samples(model, options) : null;
    const plan = await work.plan(model, options, samples);
    const encodings = await work.encodings(model, plan, samples, options);
    const made = await model.flip(plan, encodings, results, {
      ...request,
      ...(samples !== null && { samples }),
    });
    const sizes = [
      `${output}  ${sizeText(await writeOutput(output, jsonFile(made.plan)))}\n`,
      `${encodingsOutput}  ${sizeText(await writeOutput(encodingsOutput, jsonFile(made.encodings)))}\n`,
    ];
    const { plan: _plan, encodings: _encodings, ...figures } = made;
    work.json(jsonFile({ output, encodings: encodingsOutput, ...figures }));
    work.say(flipText(made, options.verbose === true));
    work.warn([...(samples?.warnings ?? []), ...made.warnings]);
    work.say(`\n${sizes.join('')}`);
  });
}

function rowChoice({ worst, percent, threshold, row }: FlipCommand): Omit<FlipOptions, 'to'> {
  const given: Omit<FlipOptions, 'to'>[] = [
    ...(worst === undefined ? [] : [{ worst }]),
    ...(percent === undefined ? [] : [{ percent }]),
    ...(threshold === undefined ? [] : [{ threshold }]),
    ...(row.length === 0 ? [] : [{ names: row }]),
  ];
  const [only] = given;
  if (only !== undefined && given.length === 1) return only;
  throw new UsageError(
    only === undefined ? 'Nothing says which rows to flip.' : 'There is more than one choice of rows.',
    'Use one of --worst N, --percent P, --threshold S or --row NAME.',
  );
}

const SHOWN = 20;

function flipText({ flipped, before, after, predicted }: Flip, verbose: boolean): string {
  const shown = verbose ? flipped : flipped.slice(0, SHOWN);
  const more = flipped.length - shown.length;
  const lines = [
    `${flipped.length} quantizer${flipped.length === 1 ? '' : 's'} flipped\n`,
    ...shown.map((tensor) => `  ${printable(tensor)}\n`),
    more > 0 ? `  and ${more} more; --verbose shows them.\n` : '',
    `weights         ${sizeText(before.weight_bytes)} -> ${sizeText(after.weight_bytes)}${times(before.weight_bytes, after.weight_bytes)}\n`,
    after.macs === 0
      ? ''
      : `bit-operations  ${countText(before.bit_ops)} -> ${countText(after.bit_ops)}${times(before.bit_ops, after.bit_ops)}\n`,
    unknownText(after),
    predicted === null ? '' : `predicted score ${scoreText('psnr', predicted)} if errors add up\n`,
  ];
  return lines.join('');
}

/** "45.1 G" */
export function countText(count: number): string {
  const units = ['', ' k', ' M', ' G', ' T'];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, count)) / 3));
  return `${step === 0 ? count : (count / 1000 ** step).toFixed(2)}${units[step]}`;
}

/** " (x 1.150)" */
export function times(before: number, after: number): string {
  return before > 0 ? ` (x ${(after / before).toFixed(3)})` : '';
}

export function unknownText({ unknown }: ModelCost): string {
  if (unknown.length === 0) return '';
  return `${unknown.length} operator${unknown.length === 1 ? '' : 's'} of unknown shape ${unknown.length === 1 ? 'is' : 'are'} not counted; with --samples they are.\n`;
}
