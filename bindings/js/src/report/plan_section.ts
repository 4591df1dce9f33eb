// Every site of the plan with its reason.
import type { Site } from '../types.js';
import { dataTable } from './markup.js';
import type { ReportData } from './report_data.js';

export function planSection({ plan }: ReportData): string {
  if (plan === undefined) return '';
  const quantized = plan.sites.filter((site) => site.quantized).length;
  const table = dataTable(
    'sites',
    `Target ${plan.target}: ${quantized} of ${plan.sites.length} sites quantized`,
    [
      { title: 'tensor' },
      { title: 'role' },
      { title: 'quantized' },
      { title: 'format' },
      { title: 'scales' },
      { title: 'rule' },
      { title: 'why' },
    ],
    plan.sites.map((site) => [
      site.tensor,
      site.role,
      site.quantized ? 'yes' : 'no',
      site.quantized ? site.format : 'float32',
      site.quantized ? granularity(site) : '',
      site.rule,
      site.why,
    ]),
  );
  return `<h2 id="plan">Plan</h2>\n<details><summary>${plan.sites.length} sites</summary>${table}</details>`;
}

function granularity({ granularity, axis, block_size, symmetric }: Site): string {
  const where = axis === null ? '' : ` along axis ${axis}`;
  const blocks = block_size === null ? '' : ` of ${block_size}`;
  return `one for each ${granularity}${blocks}${where}${symmetric ? ', symmetric' : ''}`;
}
