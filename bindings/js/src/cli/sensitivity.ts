// halftone sensitivity: each quantizer alone, worst first. Ctrl-C keeps the rows that are in.
import { asHalftoneError } from '../shared/errors.js';
import { jsonFile } from '../shared/result_files.js';
import type { Plan, SensitivityResults, SensitivityRun } from '../types.js';
import { Interrupted } from './errors.js';
import type {
  CalibrationChoice,
  EngineChoice,
  OutputOptions,
  PlanChoice,
  SampleChoice,
  ScoreChoice,
} from './options.js';
import { checkOutput, freeName, writeOutput } from './output_files.js';
import { modelStem } from './quantize.js';
import { bar, decibels, sizeText, table } from './terminal.js';
import { type Context, checkSampleChoice, type Work, withWork } from './work.js';

const SHOWN = 20;
const BAR_WIDTH = 16;

export type SensitivityCommand = OutputOptions &
  EngineChoice &
  PlanChoice &
  SampleChoice &
  CalibrationChoice &
  ScoreChoice;

export async function sensitivity(
  path: string,
  options: SensitivityCommand,
  context: Context,
): Promise<void> {
  const inputs = [path, options.plan, options.encodings].filter((input) => input !== undefined);
  if (options.output !== undefined) checkOutput(options.output, inputs, options.force === true);
  checkSampleChoice(options);
  await withWork(context, options, async (work) => {
    const model = await work.openModel(path);
    const samples = await work.samples(model, options);
    const plan = await work.plan(model, options, samples);
    const encodings = await work.encodings(model, plan, samples, options);
    const score = options.score === undefined ? {} : { score: options.score };
    const run = model.sensitivity(plan, encodings, samples, { ...work.call, ...score });
    const results = await resultsOrPartial(run, plan, path, options, work);
    const json = jsonFile(results);
    work.json(json);
    work.say(resultsText(results, plan, options.verbose === true));
    work.warn(results.halftone.warnings);
    if (options.output === undefined) return;
    const bytes = await writeOutput(options.output, json);
    work.say(`\n${options.output}  ${sizeText(bytes)}\n`);
  });
}

async function resultsOrPartial(
  run: SensitivityRun,
  plan: Plan,
  path: string,
  options: SensitivityCommand,
  work: Work,
): Promise<SensitivityResults> {
  try {
    return await run.results();
  } catch (error) {
    if (asHalftoneError(error).code !== 'cancelled') throw error;
    throw await savePartial(run, plan, path, options, work);
  }
}

async function savePartial(
  run: SensitivityRun,
  plan: Plan,
  path: string,
  options: SensitivityCommand,
  work: Work,
): Promise<Interrupted> {
  const results = await run.partial();
  const total =
    plan.sites.filter((site) => site.quantized && site.role !== 'bias').length -
    results.halftone.skipped.length;
  const rows = `${results.ranking.length} of ${total} rows`;
  if (results.ranking.length === 0) return new Interrupted('Stopped before the first row.');
  const warning = { code: 'partial', message: `The run was stopped: ${rows} are ranked.`, where: '' };
  const json = jsonFile({
    ...results,
    halftone: { ...results.halftone, warnings: [warning, ...results.halftone.warnings] },
  });
  const output = options.output ?? freeName(`${modelStem(path)}.sensitivity.partial`, '.json');
  await writeOutput(output, json);
  work.json(json);
  return new Interrupted(`Stopped: ${rows} are saved in ${output}.`);
}

/** The worst loss fills the bar; a score of 100 dB, no loss at all, is empty. */
export function rankingTable(results: SensitivityResults, plan: Plan, rows: number): string {
  const roles = new Map(plan.sites.map((site) => [site.tensor, site.role]));
  const worst = 100 - (results.ranking[0]?.score ?? 0);
  const shown = results.ranking.slice(0, rows).map(({ rank, name, score }) => {
    const loss = score === null ? 1 : (100 - score) / (worst || 1);
    return [String(rank), decibels(score), bar(loss, BAR_WIDTH), roles.get(name) ?? '', name];
  });
  const columns = [
    { title: 'rank', right: true },
    { title: 'PSNR', right: true },
    { title: 'loss' },
    { title: 'role' },
    { title: 'quantizer' },
  ];
  return table(columns, shown);
}

function resultsText(results: SensitivityResults, plan: Plan, verbose: boolean): string {
  const { scored, samples, skipped } = results.halftone;
  const rows = verbose ? results.ranking.length : SHOWN;
  const more = results.ranking.length - rows;
  const lines = [
    `PSNR of ${scored.join(', ')} over ${samples} sample${samples === 1 ? '' : 's'}, one quantizer at a time, worst first\n`,
    rankingTable(results, plan, rows),
    more > 0 ? `${more} more; --verbose shows them, --json and -o have everything.\n` : '',
    ...skipped.map(({ name, why }) => `skipped ${name}: ${why}\n`),
  ];
  return lines.join('');
}
