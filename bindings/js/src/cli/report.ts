// report.html: one file that needs nothing else, no scripts, light and dark. Every name in it comes from a model or a file, so
// every one is escaped.
import type { ModelSummary, Plan, QuantizeReport, SampleSet, SensitivityResults, Warning } from '../types.js';
import { opsetText } from './inspect.js';
import { sitesText } from './plan.js';
import { agreementText, type Prediction, percent } from './predictions.js';
import { changeTexts } from './quantize.js';
import { decibels, printable, sizeText } from './terminal.js';

export interface ReportData {
  title: string;
  description: string;
  summary: ModelSummary;
  plan: Plan;
  samples: SampleSet;
  results: SensitivityResults;
  report: QuantizeReport;
  predictions: Prediction[];
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return printable(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1b1b1a; --paper: #fbfaf7; --line: #cfccc4; --accent: #a3361a; --soft: #6a675f; }
@media (prefers-color-scheme: dark) { :root { --ink: #ebe8e0; --paper: #191917; --line: #45433d; --accent: #f0855f; --soft: #a5a198; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; border-top: 1px solid var(--line); padding-top: 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } caption { text-align: left; color: var(--soft); padding-bottom: .4rem; }
th, td { text-align: left; padding: .2rem 1.2rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
td.number, th.number { text-align: right; white-space: nowrap; }
.scroll { overflow-x: auto; } .differ { color: var(--accent); font-weight: 600; } svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .weight { fill: var(--ink); } svg .activation { fill: none; stroke: var(--ink); stroke-width: 1.5; } svg line { stroke: var(--line); }
`;

export function reportPage(data: ReportData): string {
  const { title, description, summary } = data;
  const body = [
    summarySection(data),
    predictionSection(data),
    rankingSection(data),
    warningSection(data),
  ].join('\n');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(title)}: ${escapeHtml(summary.model.name)} quantized</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(summary.model.name)}, quantized</h1>
<p>${escapeHtml(title)}. ${escapeHtml(description)}</p>
${body}
<p>Halftone ${escapeHtml(data.plan.halftone)}</p>
</body>
</html>
`;
}

function facts(rows: [string, string][]): string {
  const lines = rows.map(
    ([name, value]) => `<tr><th scope="row">${escapeHtml(name)}</th><td>${escapeHtml(value)}</td></tr>`,
  );
  return `<table>${lines.join('')}</table>`;
}

function summarySection({ summary, plan, samples, report }: ReportData): string {
  const operators = Object.entries(report.quantized_nodes).map(([op, count]) => `${count} ${op}`);
  return `<h2>Summary</h2>\n${facts([
    ['Model', `${summary.model.name}, ${opsetText(summary.model.opset)}, ${summary.nodes} nodes`],
    ['sha256', summary.model.sha256],
    ['Plan', `${plan.target}: ${sitesText(plan.sites)}`],
    [
      'Calibration',
      `minmax over ${samples.count} samples${samples.random ? ', which are random numbers' : ''}`,
    ],
    ['Size', `float ${sizeText(report.float_bytes)}, quantized ${sizeText(report.bytes)}`],
    ['Quantized nodes', operators.join(', ') || 'none'],
    ['PSNR, simulated', decibels(report.score.simulated)],
    ['PSNR, as the runtime runs it by default', decibels(report.score.fused)],
  ])}`;
}

function predictionSection({ predictions }: ReportData): string {
  const rows = predictions.map(({ sample, float, quantized, agree }) => {
    const cells = [float, quantized].map(
      ({ label, probability }) =>
        `<td>${escapeHtml(label)}</td><td class="number">${percent(probability)}</td>`,
    );
    return `<tr><th scope="row">${escapeHtml(sample)}</th>${cells.join('')}<td${agree ? '' : ' class="differ"'}>${agree ? 'agree' : 'differ'}</td></tr>`;
  });
  return `<h2>Predictions</h2>
<div class="scroll"><table><caption>${escapeHtml(agreementText(predictions))}</caption>
<thead><tr><th scope="col">sample</th><th scope="col" colspan="2">float</th><th scope="col" colspan="2">quantized</th><th scope="col"></th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`;
}

const BARS = 30;
const ROW = 20;
const WIDTH = 760;
const LABEL = 300;

function rankingSection({ results, plan }: ReportData): string {
  const roles = new Map(plan.sites.map((site) => [site.tensor, site.role]));
  const scored = escapeHtml(results.halftone.scored.join(', '));
  const rows = results.ranking.map(
    ({ rank, name, score }) =>
      `<tr><td class="number">${rank}</td><td class="number">${decibels(score)}</td><td>${roles.get(name) ?? ''}</td><td>${escapeHtml(name)}</td></tr>`,
  );
  return `<h2>Sensitivity</h2>
<p>Each quantizer alone, all others off. Filled bars are weights, outlined ones activations; longer is worse.</p>
<div class="scroll">${rankingBars(results, roles)}</div>
<div class="scroll"><table><caption>PSNR of ${scored}, worst first</caption>
<thead><tr><th scope="col" class="number">rank</th><th scope="col" class="number">PSNR</th><th scope="col">role</th><th scope="col">quantizer</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>`;
}

/** Length is the loss: how far the score lies below 100 dB, the score of no loss at all. */
function rankingBars(results: SensitivityResults, roles: Map<string, string>): string {
  const shown = results.ranking.slice(0, BARS);
  const worst = Math.max(1e-9, 100 - (shown[0]?.score ?? 100));
  const height = shown.length * ROW + 10;
  const space = WIDTH - LABEL - 90;
  const bars = shown.map(({ name, score }, i) => {
    const length = Math.max(0, ((100 - (score ?? 100)) / worst) * space).toFixed(1);
    const y = i * ROW + 5;
    const shape = roles.get(name) === 'weight' ? 'weight' : 'activation';
    const label = name.length > 44 ? `${name.slice(0, 21)}…${name.slice(-22)}` : name;
    return `<g><title>${escapeHtml(name)}: ${decibels(score)}</title><text x="${LABEL - 8}" y="${y + 11}" text-anchor="end">${escapeHtml(label)}</text><rect class="${shape}" x="${LABEL}" y="${y + 1}" width="${length}" height="12"/><text x="${LABEL + Number(length) + 6}" y="${y + 11}">${decibels(score)}</text></g>`;
  });
  return `<svg role="img" aria-label="Loss of the ${shown.length} most sensitive quantizers" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"><line x1="${LABEL}" y1="0" x2="${LABEL}" y2="${height}"/>
${bars.join('\n')}</svg>`;
}

function warningSection({ samples, results, report, summary, plan }: ReportData): string {
  const all: Warning[] = [summary, plan, samples, results.halftone, report].flatMap((part) => part.warnings);
  const texts = [...new Set([...all.map((warning) => warning.message), ...changeTexts(report)])];
  if (texts.length === 0) return '';
  return `<h2>Said on the way</h2>\n<ul>${texts.map((text) => `<li>${escapeHtml(text)}</li>`).join('\n')}</ul>`;
}
