// A report in a real browser, opened as a file: what its script adds, what is there without it, and that it fetches nothing.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportHtml } from '../../bindings/js/src/report/report_html.js';
import { jsonFile, sensitivityCsv } from '../../bindings/js/src/shared/result_files.js';
import { DATA, RESULTS } from '../report/report_data.js';

let browser: Browser;
let folder: string;
let address: string;
const complaints: string[] = [];
const requests: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'halftone-report-'));
  writeFileSync(join(folder, 'report.html'), reportHtml(DATA));
  address = pathToFileURL(join(folder, 'report.html')).href;
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
});

afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

async function open(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('dialog', (dialog) => complaints.push(`dialog ${dialog.message()}`));
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(address);
  return page;
}

/** Ranks in the order of the table, of rows that are shown. */
function shownRanks(page: Page): Promise<string[]> {
  return page
    .locator('#ranking tbody tr:not([hidden])')
    .evaluateAll((rows) => rows.map((row) => row.children[0]?.textContent ?? ''));
}

const hits = (page: Page) =>
  page.locator('.mark.hit').evaluateAll((marks) => marks.map((mark) => (mark as SVGElement).dataset.row));

describe('a report in Chromium', () => {
  it('sorts any table by exact values', async () => {
    const page = await open();
    expect(await shownRanks(page)).toEqual(['1', '2', '3', '4']);
    const head = page.locator('#ranking th', { hasText: 'PSNR' });
    await head.getByRole('button').click();
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    await head.getByRole('button').click();
    expect(await shownRanks(page)).toEqual(['4', '3', '2', '1']);
    await page.locator('#ranges th', { hasText: 'max' }).getByRole('button').click();
    await page.locator('#ranges th', { hasText: 'max' }).getByRole('button').click();
    const first = page.locator('#ranges tbody tr').first().locator('td').nth(7);
    expect(await first.getAttribute('data-value')).toBe('31.75');
  });

  it('threshold, search and groups act on table and picture alike', async () => {
    const page = await open();
    expect(await page.textContent('#matching')).toBe('4 rows, no filter');
    await page.fill('#limit', '52.5');
    expect(await shownRanks(page)).toEqual(['1', '2']);
    expect(await hits(page)).toEqual(['0', '1']);
    expect(await page.textContent('#matching')).toBe('2 of 4 match');
    await page.fill('#search', 'IMG');
    expect(await shownRanks(page)).toEqual(['2']);
    await page.fill('#search', '');
    await page.fill('#limit', '');
    await page.getByRole('button', { name: 'activations' }).click();
    expect(await shownRanks(page)).toEqual(['1', '3', '4']);
    await page.fill('#group', 're:(');
    await page.click('#add-group');
    expect(await page.textContent('#group-problem')).toContain('no regular expression');
    await page.fill('#group', 're:onerror');
    await page.press('#group', 'Enter');
    expect(await page.textContent('#group-problem')).toBe('');
    expect(await shownRanks(page)).toEqual(['1', '2', '3', '4']);
  });

  it('the threshold can be dragged', async () => {
    const page = await open();
    await page.locator('#plot').scrollIntoViewIfNeeded();
    const grip = (await page.locator('#threshold .knob').boundingBox())!;
    const mark = (await page.locator('.mark[data-row="2"] circle').boundingBox())!;
    await page.mouse.move(grip.x + grip.width / 2, grip.y + grip.height / 2);
    await page.mouse.down();
    await page.mouse.move(grip.x, mark.y - 20, { steps: 5 });
    await page.mouse.up();
    const limit = Number(await page.inputValue('#limit'));
    expect(limit).toBeGreaterThan(52.5);
    expect(limit).toBeLessThan(77);
    expect(await shownRanks(page)).toEqual(['1', '2', '3']);
  });

  it('links picture and table, in both orders, with every fact in the tooltip', async () => {
    const page = await open();
    const x = () => page.locator('.mark[data-row="0"]').evaluate((mark) => mark.getBoundingClientRect().x);
    const before = await x();
    await page.getByRole('radio', { name: 'graph order' }).check();
    expect(await x()).toBeGreaterThan(before + 100);
    await page.locator('#ranking tbody tr[data-row="1"]').click();
    const tooltip = await page.innerText('#tooltip');
    for (const part of ['rank 2', '41.23456789012345 dB', '40.50 dB to 42.00 dB', 'weight', 'detail'])
      expect(tooltip).toContain(part);
    expect(await page.locator('.mark.chosen').getAttribute('data-row')).toBe('1');
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('.mark.chosen').getAttribute('data-row')).toBe('2');
    await page.locator('.mark[data-row="3"] circle').hover();
    expect(await page.locator('#ranking tr.chosen').getAttribute('data-row')).toBe('3');
  });

  it('opens the channels of a tensor', async () => {
    const page = await open();
    await page.locator('#ranges tbody tr').nth(1).click();
    expect(await page.locator('#channels rect.range').count()).toBe(2);
    const cells = await page.locator('#channels tbody tr').nth(1).locator('td').allInnerTexts();
    expect(cells).toEqual(['1', '-32', '31.75', '0.25', '0']);
  });

  it('saves the results and their CSV, byte for byte', async () => {
    const page = await open({ acceptDownloads: true });
    for (const [name, text] of [
      ['Ranking JSON', jsonFile(RESULTS)],
      ['Ranking CSV', sensitivityCsv(RESULTS)],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name, exact: true }).click(),
      ]);
      expect(readFileSync((await download.path())!, 'utf8')).toBe(text);
    }
  });

  it('has all of its tables and pictures without scripts, and no controls that do nothing', async () => {
    const page = await open({ javaScriptEnabled: false });
    expect(await shownRanks(page)).toHaveLength(4);
    for (const id of ['ranges', 'pareto', 'plot']) expect(await page.isVisible(`#${id}`)).toBe(true);
    expect(await page.isVisible('.graph svg')).toBe(true);
    for (const place of ['.controls', '.saves', '#threshold', '#tooltip'])
      expect(await page.isVisible(place)).toBe(false);
  });

  it('shows hostile names as text, runs none of them, and asked for nothing', async () => {
    const page = await open();
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).toContain('<img src=x onerror=alert(1)>');
    expect(complaints).toEqual([]);
    expect([...new Set(requests)].filter((url) => !url.startsWith('blob:'))).toEqual([address]);
  });
});
