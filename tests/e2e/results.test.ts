// The whole way on a real model: plan, ranges, ranking, one tensor, the files that are saved.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import sampleList from '../../web/samples/samples.json';
import {
  drop,
  goTo,
  rankingTable,
  runSample,
  Workbench,
  whenIdle,
  whenPlanned,
  whenStep,
} from './support/bench_page.js';
import { halftone, kTextSamples } from './support/text_direction.js';

const kSample = sampleList.samples.find((sample) => sample.id === 'text-direction')!;

let bench: Workbench;
let page: Page;
let folder: string;
beforeAll(async () => {
  bench = await Workbench.start();
  page = await bench.page();
  folder = mkdtempSync(join(tmpdir(), 'halftone-'));
  await runSample(page, 'text-direction');
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await bench.stop();
});

/** Presses a button that saves, and returns what was written. */
async function save(button: string): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button, exact: true }).click(),
  ]);
  const path = join(folder, download.suggestedFilename());
  await download.saveAs(path);
  return { name: download.suggestedFilename(), bytes: readFileSync(path) };
}

interface Ranking {
  ranking: { rank: number; name: string; score: number }[];
  halftone: { scored: string[]; samples: number; version: string };
}

describe('ranking', () => {
  test('both samples run to a complete table without further input', async () => {
    expect((await rankingTable(page)).every((row) => /^\d+(\.\d+)? dB$/.test(row.title))).toBe(true);
    const other = await bench.page();
    await runSample(other, 'wake-embedding');
    const rows = await rankingTable(other);
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.every((row) => /^-?\d+(\.\d+)? dB$/.test(row.title))).toBe(true);
    await other.context().close();
  });

  test('is a real table: caption, scopes, units, worst first, sortable', async () => {
    const rows = await rankingTable(page);
    const table = page.locator('.table-box table');
    expect(await table.locator('caption').innerText()).toMatch(/^PSNR of .+ over 8\ssamples/);
    expect(
      await table.locator('thead th').evaluateAll((all) => all.map((cell) => cell.getAttribute('scope'))),
    ).toEqual(Array(5).fill('col'));
    expect(await table.locator('tbody tr[aria-rowindex] > th[scope="row"]').count()).toBe(rows.length);
    const header = table.getByRole('columnheader', { name: /PSNR/ });
    expect(await header.innerText()).toContain('(dB)');
    expect(await header.getAttribute('aria-sort')).toBe('ascending');
    const values = rows.map((row) => Number.parseFloat(row.title));
    expect(values).toEqual([...values].sort((a, b) => a - b));
    await header.getByRole('button').click();
    expect(await header.getAttribute('aria-sort')).toBe('descending');
    const reversed = (await rankingTable(page)).map((row) => Number.parseFloat(row.title));
    expect(reversed).toEqual([...values].sort((a, b) => b - a));
    await table.getByRole('columnheader', { name: 'Site' }).getByRole('button').click();
    expect(await header.getAttribute('aria-sort')).toBe('none');
    await header.getByRole('button').click();
    expect(
      await page
        .locator('td.number')
        .first()
        .evaluate((cell) => getComputedStyle(cell).textAlign),
    ).toBe('right');
  });

  test('as bars: one for each row, longer is worse, with title and description', async () => {
    const rows = await rankingTable(page);
    await page.getByRole('radio', { name: 'Bars' }).check({ force: true });
    const svg = page.locator('svg.bars');
    expect(await svg.getAttribute('role')).toBe('img');
    expect(await svg.locator('> title').textContent()).not.toBe('');
    expect(await svg.locator('> desc').textContent()).toContain(`${rows.length} quantizers`);
    const bars = await svg.locator('[data-name]').evaluateAll((all) =>
      all.map((bar) => ({
        name: bar.getAttribute('data-name'),
        score: bar.getAttribute('data-score'),
        solid: bar.querySelectorAll('rect').length > 1,
        end: Math.max(
          ...Array.from(
            bar.querySelectorAll('rect:nth-of-type(2), line, circle'),
            (part) => part.getBoundingClientRect().right,
          ),
        ),
      })),
    );
    expect(bars.map((bar) => [bar.name, `${bar.score} dB`])).toEqual(
      rows.map((row) => [row.name, row.title]),
    );
    expect(bars.map((bar) => bar.solid)).toEqual(rows.map((row) => row.role === 'weight'));
    for (const solid of [true, false]) {
      const ends = bars.filter((bar) => bar.solid === solid).map((bar) => bar.end);
      for (const [index, end] of ends.entries())
        expect(end).toBeLessThanOrEqual((ends[index - 1] ?? end) + 0.01);
    }
    const axis = await page.locator('.bars-axis').textContent();
    expect(axis).toContain('more loss');
    expect(axis).toContain('dB');
  });

  test('exports CSV, JSON and SVG whose numbers are the full ones', async () => {
    const rows = await rankingTable(page);
    const json = JSON.parse((await save('JSON')).bytes.toString()) as Ranking;
    expect(json.ranking.map((row) => [row.name, `${row.score} dB`])).toEqual(
      rows.map((row) => [row.name, row.title]),
    );
    const csv = (await save('CSV')).bytes.toString().trimEnd().split('\r\n');
    expect(csv.slice(1).map((line) => Number(line.split(',')[2]))).toEqual(
      json.ranking.map((row) => row.score),
    );
    const svg = (await save('SVG')).bytes.toString();
    const parsed = await page.evaluate((text) => {
      const file = new DOMParser().parseFromString(text, 'image/svg+xml');
      return [
        file.querySelectorAll('parsererror, style, script').length,
        file.querySelectorAll('[data-name]').length,
      ];
    }, svg);
    expect(parsed).toEqual([0, rows.length]);
    expect(svg).not.toContain('var(');
  });
});

describe('one tensor', () => {
  test('shows range, scale, zero point, histogram and why', async () => {
    const worst = (await rankingTable(page))[0]!;
    await page.locator('.table-box .row-name').first().click();
    const inspector = page.locator('.inspector');
    await inspector.locator('.histogram').waitFor();
    expect(await inspector.locator('.score').getAttribute('title')).toBe(worst.title);
    const encodings = JSON.parse(await filesOf('encodings.json')) as {
      encodings: Record<string, { scale: number[]; zero_point: number[]; min: number[]; max: number[] }>;
    };
    const chosen = encodings.encodings[worst.name]!;
    const shown = await inspector
      .locator('[data-part="encoding"] dd')
      .evaluateAll((all) => all.map((part) => (part as HTMLElement).title));
    expect(shown[0]).toBe(`${Math.min(...chosen.min)} to ${Math.max(...chosen.max)}`);
    expect(shown[1]!.startsWith(chosen.scale.slice(0, 32).join(', '))).toBe(true);
    expect(shown[2]!.startsWith(chosen.zero_point.slice(0, 32).join(', '))).toBe(true);
    expect(await inspector.locator('dt', { hasText: 'Why' }).count()).toBe(1);
    const bins = await inspector
      .locator('.bins td')
      .evaluateAll((all) => all.map((cell) => Number(cell.textContent!.replace(/\D/g, ''))));
    const values = (await inspector.locator('[data-part="statistics"] dd').first().innerText()).split(
      ',',
    )[0]!;
    expect(bins.reduce((a, b) => a + b, 0)).toBe(Number(values.replace(/\D/g, '')));
    expect(await inspector.locator('[data-part="statistics"]').innerText()).toMatch(/Clipped[\s\S]*SQNR/);
  });

  test('is the same in every view', async () => {
    const name = await page.locator('.inspector h2').getAttribute('title');
    await goTo(page, 'plan');
    expect(await page.locator('.table-box tr.chosen .row-name').count()).toBeLessThanOrEqual(1);
    expect(await page.locator('.inspector h2').getAttribute('title')).toBe(name);
    await goTo(page, 'sensitivity');
  });
});

/** A file of the Save step as text. */
async function filesOf(name: string): Promise<string> {
  await goTo(page, 'save');
  return (await save(`Save ${name}`)).bytes.toString();
}

describe('plan', () => {
  /** What follows is of the default plan, also after a failure here. */
  afterEach(async () => {
    const reset = page.getByRole('button', { name: 'Reset' });
    if (await reset.isEnabled()) await reset.click();
    await whenPlanned(page);
    await page.getByLabel('Group by rule').uncheck();
    await page.getByRole('combobox', { name: 'Role' }).selectOption('all');
  });

  test('says why for every tensor, filters and groups; an option makes it again without reading the file', async () => {
    await goTo(page, 'plan');
    const rows = page.locator('.table-box tbody tr[aria-rowindex]');
    const all = await rows.count();
    for (const why of await rows.locator('td:last-child').allInnerTexts())
      expect(why.length).toBeGreaterThan(10);
    await page.getByRole('combobox', { name: 'Role' }).selectOption('weight');
    const weights = await rows.count();
    expect(weights).toBeGreaterThan(0);
    expect(weights).toBeLessThan(all);
    expect(new Set(await rows.locator('td:nth-child(3)').allInnerTexts())).toEqual(new Set(['int8']));
    await page.getByLabel('Group by rule').check();
    expect(await page.locator('.table-box tr.group').count()).toBeGreaterThan(0);
    bench.requests.length = 0;
    await page.getByRole('combobox', { name: 'Weights', exact: true }).selectOption('int16');
    await whenPlanned(page);
    await whenStep(page, 'calibrate', 'stale');
    expect(new Set(await rows.locator('td:nth-child(3)').allInnerTexts())).toEqual(new Set(['int16']));
    expect(await page.locator('[role="status"]').innerText()).toContain(
      'Stale now: calibration and sensitivity',
    );
    await page.getByRole('button', { name: 'Reset' }).click();
    await whenPlanned(page);
    await whenStep(page, 'calibrate', 'done');
    await whenStep(page, 'sensitivity', 'done');
    expect(bench.requests).toEqual([]);
  });
});

describe('saving', () => {
  test('the model is byte-equal to the command line, opens again, and says what it is', async () => {
    await goTo(page, 'save');
    await page.getByRole('button', { name: 'Make the quantized model' }).click();
    await whenStep(page, 'save', 'done');
    await whenIdle(page);
    const written = await save('Save ch_ppocr_mobile_v2.0_cls_infer.qdq.onnx');
    const output = join(folder, 'cli.onnx');
    halftone('quantize', '-o', output, '--force', ...kTextSamples);
    expect(written.bytes.equals(readFileSync(output))).toBe(true);
    const footer = page.locator('.foot [data-commit]');
    for (const part of ['data-version', 'data-commit'])
      expect(written.bytes.includes((await footer.getAttribute(part))!)).toBe(true);
    const again = await bench.page();
    await drop(again, [written]);
    await whenStep(again, 'model', 'done');
    expect(await again.getByRole('list', { name: 'Warnings' }).innerText()).toContain('quantized already');
    expect(await again.locator('.problem').count()).toBe(0);
    await again.context().close();
  });

  test('report, sizes, scores and predictions are shown', async () => {
    await goTo(page, 'save');
    const facts = await page.locator('.view .facts').innerText();
    expect(facts).toMatch(/PSNR, simulated\s+\d+\.\d\d\sdB/);
    expect(facts).toMatch(/as the runtime runs it\s+\d+\.\d\d\sdB/);
    const table = page.getByRole('region', { name: 'Predictions' });
    expect(await table.locator('caption').innerText()).toMatch(/^8 of 8\spredictions agree/);
    const answers = await table
      .locator('tbody tr')
      .evaluateAll((all) => all.map((row) => row.children[1]?.textContent));
    const { labels } = kSample.prediction!;
    expect(answers).toEqual(kSample.expected!.map((index) => labels[index]));
    await page.locator('summary', { hasText: 'change' }).click();
    expect(await page.locator('.changes li').count()).toBeGreaterThan(0);
  });

  test('plan, encodings and ranking are files that say which model they are of', async () => {
    const files = ['plan.json', 'encodings.json'].map(
      async (name) => JSON.parse(await filesOf(name)) as { model_sha256: string },
    );
    const hashes = new Set<string>();
    for (const file of files) hashes.add((await file).model_sha256);
    const ranking = JSON.parse(await filesOf('sensitivity.json')) as { halftone: { model_sha256: string } };
    hashes.add(ranking.halftone.model_sha256);
    expect([...hashes]).toEqual(['491843a3c65de46295864c6815e41127eaa812c4dac1e19c6850ec49da9d3640']);
    expect(bench.complaints).toEqual([]);
  });
});
