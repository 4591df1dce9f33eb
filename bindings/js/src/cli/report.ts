// halftone report: saved results, AIMET's as well, as one HTML file.

import { reportHtml } from '../report/report_html.js';
import { HalftoneError } from '../shared/errors.js';
import type { Encodings, Plan } from '../types.js';
import type { OutputOptions } from './options.js';
import { checkOutput, writeOutput } from './output_files.js';
import { readResultsFile } from './results_file.js';
import { sizeText } from './terminal.js';
import { type Context, readJson, withWork } from './work.js';

interface ReportCommand extends OutputOptions {
  output: string;
  plan?: string;
  encodings?: string;
}

export async function report(path: string, options: ReportCommand, context: Context): Promise<void> {
  const inputs = [path, options.plan, options.encodings].filter((input) => input !== undefined);
  checkOutput(options.output, inputs, options.force === true);
  await withWork(context, options, async (work) => {
    const results = await readResultsFile(path, work);
    const plan = part<Plan>(options.plan, fitsPlan, results.halftone.model_sha256);
    const encodings = part<Encodings>(options.encodings, fitsEncodings, results.halftone.model_sha256);
    const html = reportHtml({ results, ...(plan && { plan }), ...(encodings && { encodings }) });
    const bytes = await writeOutput(options.output, html);
    if (options.quiet !== true) work.say(`${options.output}  ${sizeText(bytes)}\n`);
  });
}

/** A file that goes with the results. `fits`: whether it can be shown. */
function part<T extends { model_sha256: string }>(
  path: string | undefined,
  fits: (value: T) => boolean,
  model: string | undefined,
): T | null {
  if (path === undefined) return null;
  const value = readJson<T>(path);
  if (!fits(value)) {
    throw new HalftoneError('invalid_policy', `${path} is not what its option asks for.`, {
      where: path,
      next: 'Write it again with halftone.',
    });
  }
  if (model !== undefined && model !== '' && value.model_sha256 !== model) {
    throw new HalftoneError('invalid_policy', `${path} was made for another model than the results.`, {
      where: path,
      next: 'Give the one that was scored.',
    });
  }
  return value;
}

const isText = (value: unknown) => typeof value === 'string';
const isObject = (value: unknown) => typeof value === 'object' && value !== null;
const areNumbers = (value: unknown) =>
  Array.isArray(value) && value.every((item) => typeof item === 'number' || item === null);

function fitsPlan({ sites, inputs, warnings, target }: Plan): boolean {
  return (
    isText(target) &&
    Array.isArray(sites) &&
    sites.every(
      (site) =>
        isObject(site) &&
        [site.tensor, site.role, site.format, site.granularity, site.rule, site.why].every(isText) &&
        Array.isArray(site.consumers) &&
        site.consumers.every(Array.isArray),
    ) &&
    Array.isArray(inputs) &&
    inputs.every((input) => isObject(input) && [input.node, input.op, input.tensor].every(isText)) &&
    Array.isArray(warnings) &&
    warnings.every((warning) => isObject(warning) && isText(warning.message))
  );
}

function fitsEncodings({ encodings, method }: Encodings): boolean {
  return (
    isText(method) &&
    isObject(encodings) &&
    Object.values(encodings).every(
      (encoding) =>
        isObject(encoding) &&
        isText(encoding.format) &&
        [encoding.scale, encoding.zero_point, encoding.min, encoding.max].every(areNumbers),
    )
  );
}
