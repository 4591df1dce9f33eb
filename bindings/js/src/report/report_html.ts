/// <reference path="./report_script.d.ts" />
// One file that needs nothing else: tables and pictures that are there without scripts, light and dark, to be printed. Its one
// script, allowed by its hash, sorts, filters, links tables and pictures, and saves what is in the file.
import { hash, text } from '#report-script';
import { embedded } from './embedded.js';
import { graphSection } from './graph_section.js';
import { escapeHtml, jsonElement } from './markup.js';
import { paretoSection } from './pareto_section.js';
import { planSection } from './plan_section.js';
import { propagationSection } from './propagation_section.js';
import { rangesSection } from './ranges_section.js';
import { rankingRows } from './ranking_rows.js';
import { rankingSection } from './ranking_section.js';
import type { ReportData } from './report_data.js';
import { STYLE } from './style.js';
import { notesSection, predictionSection, summarySection } from './summary_section.js';

const POLICY = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'`;

/** A complete HTML document, the same for the same data. Nothing is requested when it is shown. */
export function reportHtml(data: ReportData): string {
  const rows = rankingRows(data);
  const sections = [
    summarySection(data),
    predictionSection(data),
    rankingSection(data, rows),
    graphSection(data, rows),
    propagationSection(data),
    rangesSection(data),
    paretoSection(data),
    planSection(data),
    notesSection(data),
  ].filter((section) => section !== '');
  const title = data.title ?? data.summary?.model.name ?? 'Sensitivity';
  const description = data.description === undefined ? '' : `<p>${escapeHtml(data.description)}</p>\n`;
  const version = data.results.halftone?.version ?? data.plan?.halftone ?? '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${description}${contents(sections)}
<p class="saves" hidden></p>
${sections.join('\n')}
<p class="soft">Made by Halftone ${escapeHtml(version)}</p>
${jsonElement('data', embedded(data))}
<script>${text}</script>
</body>
</html>
`;
}

/** Links to the sections, from their own headings. */
function contents(sections: readonly string[]): string {
  const links = sections.flatMap((section) => {
    const heading = /^<h2 id="([a-z]+)">([^<]+)<\/h2>/.exec(section);
    return heading === null ? [] : [`<a href="#${heading[1]}">${heading[2]}</a>`];
  });
  return `<nav aria-label="Sections">${links.join('')}</nav>`;
}
