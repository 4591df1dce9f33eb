// halftone plan: every site with its reason.
import { jsonFile } from '../shared/result_files.js';
import type { Plan, Site } from '../types.js';
import type { EngineChoice, OutputOptions, PlanChoice } from './options.js';
import { checkOutput, writeOutput } from './output_files.js';
import { sizeText, table } from './terminal.js';
import { type Context, withWork } from './work.js';

const SHOWN = 40;

export async function plan(
  path: string,
  options: OutputOptions & EngineChoice & PlanChoice,
  context: Context,
): Promise<void> {
  const inputs = options.plan === undefined ? [path] : [path, options.plan];
  if (options.output !== undefined) checkOutput(options.output, inputs, options.force === true);
  await withWork(context, options, async (work) => {
    const model = await work.openModel(path);
    const made = await work.plan(model, options);
    const json = jsonFile(made);
    work.json(json);
    work.say(planText(made, options.verbose === true));
    work.warn(made.warnings);
    if (options.output === undefined) return;
    const bytes = await writeOutput(options.output, json);
    work.say(`\n${options.output}  ${sizeText(bytes)}\n`);
  });
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

function planText(made: Plan, verbose: boolean): string {
  const shown = verbose ? made.sites : made.sites.slice(0, SHOWN);
  const rows = shown.map((site) => [site.tensor, site.role, formatText(site), site.why]);
  const more = made.sites.length - shown.length;
  const rest = more > 0 ? `${more} more sites; --verbose shows them, --json and -o have everything.\n` : '';
  const columns = [
    { title: 'tensor' },
    { title: 'role' },
    { title: 'format' },
    { title: 'why', whole: true },
  ];
  return `Target ${made.target}: ${sitesText(made.sites)}\n\n${table(columns, rows)}${rest}`;
}
