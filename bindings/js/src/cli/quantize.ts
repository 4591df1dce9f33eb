// halftone quantize: a plan, ranges from samples, and the model with Q/DQ pairs.
import { basename, extname } from 'node:path';
import { changeTexts } from '../shared/change_texts.js';
import { jsonFile } from '../shared/result_files.js';
import type { ConcatGroup, Model, QuantizeReport, SampleSet } from '../types.js';
import type {
  CalibrationChoice,
  EngineChoice,
  OutputOptions,
  PlanChoice,
  SampleChoice,
  ScoreChoice,
} from './options.js';
import { checkOutput, writeOutput } from './output_files.js';
import { decibels, printable, sizeText } from './terminal.js';
import { type Context, checkSampleChoice, type Work, withWork } from './work.js';

/** Protobuf can't hold more in one file; some room for what quantizing adds. */
export const ONE_FILE_BYTES = 2 ** 31 - 2 ** 24;

export type QuantizeCommand = OutputOptions &
  EngineChoice &
  PlanChoice &
  SampleChoice &
  CalibrationChoice &
  ScoreChoice;

/** "models/net.onnx" gives "net". */
export function modelStem(path: string): string {
  return basename(path, extname(path));
}

export async function quantize(path: string, options: QuantizeCommand, context: Context): Promise<void> {
  const output = options.output ?? `${modelStem(path)}.qdq.onnx`;
  const inputs = [path, options.plan, options.encodings].filter((input) => input !== undefined);
  checkOutput(output, inputs, options.force === true);
  const needsSamples =
    options.encodings === undefined || options.samples !== undefined || options.randomData !== undefined;
  if (needsSamples) checkSampleChoice(options);
  await withWork(context, options, async (work) => {
    const model = await work.openModel(path);
    const samples = needsSamples ? await work.samples(model, options) : null;
    const report = await quantizeTo(output, { model, samples, work, options, inputs });
    work.json(jsonFile(report));
    work.say(reportText(report));
    work.warn(
      [...(samples?.warnings ?? []), ...report.warnings].filter(
        (warning, i, all) => all.findIndex((other) => other.message === warning.message) === i,
      ),
    );
  });
}

interface Job {
  model: Model;
  samples: SampleSet | null;
  work: Work;
  options: QuantizeCommand;
  inputs: string[];
}

async function quantizeTo(
  output: string,
  { model, samples, work, options, inputs }: Job,
): Promise<QuantizeReport> {
  const plan = await work.plan(model, options, samples);
  const encodings = await work.encodings(model, plan, samples, options);
  const external = model.bytes > ONE_FILE_BYTES ? `${output}.data` : null;
  if (external !== null) checkOutput(external, inputs, options.force === true);
  const written = await model.quantize(plan, encodings, {
    ...work.call,
    ...(external !== null && { externalData: basename(external) }),
    random: samples?.random === true,
  });
  const score =
    samples === null
      ? null
      : await model.score(plan, encodings, samples, {
          ...work.call,
          ...(options.score.length > 0 && { score: options.score }),
        });
  if (external !== null && written.externalData !== undefined)
    await writeOutput(external, written.externalData);
  await writeOutput(output, written.model);
  return {
    ...written.report,
    output,
    warnings: [...written.report.warnings, ...(score?.warnings ?? [])],
    score: { simulated: score?.simulated ?? null, fused: score?.fused ?? null },
  };
}

export function reportText(report: QuantizeReport): string {
  const ratio =
    report.bytes === 0 ? '' : ` (${(report.float_bytes / report.bytes).toFixed(2)} times smaller)`;
  const quantized = Object.entries(report.quantized_nodes).map(([op, count]) => `${count} ${op}`);
  const lines = [
    report.sites.quantized === 0 ? 'NOTHING WAS QUANTIZED: the written model is the float model.' : '',
    `size      float ${sizeText(report.float_bytes)}, quantized ${sizeText(report.bytes)}${ratio}`,
    `nodes     ${quantized.join(', ') || 'none'} quantized, ${report.nodes} in all`,
    report.score.simulated === null && report.score.fused === null
      ? ''
      : `PSNR      ${decibels(report.score.simulated)} simulated, ${decibels(report.score.fused)} as the runtime runs it by default`,
    countsText('sites     quantized by ', report.sites.by_rule),
    countsText('float     ', report.sites.float_by_rule),
    ...report.concat_groups.map((group) => `scale     ${groupText(group)}`),
    ...changeTexts(report).map((text) => `changed   ${text}`),
    `written   ${report.output}`,
  ];
  return `${lines.filter((line) => line !== '').join('\n')}\n`;
}

/** "24 partition_head, 3 gemv", or nothing. */
function countsText(head: string, counts: Record<string, number>): string {
  const parts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  return parts.length === 0 ? '' : printable(`${head}${parts.join(', ')}`);
}

/** "shared by a, b (1.9 times coarser) at the Concat joined" */
function groupText({ group, branches }: ConcatGroup): string {
  const members = branches.map(({ tensor, growth }) =>
    growth === null || growth < 1.005 ? tensor : `${tensor} (${growth.toFixed(2)} times coarser)`,
  );
  return printable(`shared by ${members.join(', ')} in group ${group}`);
}
