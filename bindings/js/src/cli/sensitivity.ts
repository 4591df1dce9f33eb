// halftone sensitivity: each quantizer or group alone, worst first. Ctrl-C keeps the rows that are in.
import { lossScale, rankingRows, scoreTitle } from '../report/ranking_rows.js';
import type { ReportData } from '../report/report_data.js';
import { asHalftoneError } from '../shared/errors.js';
import { scoreText } from '../shared/metric_text.js';
import { jsonFile } from '../shared/result_files.js';
import type { Encodings, Model, Plan, SampleSet, SensitivityResults, SensitivityRun } from '../types.js';
import { Interrupted } from './errors.js';
import type { CalibrationChoice, EngineChoice, PlanChoice, SampleChoice } from './options.js';
import { freeName, writeOutput } from './output_files.js';
import { modelStem } from './quantize.js';
import { checkResultOutputs, type ResultOutputs, readResultsFile, writeResults } from './results_file.js';
import { checkSweepChoice, type SweepChoice, sweepOptions } from './sweep_options.js';
import { bar, printable, table } from './terminal.js';
import { type Context, checkSampleChoice, type Work, withWork } from './work.js';

const SHOWN = 20;
const BAR_WIDTH = 16;

export type SensitivityCommand = ResultOutputs &
  EngineChoice &
  PlanChoice &
  SampleChoice &
  CalibrationChoice &
  SweepChoice;

export async function sensitivity(
  path: string,
  options: SensitivityCommand,
  context: Context,
): Promise<void> {
  // Results to go on from may be replaced by those that come of it, with --force.
  const inputs = [path, options.plan, options.encodings].filter((input) => input !== undefined);
  checkResultOutputs(options, inputs);
  checkSampleChoice(options);
  checkSweepChoice(options);
  await withWork(context, options, async (work) => {
    const resume = options.resume === undefined ? null : await readResultsFile(options.resume, work);
    const model = await work.openModel(path);
    const samples = await work.samples(model, options);
    const plan = await work.plan(model, options, samples);
    const encodings = await work.encodings(model, plan, samples, options);
    const run = model.sensitivity(plan, encodings, samples, {
      ...work.call,
      ...sweepOptions(options, resume),
    });
    const results = await resultsOrPartial(run, path, options, work);
    const written = await writeResults(results, options, () =>
      everything(model, plan, encodings, samples, results, work),
    );
    work.json(jsonFile(results));
    work.say(rankingText(results, plan, options.verbose === true));
    work.warn(results.halftone.warnings);
    work.say(written);
  });
}

/** What a report can show of a run; the error of each tensor takes one more pass over the samples. */
async function everything(
  model: Model,
  plan: Plan,
  encodings: Encodings,
  samples: SampleSet,
  results: SensitivityResults,
  work: Work,
): Promise<ReportData> {
  return {
    results,
    plan,
    encodings,
    summary: await model.inspect(),
    graph: await model.graph(),
    propagation: await model.propagation(plan, encodings, samples, work.call),
  };
}

async function resultsOrPartial(
  run: SensitivityRun,
  path: string,
  options: SensitivityCommand,
  work: Work,
): Promise<SensitivityResults> {
  try {
    return await run.results();
  } catch (error) {
    if (asHalftoneError(error).code !== 'cancelled') throw error;
    throw await savePartial(run, path, options, work);
  }
}

async function savePartial(
  run: SensitivityRun,
  path: string,
  options: SensitivityCommand,
  work: Work,
): Promise<Interrupted> {
  const results = await run.partial();
  if (results.ranking.length === 0) return new Interrupted('Stopped before the first row.');
  const rows = `${results.ranking.length}${totalText(results)} rows`;
  const warning = { code: 'partial', message: `The run was stopped: ${rows} are ranked.`, where: '' };
  const json = jsonFile({
    ...results,
    halftone: { ...results.halftone, warnings: [warning, ...results.halftone.warnings] },
  });
  const output = options.output ?? freeName(`${modelStem(path)}.sensitivity.partial`, '.json');
  await writeOutput(output, json);
  work.json(json);
  return new Interrupted(`Stopped: ${rows} are saved in ${output}. Go on with --resume ${output}.`);
}

/** " of 108": this part's rows, if the results tell. */
function totalText({ halftone: { groups, shard } }: SensitivityResults): string {
  if (groups === undefined) return '';
  if (shard === undefined) return ` of ${groups}`;
  return ` of ${Math.max(0, Math.floor((groups - shard.index) / shard.count) + 1)}`;
}

/** The worst loss fills the bar; no loss at all is empty. */
export function rankingTable(results: SensitivityResults, plan: Plan | null, rows: number): string {
  const loss = lossScale(results);
  const metric = results.halftone.metric;
  const all = rankingRows({ results, ...(plan !== null && { plan }) });
  const withRole = all.some((row) => row.role !== '');
  const shown = all
    .slice(0, rows)
    .map(({ rank, name, score, role }) => [
      String(rank),
      scoreText(metric, score),
      bar(loss(score), BAR_WIDTH),
      ...(withRole ? [role] : []),
      name,
    ]);
  const columns = [
    { title: 'rank', right: true },
    { title: scoreTitle(results), right: true },
    { title: 'loss' },
    ...(withRole ? [{ title: 'role' }] : []),
    {
      title: (results.halftone.by || 'quantizer').startsWith('re:') ? 'group' : results.halftone.by || 'name',
    },
  ];
  return table(columns, shown);
}

export function rankingText(results: SensitivityResults, plan: Plan | null, verbose: boolean): string {
  const { skipped } = results.halftone;
  const rows = verbose ? results.ranking.length : SHOWN;
  const more = results.ranking.length - rows;
  const skips = verbose ? skipped : skipped.slice(0, SHOWN);
  const unsaid = skipped.length - skips.length;
  const lines = [
    `${headText(results)}\n`,
    rankingTable(results, plan, rows),
    more > 0 ? `${more} more; --verbose shows them, --json and -o have everything.\n` : '',
    ...skips.map(({ name, why }) => `skipped ${printable(name)}: ${printable(why)}\n`),
    unsaid > 0 ? `${unsaid} more skipped; --verbose shows them.\n` : '',
  ];
  return lines.join('');
}

function headText(results: SensitivityResults): string {
  const { scored, samples, by, sweep, shard } = results.halftone;
  const one = by === 'quantizer' || by === '' ? 'one quantizer' : 'one group';
  const what = sweep === 'disable' ? `all but ${one}` : `${one} at a time`;
  const last = sweep === 'disable' ? ': leaving out the last ones helps most' : '';
  const part = shard === undefined ? '' : `, shard ${shard.index} of ${shard.count}`;
  const of = scored.length === 0 ? '' : ` of ${printable(scored.join(', '))}`;
  return `${scoreTitle(results)}${of} over ${samples} sample${samples === 1 ? '' : 's'}, ${what}, worst first${last}${part}`;
}
