// halftone inspect: what is in a model, sites per target, and what blocks quantization.
import { jsonFile } from '../shared/result_files.js';
import type { ModelSummary, ValueInfo } from '../types.js';
import type { EngineChoice, OutputOptions } from './options.js';
import { checkOutput, writeOutput } from './output_files.js';
import { printable, sizeText, table } from './terminal.js';
import { type Context, withWork } from './work.js';

export async function inspect(
  path: string,
  options: OutputOptions & EngineChoice,
  context: Context,
): Promise<void> {
  if (options.output !== undefined) checkOutput(options.output, [path], options.force === true);
  await withWork(context, options, async (work) => {
    const model = await work.openModel(path);
    const summary = await model.inspect();
    const json = jsonFile(summary);
    if (options.output !== undefined) await writeOutput(options.output, json);
    work.json(json);
    work.say(summaryText(summary));
    work.warn(summary.warnings);
  });
}

function valueText({ name, type, shape }: ValueInfo): string {
  const dims = shape === null ? '' : `[${shape.map((dim) => dim ?? '?').join(', ')}]`;
  return printable(`${name} ${type}${dims}`);
}

function countsText(counts: Record<string, number>): string {
  const parts = Object.entries(counts).map(([rule, count]) => `${count} ${rule}`);
  return parts.length === 0 ? 'none' : printable(parts.join(', '));
}

export function opsetText(opset: Record<string, number>): string {
  const named = Object.entries(opset).map(([domain, version]) =>
    domain === '' ? `opset ${version}` : `${domain} ${version}`,
  );
  return printable(named.join(', '));
}

export function summaryText({
  model,
  nodes,
  operators,
  parameters,
  quantized,
  targets,
}: ModelSummary): string {
  const facts = [
    `${sizeText(model.bytes)}`,
    opsetText(model.opset),
    `IR ${model.ir_version}`,
    ...(model.producer === '' ? [] : [`by ${printable(model.producer)}`]),
  ];
  const lines = [
    `${printable(model.name)}: ${facts.join(', ')}`,
    `sha256    ${model.sha256}`,
    ...model.inputs.map((input) => `input     ${valueText(input)}`),
    ...model.outputs.map((output) => `output    ${valueText(output)}`),
    `weights   ${parameters.count.toLocaleString('en-US')} numbers, ${sizeText(parameters.bytes)}`,
    quantized.pairs > 0 ? `quantized already: ${quantized.pairs} DequantizeLinear nodes` : '',
    ...Object.entries(targets).flatMap(([target, { sites, quantized: on, inputs_by_rule }]) => [
      `target    ${target}: ${sites} sites, ${on} quantized`,
      `          node inputs: ${countsText(inputs_by_rule)}`,
    ]),
    `nodes     ${nodes}`,
  ];
  const rows = Object.entries(operators).map(([name, count]) => [name, String(count)]);
  return `${lines.filter((line) => line !== '').join('\n')}\n\n${table([{ title: 'operator' }, { title: 'count', right: true }], rows)}`;
}
