// halftone compare: the outputs of two models side by side.
import { jsonFile } from '../shared/result_files.js';
import type { Comparison } from '../types.js';
import type { EngineChoice, OutputOptions, SampleChoice } from './options.js';
import { checkOutput, writeOutput } from './output_files.js';
import { decibels, table } from './terminal.js';
import { type Context, checkSampleChoice, withWork } from './work.js';

export async function compareModels(
  pathA: string,
  pathB: string,
  options: OutputOptions & EngineChoice & SampleChoice,
  context: Context,
): Promise<void> {
  if (options.output !== undefined) checkOutput(options.output, [pathA, pathB], options.force === true);
  checkSampleChoice(options);
  await withWork(context, options, async (work) => {
    const a = await work.openModel(pathA);
    const b = await work.openModel(pathB);
    const samples = await work.samples(a, options);
    const comparison = await context.halftone.compare(a, b, samples, work.call);
    const json = jsonFile(comparison);
    if (options.output !== undefined) await writeOutput(options.output, json);
    work.json(json);
    work.say(comparisonText(comparison));
    work.warn(comparison.warnings);
  });
}

function comparisonText({ outputs, samples, runner }: Comparison): string {
  const digits = (value: number | null) => (value === null ? 'n/a' : value.toPrecision(6));
  const rows = outputs.map(({ name, psnr, sqnr, max_abs_error, cosine }) => [
    name,
    decibels(psnr),
    decibels(sqnr),
    digits(max_abs_error),
    digits(cosine),
  ]);
  const columns = [
    { title: 'output' },
    ...['PSNR', 'SQNR', 'largest error', 'cosine'].map((title) => ({ title, right: true })),
  ];
  return `${samples} sample${samples === 1 ? '' : 's'}, runner ${runner}\n\n${table(columns, rows)}`;
}
