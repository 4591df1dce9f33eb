import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { escapeHtml } from '../../bindings/js/src/report/markup.js';
import { reportHtml } from '../../bindings/js/src/report/report_html.js';
import { DATA, EVIL, RESULTS } from './report_data.js';

const page = reportHtml(DATA);
const withoutScripts = page.replace(/<script[^>]*>[\s\S]*?<\/script>/g, '');

/** The cells of one column of a table, as exact values. */
function exact(table: string, column: number): (number | null)[] {
  const body = new RegExp(`<table id="${table}"[\\s\\S]*?<tbody>([\\s\\S]*?)</tbody>`).exec(page)![1]!;
  return body.split('\n').map((row) => {
    const cell = [...row.matchAll(/<td[^>]*>/g)][column]![0];
    const value = /data-value="([^"]*)"/.exec(cell)![1]!;
    return value === '' ? null : Number(value);
  });
}

describe('a report', () => {
  it('escapes every name, in text, attributes and data', () => {
    expect(escapeHtml(`<a href='x'>&"`)).toBe('&lt;a href=&#39;x&#39;&gt;&amp;&quot;');
    expect(page).not.toContain('<img');
    expect(page).not.toContain('alert(2)</script>');
    expect(withoutScripts).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(page.match(/<script/g)).toHaveLength(2);
    expect(withoutScripts.match(/&lt;img src=x onerror=alert\(1\)&gt;/g)!.length).toBeGreaterThan(25);
  });

  it('has one script, which its policy allows by its hash, and nothing that is fetched', () => {
    const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)![1]!;
    const script = /<script>([\s\S]*)<\/script>/.exec(page)![1]!;
    const hash = createHash('sha256').update(script).digest('base64');
    expect(policy).toBe(
      `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'`,
    );
    const own = withoutScripts.replaceAll(escapeHtml(EVIL), 'NAME');
    expect(own).not.toMatch(/<[a-z][^>]*\s(?:src|on[a-z]+)=|url\(|@import|https?:|<link|<iframe|href="(?!#)/);
    expect(script).not.toMatch(/fetch\(|XMLHttpRequest|WebSocket|innerHTML|eval\(/);
  });

  it('is the same for the same data', () => {
    expect(reportHtml(DATA)).toBe(page);
  });

  it('shows in its tables exactly the numbers of the files', () => {
    expect(exact('ranking', 1)).toEqual(RESULTS.ranking.map(({ score }) => score));
    expect(exact('propagation', 3)).toEqual([61.0625, null]);
    expect(exact('propagation', 5)).toEqual([0.001, null]);
    expect(exact('ranges', 6)).toEqual([0, -32]);
    expect(exact('ranges', 7)).toEqual([25.5, 31.75]);
    expect(exact('ranges', 4)).toEqual([0.1, 0.001953125]);
    expect(exact('pareto', 0)).toEqual([30.5, 36.25, 29]);
    expect(exact('pareto', 1)).toEqual([1000, 1100, 1050]);
  });

  it('says what was run and what came of it', () => {
    expect(page).toContain('float 579 kB, quantized 160 kB');
    expect(page).toContain('<th scope="row">PSNR, simulated</th><td>31.50 dB</td>');
    expect(page).toContain('0 of 1 predictions agree');
    expect(page).toContain('PSNR in dB, lower is worse ↓');
    expect(page).toContain('41.23 dB');
    expect(page).toContain('prefers-color-scheme: dark');
    expect(page).toContain('@media print');
  });

  it('carries the results as they are, for its script and for saving', () => {
    const data = JSON.parse(/id="data">([\s\S]*?)<\/script>/.exec(page)![1]!);
    expect(data.results).toEqual(RESULTS);
    expect(data.encodings).toEqual(DATA.encodings);
    expect(data.pareto[1]).toEqual({
      flipped: [EVIL],
      score: 36.25,
      cost: DATA.pareto![1]!.cost,
      front: true,
    });
  });

  it('needs nothing but results, also when they say nothing of themselves', () => {
    const { metric: _metric, ...rest } = RESULTS.halftone;
    const bare = reportHtml({
      results: {
        ranking: [{ rank: 1, name: 'w', score: 3 }],
        halftone: { ...rest, metric: '', interval: [] },
      },
    });
    expect(bare).toContain('aria-label="score, lower is worse ↓, 1 rows"');
    expect(bare).not.toContain('id="ranges"');
    const none = reportHtml({ results: { ranking: [], halftone: RESULTS.halftone } });
    expect(none).toContain('The ranking has no rows.');
  });

  it('numbers that are text in a hostile file stay text', () => {
    const bad = '"><script>alert(3)</script>' as unknown as number;
    const html = reportHtml({
      results: { ...RESULTS, ranking: [{ rank: bad, name: 'w', score: 3 }] },
      propagation: [{ tensor: 't', node: 'n', op: 'o', psnr: 1, sqnr: 2, mse: 3 }],
      encodings: {
        ...DATA.encodings!,
        encodings: {
          t: { format: 'int8', scale: [bad], zero_point: [bad], axis: null, min: [-1], max: [1] },
        },
      },
    });
    expect(html).not.toContain('<script>alert(3)');
  });
});
