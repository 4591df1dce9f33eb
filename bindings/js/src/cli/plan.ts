// halftone plan: every site with its reason.
import { jsonFile } from '../shared/result_files.js';
import type { InputDecision, Model, Plan, Site } from '../types.js';
import type { EngineChoice, OutputOptions, PlanChoice, SampleChoice } from './options.js';
import { checkOutput, writeOutput } from './output_files.js';
import { printable, sizeText, table } from './terminal.js';
import { type Context, checkSampleChoice, withWork } from './work.js';

const SHOWN = 40;
const SHOWN_NAMES = 4;

interface TableChoice {
  /** Node inputs instead of sites. */
  inputs?: boolean;
  /** Only rows with this text in them, in any case. */
  filter?: string;
}

export async function plan(
  path: string,
  options: OutputOptions & EngineChoice & PlanChoice & SampleChoice & TableChoice,
  context: Context,
): Promise<void> {
  const inputs = options.plan === undefined ? [path] : [path, options.plan];
  if (options.output !== undefined) checkOutput(options.output, inputs, options.force === true);
  const sampled = options.samples !== undefined || options.randomData !== undefined;
  if (sampled) checkSampleChoice(options);
  await withWork(context, options, async (work) => {
    const model = await work.openModel(path);
    const samples = sampled ? await work.samples(model, options) : null;
    const made = await work.plan(model, options, samples);
    const json = jsonFile(made);
    work.json(json);
    work.say(await previews(model, options));
    work.say(planText(made, options));
    work.warn(made.warnings);
    if (options.output === undefined) return;
    const bytes = await writeOutput(options.output, json);
    work.say(`\n${options.output}  ${sizeText(bytes)}\n`);
  });
}

/** "exclude op:Conv takes 52 nodes: a, b, c, d, …", a line for each pattern that was given. */
async function previews(model: Model, { include, exclude }: PlanChoice): Promise<string> {
  const lines: string[] = [];
  for (const [option, patterns] of Object.entries({ include, exclude })) {
    if (patterns.length === 0) continue;
    for (const match of await model.previewPatterns(patterns)) {
      const taken = [...namesText(match.nodes, 'node'), ...namesText(match.tensors, 'tensor')];
      lines.push(`${option} ${printable(match.pattern)} takes ${taken.join('; ') || 'nothing'}`);
    }
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n\n`;
}

function namesText(names: readonly string[], what: string): string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, SHOWN_NAMES).map((name) => printable(name));
  const more = names.length > SHOWN_NAMES ? ', …' : '';
  return [`${names.length} ${what}${names.length === 1 ? '' : 's'}: ${shown.join(', ')}${more}`];
}

/** "108 of 161 sites quantized: 54 activations, 54 weights" */
export function sitesText(sites: readonly Site[]): string {
  const on = sites.filter((site) => site.quantized);
  const count = (role: Site['role'], plural: string) => {
    const number = on.filter((site) => site.role === role).length;
    return number === 0 ? [] : [`${number} ${number === 1 ? role : plural}`];
  };
  const parts = [
    ...count('activation', 'activations'),
    ...count('weight', 'weights'),
    ...count('bias', 'biases'),
  ];
  return `${on.length} of ${sites.length} sites quantized${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`;
}

function formatText(site: Site): string {
  if (!site.quantized) return 'float';
  const axis = site.axis === null ? '' : ` axis ${site.axis}`;
  return `${site.format} per ${site.granularity}${axis}`;
}

function planText(made: Plan, options: OutputOptions & TableChoice): string {
  const { columns, rows, what } = options.inputs === true ? inputTable(made.inputs) : siteTable(made.sites);
  const wanted = options.filter?.toLowerCase();
  const found =
    wanted === undefined
      ? rows
      : rows.filter((row) => row.some((cell) => cell.toLowerCase().includes(wanted)));
  const shown = options.verbose === true ? found : found.slice(0, SHOWN);
  const more = found.length - shown.length;
  const rest = more > 0 ? `${more} more ${what}; --verbose shows them, --json and -o have everything.\n` : '';
  const head = `Target ${made.target}${made.match === null ? '' : ` as ${made.match}`}: ${sitesText(made.sites)}`;
  return `${head}\n\n${table(columns, shown)}${rest}\n${rulesText(made)}`;
}

interface Table {
  columns: { title: string; whole?: boolean; right?: boolean }[];
  rows: string[][];
  what: string;
}

function siteTable(sites: readonly Site[]): Table {
  const rows = sites.map((site) => [
    site.tensor,
    site.role,
    `${formatText(site)}${site.scale_group === null ? '' : `, scale of ${site.scale_group}`}`,
    site.rule,
    site.why,
  ]);
  const columns = [
    { title: 'tensor' },
    { title: 'role' },
    { title: 'format' },
    { title: 'rule' },
    { title: 'why', whole: true },
  ];
  return { columns, rows, what: 'sites' };
}

function inputTable(inputs: readonly InputDecision[]): Table {
  const rows = inputs.map((entry) => [
    entry.node,
    entry.op,
    String(entry.input),
    entry.tensor,
    entry.quantized ? 'quantized' : 'float',
    entry.partition ?? '',
    entry.rule,
    entry.why,
  ]);
  const columns = [
    { title: 'node' },
    { title: 'operator' },
    { title: 'input', right: true },
    { title: 'tensor' },
    { title: '' },
    { title: 'partition' },
    { title: 'rule' },
    { title: 'why', whole: true },
  ];
  return { columns, rows, what: 'inputs' };
}

/** How many node inputs each rule decided, the most frequent first. */
function rulesText({ inputs }: Plan): string {
  const rules = new Map<string, { quantized: number; float: number }>();
  for (const { rule, quantized } of inputs) {
    const entry = rules.get(rule) ?? { quantized: 0, float: 0 };
    entry[quantized ? 'quantized' : 'float'] += 1;
    rules.set(rule, entry);
  }
  const total = (entry: { quantized: number; float: number }) => entry.quantized + entry.float;
  const rows = [...rules]
    .sort(([, a], [, b]) => total(b) - total(a))
    .map(([rule, entry]) => [rule, String(entry.quantized), String(entry.float)]);
  const columns = [
    { title: 'node inputs by rule' },
    { title: 'quantized', right: true },
    { title: 'float', right: true },
  ];
  return table(columns, rows);
}
