// halftone pareto: mixed-precision models, found by measuring them. Writes a folder: what was measured, and plan and encodings
// of every model that no other beats. Ctrl-C keeps what was measured.
import { join } from 'node:path';
import { reportHtml } from '../report/report_html.js';
import { asHalftoneError } from '../shared/errors.js';
import { scoreText } from '../shared/metric_text.js';
import { withFront } from '../shared/pareto_front.js';
import { jsonFile } from '../shared/result_files.js';
import type { Encodings, Model, ParetoPoint, Plan, SampleSet, SensitivityResults } from '../types.js';
import { Interrupted } from './errors.js';
import { countText, times, unknownText } from './flip.js';
import { type PrecisionChoice, precision } from './mixed_options.js';
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
import { readResultsFile } from './results_file.js';
import { sizeText, table } from './terminal.js';
import { type Context, checkSampleChoice, type Work, withWork } from './work.js';

export type ParetoCommand = OutputOptions &
  EngineChoice &
  PlanChoice &
  SampleChoice &
  CalibrationChoice &
  ScoreChoice &
  PrecisionChoice & {
    results?: string;
    maxBytes: number;
    maxBitOps: number;
    most?: number;
    report?: string;
  };

const INDEX = 'pareto.json';

export async function pareto(path: string, options: ParetoCommand, context: Context): Promise<void> {
  const folder = options.output ?? freeName(`${modelStem(path)}.pareto`, '');
  const inputs = [path, options.plan, options.encodings, options.results].filter(
    (input) => input !== undefined,
  );
  checkOutput(join(folder, INDEX), inputs, options.force === true);
  if (options.report !== undefined) checkOutput(options.report, inputs, options.force === true);
  checkSampleChoice(options);
  const to = precision(options);
  await withWork(context, options, async (work) => {
    const known = options.results === undefined ? null : await readResultsFile(options.results, work);
    const model = await work.openModel(path);
    const samples = await work.samples(model, options);
    const plan = await work.plan(model, options, samples);
    const encodings = await work.encodings(model, plan, samples, options);
    const results = known ?? (await ranked(model, plan, encodings, samples, options, work));
    const measured: ParetoPoint[] = [];
    const search = model.pareto(plan, encodings, results, samples, {
      ...work.call,
      ...scoreOption(options),
      to,
      maxWeightBytes: options.maxBytes,
      maxBitOps: options.maxBitOps,
      ...(options.most !== undefined && { most: options.most }),
      onPoint: (point) => measured.push(point),
    });
    const points = await search.catch(async (error) => {
      if (asHalftoneError(error).code !== 'cancelled') throw error;
      throw await savePartial(measured, folder, work);
    });
    const index = await writePoints(points, folder);
    if (options.report !== undefined) {
      const summary = await model.inspect();
      await writeOutput(options.report, reportHtml({ results, plan, encodings, summary, pareto: points }));
    }
    work.json(index.json);
    work.say(frontText(index.front, points[0]!));
    work.warn([...samples.warnings, ...(index.front[0]?.warnings ?? [])]);
    work.say(
      `\n${folder}  ${index.files} files\n${options.report === undefined ? '' : `${options.report}\n`}`,
    );
  });
}

function scoreOption({ score }: ParetoCommand): { score?: string[] } {
  return score.length === 0 ? {} : { score };
}

/** How much each quantizer hurts by itself tells the search where to look first. */
function ranked(
  model: Model,
  plan: Plan,
  encodings: Encodings,
  samples: SampleSet,
  options: ParetoCommand,
  work: Work,
): Promise<SensitivityResults> {
  return model.sensitivity(plan, encodings, samples, { ...work.call, ...scoreOption(options) }).results();
}

async function savePartial(measured: ParetoPoint[], folder: string, work: Work): Promise<Interrupted> {
  if (measured.length === 0) return new Interrupted('Stopped before the first model was measured.');
  const index = await writePoints(withFront(measured), folder);
  work.json(index.json);
  return new Interrupted(`Stopped: ${measured.length} models were measured, and are saved in ${folder}.`);
}

/** Those worth having, best score first, each with its files' number. */
async function writePoints(
  points: ParetoPoint[],
  folder: string,
): Promise<{ json: string; front: ParetoPoint[]; files: number }> {
  const front = points.filter((point) => point.front).sort((a, b) => b.score - a.score);
  const digits = Math.max(2, String(front.length).length);
  const named = new Map(
    front.map((point, i) => [
      point,
      { plan: `${number(i)}.plan.json`, encodings: `${number(i)}.encodings.json` },
    ]),
  );
  function number(i: number): string {
    return String(i + 1).padStart(digits, '0');
  }
  for (const [{ plan, encodings }, files] of named) {
    await writeOutput(join(folder, files.plan), jsonFile(plan));
    await writeOutput(join(folder, files.encodings), jsonFile(encodings));
  }
  const rows = points.map((point) => {
    const { score, cost, flipped, front: worthHaving, warnings } = point;
    const files = named.get(point) ?? { plan: null, encodings: null };
    return {
      score: Number.isFinite(score) ? score : null,
      cost,
      front: worthHaving,
      flipped,
      ...files,
      warnings,
    };
  });
  const json = jsonFile({ points: rows });
  await writeOutput(join(folder, INDEX), json);
  return { json, front, files: 2 * front.length + 1 };
}

function frontText(front: ParetoPoint[], start: ParetoPoint): string {
  const rows = front.map(({ score, cost, flipped }, i) => [
    String(i + 1),
    scoreText('psnr', score),
    `${sizeText(cost.weight_bytes)}${times(start.cost.weight_bytes, cost.weight_bytes)}`,
    `${countText(cost.bit_ops)}${times(start.cost.bit_ops, cost.bit_ops)}`,
    String(flipped.length),
  ]);
  const columns = [
    { title: '', right: true },
    { title: 'PSNR dB', right: true },
    { title: 'weights', right: true },
    { title: 'bit-operations', right: true },
    { title: 'flipped', right: true },
  ];
  return `Models that no other beats, of those measured\n${table(columns, rows)}${unknownText(start.cost)}`;
}
