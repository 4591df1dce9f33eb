// What was run, on what, and what was said on the way.
import { changeTexts } from '../shared/change_texts.js';
import { decibels, sizeText } from '../shared/printable.js';
import { escapeHtml, facts } from './markup.js';
import { scoreTitle } from './ranking_rows.js';
import type { ReportData, ReportPrediction } from './report_data.js';

export function summarySection({ results, summary, plan, encodings, quantized }: ReportData): string {
  const run = results.halftone;
  const rows: [string, string][] = [];
  if (summary !== undefined) {
    const { name, opset } = summary.model;
    const sets = Object.entries(opset).map(([domain, version]) => `${domain || 'opset'} ${version}`);
    rows.push([
      'Model',
      `${name}, ${sizeText(summary.model.bytes)}, ${sets.join(', ')}, ${summary.nodes} nodes`,
    ]);
  }
  const sha256 = summary?.model.sha256 ?? run?.model_sha256 ?? '';
  if (sha256 !== '') rows.push(['SHA-256', sha256]);
  if (plan !== undefined) {
    const on = plan.sites.filter((site) => site.quantized).length;
    rows.push(['Plan', `${plan.target}, ${on} of ${plan.sites.length} sites quantized`]);
  }
  if (encodings !== undefined)
    rows.push(['Calibration', `${encodings.method} over ${encodings.samples} samples`]);
  if (run?.scored !== undefined && run.scored.length > 0)
    rows.push(['Scored', `${scoreTitle(results)} of ${run.scored.join(', ')} over ${run.samples} samples`]);
  if (quantized !== undefined) {
    const operators = Object.entries(quantized.quantized_nodes).map(([op, count]) => `${count} ${op}`);
    rows.push(
      ['Size', `float ${sizeText(quantized.float_bytes)}, quantized ${sizeText(quantized.bytes)}`],
      ['Quantized nodes', operators.join(', ') || 'none'],
      ['PSNR, simulated', decibels(quantized.score.simulated)],
      ['PSNR, as the runtime runs it by default', decibels(quantized.score.fused)],
    );
  }
  return rows.length === 0 ? '' : `<h2 id="summary">Summary</h2>\n${facts(rows)}`;
}

export function predictionSection({ predictions }: ReportData): string {
  if (predictions === undefined || predictions.length === 0) return '';
  const agree = predictions.filter((prediction) => prediction.agree).length;
  return `<h2 id="predictions">Predictions</h2>
<div class="scroll"><table><caption>${agree} of ${predictions.length} predictions agree</caption>
<thead><tr><th scope="col">sample</th><th scope="col" colspan="2">float</th><th scope="col" colspan="2">quantized</th><th scope="col"></th></tr></thead>
<tbody>${predictions.map(predictionRow).join('\n')}</tbody></table></div>`;
}

function predictionRow({ sample, float, quantized, agree }: ReportPrediction): string {
  const cells = [float, quantized].map(
    ({ label, probability }) =>
      `<td>${escapeHtml(label)}</td><td class="number">${(100 * probability).toFixed(1)} %</td>`,
  );
  return `<tr><th scope="row">${escapeHtml(sample)}</th>${cells.join('')}<td${agree ? '' : ' class="differ"'}>${agree ? 'agree' : 'differ'}</td></tr>`;
}

export function notesSection(data: ReportData): string {
  const { results, summary, plan, quantized, warnings } = data;
  const parts = [
    summary?.warnings,
    plan?.warnings,
    warnings,
    results.halftone?.warnings,
    quantized?.warnings,
  ];
  const said = parts.flatMap((part) => part?.map(({ message }) => message) ?? []);
  const changes = quantized === undefined ? [] : changeTexts(quantized);
  const skipped = (results.halftone?.skipped ?? []).map(({ name, why }) => `Skipped ${name}: ${why}`);
  const texts = [...new Set([...said, ...changes, ...skipped])];
  if (texts.length === 0) return '';
  const items = texts.map((text) => `<li>${escapeHtml(text)}</li>`);
  return `<h2 id="notes">Said on the way</h2>\n<ul>${items.join('\n')}</ul>`;
}
