// The ranking as bars of the worst, as a picture of all, and as a table. The controls wait for the script.
import { scoreText } from '../shared/metric_text.js';
import type { SensitivityResults } from '../types.js';
import { px } from './axis.js';
import { offeredGroups } from './filters.js';
import { type Column, dataTable, escapeHtml } from './markup.js';
import { graphPositions, rankingPlot } from './ranking_plot.js';
import { higherIsWorse, metricOf, type RankingRow, scoreTitle } from './ranking_rows.js';
import type { ReportData } from './report_data.js';

export function rankingSection({ results }: ReportData, rows: readonly RankingRow[]): string {
  if (rows.length === 0) return '<h2 id="sensitivity">Sensitivity</h2>\n<p>The ranking has no rows.</p>';
  return `<h2 id="sensitivity">Sensitivity</h2>
<p>${escapeHtml(whatWasDone(results))} Filled marks are weights, circles activations or groups.</p>
${controls(results, rows)}
<figure class="plot">${rankingPlot(rows, results)}<div id="tooltip" role="status" hidden></div></figure>
<p id="matching" class="soft" aria-live="polite"></p>
<details open><summary>The worst as bars</summary><div class="scroll">${bars(rows, results)}</div></details>
${rankingTable(rows, results)}`;
}

function whatWasDone({ halftone }: SensitivityResults): string {
  const unit: Record<string, string> = {
    quantizer: 'quantizer',
    operator: 'operator',
    layer: 'layer',
    op_name: 'node',
  };
  const one = unit[halftone?.by ?? 'quantizer'] ?? 'group';
  const which = halftone?.only === undefined ? '' : ` of the ${halftone.only}`;
  if (halftone?.sweep !== 'disable') return `Each ${one}${which} alone, all others off.`;
  const better = halftone.higher_is_worse ? 'lower' : 'higher';
  return `Each ${one}${which} left out, all others quantized: the ${better} a score, the more its ${one} hurts.`;
}

function controls(results: SensitivityResults, rows: readonly RankingRow[]): string {
  const side = higherIsWorse(results) ? 'above' : 'below';
  const chips = offeredGroups(rows).map(
    ({ label, kind, value }) =>
      `<button type="button" class="chip" aria-pressed="false" data-kind="${kind}" data-value="${escapeHtml(value)}">${escapeHtml(label)}</button>`,
  );
  const inGraph = graphPositions(rows) === null ? ' disabled' : '';
  return `<form class="controls" hidden>
<label>Search <input id="search" type="search"></label>
<label>Worse than (${side}) <input id="limit" type="number" step="any"></label>
<fieldset><legend>Order</legend><label><input type="radio" name="order" value="rank" checked> worst first</label><label><input type="radio" name="order" value="graph"${inGraph}> graph order</label></fieldset>
<div id="chips">${chips.join('')}</div>
<label>Add a group <input id="group" placeholder="part of a name, or re:expression"></label><button type="button" id="add-group">Add</button>
<p id="group-problem" class="differ" role="alert"></p>
</form>`;
}

function rankingTable(rows: readonly RankingRow[], results: SensitivityResults): string {
  const metric = metricOf(results);
  const optional: [boolean, Column, (row: RankingRow) => string | { text: string; value: number | null }][] =
    [
      [
        rows.some((row) => row.interval !== null),
        { title: '95 % interval', number: true },
        ({ interval }) => ({
          text: interval === null ? '' : interval.map((end) => scoreText(metric, end)).join(' to '),
          value: interval === null ? null : interval[0],
        }),
      ],
      [rows.some((row) => row.role !== ''), { title: 'role' }, (row) => row.role],
      [
        results.halftone?.samples_used !== undefined,
        { title: 'samples', number: true },
        (row) => ({ text: String(row.samples ?? ''), value: row.samples }),
      ],
      [rows.some((row) => row.detail !== ''), { title: 'detail' }, (row) => row.detail],
    ];
  const more = optional.filter(([wanted]) => wanted);
  const scored = results.halftone?.scored?.join(', ') ?? '';
  return dataTable(
    'ranking',
    `${scoreTitle(results)}${scored === '' ? '' : ` of ${scored}`}, worst first`,
    [
      { title: 'rank', number: true },
      { title: scoreTitle(results), number: true },
      ...more.map(([, column]) => column),
      { title: 'name' },
    ],
    rows.map((row) => [
      { text: String(row.rank), value: row.rank },
      { text: scoreText(metric, row.score), value: row.score },
      ...more.map(([, , cell]) => cell(row)),
      row.name,
    ]),
  );
}

const BARS = 30;
const ROW = 20;
const WIDTH = 760;
const LABEL = 300;

/** Length is the loss, as a share of the worst row's. */
function bars(rows: readonly RankingRow[], results: SensitivityResults): string {
  const shown = rows.slice(0, BARS);
  const height = shown.length * ROW + 10;
  const lines = shown.map((row, i) => {
    const end = LABEL + row.loss * (WIDTH - LABEL - 110);
    const y = i * ROW + 5;
    const kind = row.role === 'weight' ? 'weight' : 'activation';
    const label = row.name.length > 44 ? `${row.name.slice(0, 21)}…${row.name.slice(-22)}` : row.name;
    const score = scoreText(metricOf(results), row.score);
    return `<g><title>${escapeHtml(row.name)}: ${score}</title><text x="${LABEL - 8}" y="${y + 11}" text-anchor="end">${escapeHtml(label)}</text><rect class="${kind}" x="${LABEL}" y="${y + 1}" width="${px(end - LABEL)}" height="12"/><text x="${px(end + 6)}" y="${y + 11}">${score}</text></g>`;
  });
  return `<svg role="img" aria-label="Loss of the ${shown.length} most sensitive" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"><line class="grid" x1="${LABEL}" y1="0" x2="${LABEL}" y2="${height}"/>
${lines.join('\n')}</svg>`;
}
