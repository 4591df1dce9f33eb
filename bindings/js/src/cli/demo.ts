// What ./run alone does: the whole way on the bundled text direction model, printed for people, then the page.
import { mkdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { reportHtml } from '../report/report_html.js';
import { type ImageOptions, openPaths, readSamples } from '../samples/index.js';
import { HalftoneError } from '../shared/errors.js';
import { jsonFile } from '../shared/result_files.js';
import type {
  Encodings,
  Model,
  ModelSummary,
  Plan,
  QuantizeReport,
  SampleSet,
  SensitivityResults,
} from '../types.js';
import { summaryText } from './inspect.js';
import { writeOutput } from './output_files.js';
import { checkoutFolder } from './package_files.js';
import { sitesText } from './plan.js';
import { agreementText, type Classifier, type Prediction, percent, predictBoth } from './predictions.js';
import { modelStem, reportText } from './quantize.js';
import { rankingTable } from './sensitivity.js';
import { serve } from './serve.js';
import { printable, sizeText, table } from './terminal.js';
import { type Context, type Work, withWork } from './work.js';

interface BundledSample {
  id: string;
  title: string;
  description: string;
  model: { name: string; package: string; version: string; path: string };
  folder: string;
  files: string[];
  images: ImageOptions | null;
  prediction: Classifier | null;
}

export interface DemoOptions {
  /** False with --no-serve. */
  serve: boolean;
  port?: number;
  quiet?: boolean;
  workers?: number;
}

const SHOWN = 10;

export async function demo(options: DemoOptions, context: Context): Promise<void> {
  const checkout = checkoutFolder();
  if (checkout === null) {
    throw new HalftoneError('invalid_state', 'The demonstration needs a checkout of Halftone.', {
      next: 'Use halftone quantize MODEL with a model of your own.',
    });
  }
  await withWork(context, options, (work) => runSample(checkout, firstSample(checkout), work));
  if (options.serve) await serve({ ...(options.port !== undefined && { port: options.port }) }, context);
}

function firstSample(checkout: string): BundledSample & { prediction: Classifier } {
  const list = JSON.parse(readFileSync(join(checkout, 'web', 'samples', 'samples.json'), 'utf8')) as {
    samples: BundledSample[];
  };
  const sample = list.samples.find((candidate) => candidate.prediction !== null);
  if (sample === undefined) throw new HalftoneError('internal', 'There is no sample with predictions.');
  return sample as BundledSample & { prediction: Classifier };
}

async function runSample(
  checkout: string,
  sample: BundledSample & { prediction: Classifier },
  work: Work,
): Promise<void> {
  const ready = await prepare(checkout, sample, work);
  const { model, summary, plan, samples, encodings, stem } = ready;
  const results = await rank(ready, work);
  const written = await model.quantize(plan, encodings, work.call);
  const { simulated, fused } = await model.score(plan, encodings, samples, work.call);
  const output = join('out', `${stem}.qdq.onnx`);
  const report: QuantizeReport = { ...written.report, output, score: { simulated, fused } };
  work.say(`${reportText(report)}\n`);
  work.warn(report.warnings);

  const quantized = await work.engine.open(written.model, { name: `${stem}.qdq.onnx`, ...work.call });
  const predictions = await predictBoth(model, quantized, samples, sample.prediction, work.call);
  work.say(`${predictionsText(predictions)}\n`);
  const { title, description } = sample;
  const page = reportHtml({
    title,
    description,
    summary,
    plan,
    encodings,
    results,
    quantized: report,
    predictions,
    warnings: samples.warnings,
  });
  await writeAll(checkout, { output, model: written.model, plan, encodings, results, page }, work);
}

interface Ready {
  model: Model;
  summary: ModelSummary;
  plan: Plan;
  samples: SampleSet;
  encodings: Encodings;
  stem: string;
}

/** Opens, plans and calibrates, saying each. */
async function prepare(checkout: string, sample: BundledSample, work: Work): Promise<Ready> {
  const path = join(checkout, 'node_modules', sample.model.package, sample.model.path);
  const model = await work.openModel(path);
  const summary = await model.inspect();
  work.say(`${sample.title}. ${sample.description}\n\n${summaryText(summary)}\n`);
  const plan = await model.plan({ target: 'onnxruntime' });
  work.say(`Plan for ${plan.target}: ${sitesText(plan.sites)}\n`);

  const files = openPaths(sample.files.map((file) => join(checkout, 'web', 'samples', sample.folder, file)));
  const short = files.map((file) => ({ ...file, name: file.name.slice(file.name.lastIndexOf('/') + 1) }));
  const samples = await readSamples(short, summary.model.inputs, sample.images ?? {});
  work.warn(samples.warnings);
  const encodings = await model.calibrate(plan, samples, { method: 'minmax', ...work.call });
  const count = Object.keys(encodings.encodings).length;
  work.say(`Calibrated: ${count} tensors over ${encodings.samples} samples by ${encodings.method}\n\n`);
  return { model, summary, plan, samples, encodings, stem: modelStem(path) };
}

async function rank({ model, plan, samples, encodings }: Ready, work: Work): Promise<SensitivityResults> {
  const results = await model.sensitivity(plan, encodings, samples, work.call).results();
  const { ranking, halftone } = results;
  const shown = Math.min(SHOWN, ranking.length);
  const scored = printable(halftone.scored.join(', '));
  work.say(`The ${shown} most sensitive of ${ranking.length} quantizers, each alone; PSNR of ${scored}\n`);
  work.say(`${rankingTable(results, plan, shown)}\n`);
  work.warn(halftone.warnings);
  return results;
}

function predictionsText(predictions: readonly Prediction[]): string {
  const rows = predictions.map(({ sample, float, quantized, agree }) => [
    sample,
    `${float.label} ${percent(float.probability)}`,
    `${quantized.label} ${percent(quantized.probability)}`,
    agree ? 'agree' : 'differ',
  ]);
  const columns = [{ title: 'sample' }, { title: 'float' }, { title: 'quantized' }, { title: '' }];
  return `${table(columns, rows)}${agreementText(predictions)}\n`;
}

interface Written {
  output: string;
  model: Blob;
  plan: Plan;
  encodings: Encodings;
  results: SensitivityResults;
  page: string;
}

/** out/ is the demonstration's own folder; what an earlier run wrote there is replaced. */
async function writeAll(checkout: string, made: Written, work: Work): Promise<void> {
  const out = join(checkout, 'out');
  mkdirSync(out, { recursive: true });
  const files: [string, string | Blob][] = [
    [join(checkout, made.output), made.model],
    [join(out, 'plan.json'), jsonFile(made.plan)],
    [join(out, 'encodings.json'), jsonFile(made.encodings)],
    [join(out, 'sensitivity.json'), jsonFile(made.results)],
    [join(out, 'report.html'), made.page],
  ];
  const rows: string[][] = [];
  for (const [path, content] of files)
    rows.push([relative(checkout, path), sizeText(await writeOutput(path, content))]);
  work.say(table([{ title: 'written' }, { title: 'size', right: true }], rows));
}
