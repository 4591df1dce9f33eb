// halftone formats: which number formats there are, and what they do to an array or to a model's weights.
import { HalftoneError } from '../shared/errors.js';
import { comparisonCsv, usualFormats } from '../shared/format_choices.js';
import { jsonFile } from '../shared/result_files.js';
import type {
  FormatFailure,
  FormatFigures,
  Model,
  StorageFormat,
  TensorComparison,
  TensorSource,
  WeightRef,
} from '../types.js';
import { isArray } from './encode.js';
import { UsageError } from './errors.js';
import type { EngineChoice, OutputOptions } from './options.js';
import { checkOutput, writeOutput } from './output_files.js';
import { decibels, printable, table } from './terminal.js';
import { chosenWeights } from './weights.js';
import { type Context, type Work, withWork } from './work.js';

export type FormatsCommand = OutputOptions &
  EngineChoice & {
    format: string[];
    block: number[];
    tensors: string[];
    bits?: number;
    csv?: string;
  };

/** Smaller tensors are biases and the like, where nothing is to be saved. */
const LEAST_VALUES = 1024;
/** Of a model, what a weight may take to win, if nothing is said. */
const USUAL_BITS = 4.5;
export async function formats(
  path: string | undefined,
  options: FormatsCommand,
  context: Context,
): Promise<void> {
  for (const output of [options.output, options.csv])
    if (output !== undefined) checkOutput(output, path === undefined ? [] : [path], options.force === true);
  if (path === undefined) refuseChoices(options);
  await withWork(context, options, async (work) => {
    const known = await work.engine.formats(options.block.length === 1 ? options.block[0] : 0);
    if (path === undefined) return list(known, options, work);
    await compare(path, known, options, work);
  });
}

function refuseChoices({ tensors, bits, csv }: FormatsCommand): void {
  if (tensors.length === 0 && bits === undefined && csv === undefined) return;
  throw new UsageError(
    '--tensors, --bits and --csv are for comparing.',
    'Give a .npy array or a model to compare formats on.',
  );
}

async function list(known: StorageFormat[], options: FormatsCommand, work: Work): Promise<void> {
  const json = jsonFile({ formats: known });
  if (options.output !== undefined) await writeOutput(options.output, json);
  work.json(json);
  const rows = known.map(({ name, family, bits, block, bitsPerWeight, needs, source }) => [
    name,
    family,
    String(bits),
    String(block),
    bitsPerWeight === null ? '-' : bitsPerWeight.toFixed(3),
    needs === '' ? '' : `a ${needs}`,
    source,
  ]);
  work.say(
    table(
      [
        { title: 'format' },
        { title: 'family' },
        { title: 'bits', right: true },
        { title: 'block', right: true },
        { title: 'bits/weight', right: true },
        { title: 'needs' },
        { title: 'source' },
      ],
      rows,
    ),
  );
}

async function compare(
  path: string,
  known: StorageFormat[],
  options: FormatsCommand,
  work: Work,
): Promise<void> {
  const bits = options.bits ?? (isArray(path) ? undefined : USUAL_BITS);
  const tensors = isArray(path)
    ? arrayOf(path, options)
    : await weightsOf(await work.openModel(path), options);
  const names = options.format.length > 0 ? options.format : usualFormats(known);
  const compared = await work.engine.compareFormats(tensors, names, options.block, {
    ...work.call,
    ...(bits !== undefined && { bitsPerWeight: bits }),
  });
  const json = jsonFile({ bits_per_weight: bits ?? null, tensors: compared });
  if (options.output !== undefined) await writeOutput(options.output, json);
  if (options.csv !== undefined) await writeOutput(options.csv, comparisonCsv(compared));
  work.json(json);
  if (isArray(path) || options.verbose) for (const one of compared) work.say(tensorText(one));
  if (!isArray(path)) work.say(winnersText(compared, bits ?? USUAL_BITS));
}

function arrayOf(path: string, { tensors }: FormatsCommand): TensorSource[] {
  if (tensors.length > 0)
    throw new UsageError('--tensors chooses weights of a model, and an array has none.', 'Leave it out.');
  return [{ npy: { path }, name: path }];
}

async function weightsOf(model: Model, { tensors }: FormatsCommand): Promise<WeightRef[]> {
  if (tensors.length > 0) return (await chosenWeights(model, tensors)).map((tensor) => ({ model, tensor }));
  const weights = await model.weights(LEAST_VALUES);
  if (weights.length === 0) {
    throw new HalftoneError(
      'invalid_policy',
      `The model has no float32 weight of ${LEAST_VALUES} values or more.`,
      { where: model.name, next: 'Choose smaller ones with --tensors.' },
    );
  }
  return weights.map(({ tensor }) => ({ model, tensor }));
}

const number = (value: number) => (value === 0 ? '0' : value.toPrecision(4));

function rowOf(row: FormatFigures | FormatFailure, winner: TensorComparison['winner']): string[] {
  if ('error' in row) return [row.format, String(row.block || ''), '', '', '', '', row.error.message];
  const best = winner !== null && winner.format === row.format && winner.block === row.block;
  return [
    row.format,
    String(row.block),
    row.bitsPerWeight.toFixed(3),
    number(row.maxError),
    number(row.rmsError),
    row.sqnr === null ? '-' : decibels(row.sqnr),
    best ? 'loses least' : '',
  ];
}

function tensorText({ tensor, dims, count, formats: rows, winner }: TensorComparison): string {
  const order = (row: FormatFigures | FormatFailure) => ('error' in row ? Infinity : row.bitsPerWeight);
  const sorted = [...rows].sort((a, b) => order(a) - order(b));
  const head = printable(`${tensor} [${dims.join(', ')}], ${count.toLocaleString('en-US')} values`);
  return `${head}\n${table(
    [
      { title: 'format' },
      { title: 'block', right: true },
      { title: 'bits/weight', right: true },
      { title: 'max error', right: true },
      { title: 'RMS error', right: true },
      { title: 'SQNR', right: true },
      { title: '', whole: true },
    ],
    sorted.map((row) => rowOf(row, winner)),
  )}\n`;
}

function winnersText(compared: readonly TensorComparison[], bits: number): string {
  const rows = compared.map(({ tensor, count, formats: all, winner }) => {
    const row = all.find(
      (other): other is FormatFigures =>
        !('error' in other) && other.format === winner?.format && other.block === winner.block,
    );
    if (row === undefined) return [tensor, String(count), 'none', '', '', '', ''];
    return [
      tensor,
      String(count),
      row.format,
      String(row.block),
      row.bitsPerWeight.toFixed(3),
      number(row.rmsError),
      row.sqnr === null ? '-' : decibels(row.sqnr),
    ];
  });
  return `The format that loses least within ${bits} bits per weight, overhead included:\n${table(
    [
      { title: 'weight' },
      { title: 'values', right: true },
      { title: 'format' },
      { title: 'block', right: true },
      { title: 'bits/weight', right: true },
      { title: 'RMS error', right: true },
      { title: 'SQNR', right: true },
    ],
    rows,
  )}`;
}
