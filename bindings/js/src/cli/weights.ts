// What encode, decode and formats do with the weights of a model.
import { basename } from 'node:path';
import { HalftoneError } from '../shared/errors.js';
import { jsonFile } from '../shared/result_files.js';
import type { ConvertedModel, Model, WeightInfo, WeightsReport } from '../types.js';
import type { OutputOptions } from './options.js';
import { checkOutput, writeOutput } from './output_files.js';
import { ONE_FILE_BYTES } from './quantize.js';
import { printable, sizeText, table } from './terminal.js';
import type { Work } from './work.js';

const MOST_ROWS = 20;

/** The weights that patterns take. Errors: invalid_policy for one that takes none. */
export async function chosenWeights(model: Model, patterns: string[]): Promise<string[]> {
  const weights = new Set((await model.weights()).map(({ tensor }: WeightInfo) => tensor));
  const chosen = new Set<string>();
  for (const match of await model.previewPatterns(patterns)) {
    const found = match.tensors.filter((name) => weights.has(name));
    if (found.length === 0) {
      throw new HalftoneError('invalid_policy', `No float32 weight is called ${match.pattern}.`, {
        where: match.pattern,
        next:
          match.near_misses.length > 0
            ? `Did you mean ${match.near_misses.join(', ')}?`
            : 'Take a name from halftone plan.',
      });
    }
    for (const name of found) chosen.add(name);
  }
  return [...chosen];
}

/** Makes a model, writes it, and says what became of its weights. */
export async function writeConverted(
  { output, input, model }: { output: string; input: string; model: Model },
  options: OutputOptions,
  work: Work,
  make: (placement: { externalData?: string }) => Promise<ConvertedModel>,
): Promise<void> {
  const external = model.bytes > ONE_FILE_BYTES ? `${output}.data` : null;
  if (external !== null) checkOutput(external, [input], options.force === true);
  const made = await make(external === null ? {} : { externalData: basename(external) });
  if (external !== null && made.externalData !== undefined) await writeOutput(external, made.externalData);
  await writeOutput(output, made.model);
  work.json(jsonFile({ ...made.report, output }));
  work.say(reportText(made.report, output, work.options.verbose === true));
  work.warn(made.report.warnings);
}

function reportText(report: WeightsReport, output: string, all: boolean): string {
  const { encoded, standard, decoded, left } = report;
  const counts = [
    encoded.length > 0 ? `${encoded.length} encoded` : '',
    decoded.length > 0 ? `${decoded.length} decoded` : '',
    standard.length > 0 ? `${standard.length} in standard operators` : '',
    left.length > 0 ? `${left.length} left as they were` : '',
  ].filter((text) => text !== '');
  const lines = [
    counts.length === 0
      ? 'NO WEIGHT WAS CHANGED: there was none to convert.'
      : `weights   ${counts.join(', ')}`,
    `size      ${sizeText(report.bytesBefore)} before, ${sizeText(report.bytes)} now`,
    `written   ${output}`,
  ];
  const rows = [
    ...standard.map(({ tensor, form, type, block, rounding }) => [
      tensor,
      form,
      block > 0 ? `${type}, blocks of ${block}` : type,
      rounding === 0 ? 'exact' : `scales rounded by ${rounding.toPrecision(2)}`,
    ]),
    ...left.map(({ tensor, reason }) => [tensor, 'left', '', reason]),
  ];
  const shown = all ? rows : rows.slice(0, MOST_ROWS);
  const more = rows.length - shown.length;
  const list =
    shown.length === 0
      ? ''
      : `\n${table([{ title: 'weight' }, { title: 'now' }, { title: 'codes' }, { title: '', whole: true }], shown)}`;
  const rest = more > 0 ? `${more} more; --verbose shows them.\n` : '';
  return `${lines.map((line) => printable(line)).join('\n')}\n${list}${rest}`;
}
