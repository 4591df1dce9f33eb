// Sweeps of every kind, and acting on them: the numbers of the command line, resume, raise, undo, save.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { SensitivityResults } from '../../bindings/js/src/types.js';
import { goTo, rankingTable, runSample, show, Workbench, whenIdle, whenStep } from './support/bench_page.js';
import { halftone, kTextSamples } from './support/text_direction.js';

let bench: Workbench;
let folder: string;
beforeAll(async () => {
  bench = await Workbench.start();
  folder = mkdtempSync(join(tmpdir(), 'halftone-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await bench.stop();
});
beforeEach(() => {
  bench.complaints.length = 0;
});

/** Presses a button that saves, and returns what was written. */
async function save(page: Page, button: string): Promise<Buffer> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button, exact: true }).click(),
  ]);
  const path = join(folder, download.suggestedFilename());
  await download.saveAs(path);
  return readFileSync(path);
}

async function savedRanking(page: Page): Promise<SensitivityResults> {
  await show(page, 'Ranking');
  return JSON.parse((await save(page, 'JSON')).toString()) as SensitivityResults;
}

function cliRanking(...options: readonly string[]): SensitivityResults {
  const path = join(folder, 'cli.json');
  halftone('sensitivity', '-o', path, '--force', '--quiet', ...options, ...kTextSamples);
  return JSON.parse(readFileSync(path, 'utf8')) as SensitivityResults;
}

async function finished(page: Page): Promise<void> {
  await whenStep(page, 'sensitivity', 'done');
  await whenIdle(page);
}

test('groups, metrics and roles give the numbers of the command line; going back to a sweep costs nothing', async () => {
  const page = await bench.page();
  await runSample(page, 'text-direction');
  expect(await savedRanking(page)).toEqual(cliRanking());
  const choose = (menu: string, value: string): Promise<unknown> =>
    page.getByRole('combobox', { name: menu, exact: true }).selectOption(value);

  await choose('Group', 'layer');
  await choose('Metric', 'mse');
  await whenStep(page, 'sensitivity', 'stale');
  await page.getByRole('button', { name: 'Rank again' }).click();
  await finished(page);
  const layers = await savedRanking(page);
  expect(layers).toEqual(cliRanking('--by', 'layer', '--metric', 'mse'));
  const shown = await rankingTable(page);
  expect(shown.map(({ name, role, title }) => [name, role, Number(title)])).toEqual(
    layers.ranking.map(({ name, score }) => [name, 'group', score]),
  );
  expect(shown.map(({ title }) => Number(title))).toEqual(
    shown.map(({ title }) => Number(title)).sort((a, b) => b - a),
  );

  await choose('Group', 'pattern');
  await choose('Of', 'weights');
  expect(await page.getByRole('button', { name: 'Rank again' }).isDisabled()).toBe(true);
  await page.getByLabel('Regular expression').fill('^(conv2d_\\d)');
  await page.getByLabel('Regular expression').press('Enter');
  await page.getByRole('button', { name: 'Rank again' }).click();
  await finished(page);
  expect(await savedRanking(page)).toEqual(
    cliRanking('--by', 're:^(conv2d_\\d)', '--metric', 'mse', '--only', 'weights'),
  );
  expect(Object.fromEntries(new URLSearchParams(new URL(page.url()).hash.slice(1)))).toMatchObject({
    by: 'pattern',
    pattern: '^(conv2d_\\d)',
    metric: 'mse',
    only: 'weights',
  });

  await choose('Of', 'all');
  await choose('Group', 'layer');
  await whenStep(page, 'sensitivity', 'done');
  expect(await savedRanking(page)).toEqual(layers);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('rows come with intervals while the sweep runs; one that was stopped goes on where it was', async () => {
  const page = await bench.page();
  await page.click('[data-sample="text-direction"]');
  await whenStep(page, 'sensitivity', 'running');
  await page.locator('.whisker').first().waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await whenIdle(page);
  const before = (await rankingTable(page)).filter((row) => row.title.endsWith(' dB'));
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await finished(page);
  const after = await savedRanking(page);
  const scores = new Map(after.ranking.map(({ name, score }) => [name, `${score} dB`]));
  for (const { name, title } of before) expect(title, name).toBe(scores.get(name));
  expect(after).toEqual(cliRanking());
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('the threshold is moved by keys and by pointer, and says what lies beyond it', async () => {
  const page = await bench.page();
  await runSample(page, 'text-direction');
  const slider = page.getByRole('slider', { name: 'Threshold' });
  const scores = (await rankingTable(page)).map((row) => Number.parseFloat(row.title));
  await show(page, 'Ranking', 'Bars');
  const expectBeyond = async (): Promise<number> => {
    const line = Number(await slider.getAttribute('aria-valuenow'));
    const count = scores.filter((score) => score < line).length;
    const summary = await page.locator('[data-part="raise"] > summary').innerText();
    expect(summary).toContain(`${count} of ${scores.length} below`);
    return line;
  };
  const first = await expectBeyond();
  await slider.focus();
  for (let presses = 0; presses < 5; ++presses) await page.keyboard.press('ArrowRight');
  const second = await expectBeyond();
  expect(second).toBeLessThan(first);
  expect(await slider.getAttribute('aria-valuetext')).toBe(`${second.toFixed(2)} dB, PSNR`);
  const box = (await slider.boundingBox())!;
  await page.mouse.move(box.x + 1, box.y + box.height - 3);
  await page.mouse.down();
  await page.mouse.move(box.x - 60, box.y + box.height - 3, { steps: 4 });
  await page.mouse.up();
  expect(await expectBeyond()).toBeGreaterThan(second);
  await page.locator('[data-part="raise"] > summary').click();
  const line = Number(await slider.getAttribute('aria-valuenow'));
  const listed = await page.locator('.chips li').allInnerTexts();
  expect(listed).toHaveLength(scores.filter((score) => score < line).length);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('raising the worst: previewed, taken, saved as the command line does it, and taken back', async () => {
  const page = await bench.page();
  await runSample(page, 'text-direction');
  await goTo(page, 'save');
  const untouched = await save(page, 'Save plan.json');
  const ranking = join(folder, 'ranking.json');
  writeFileSync(ranking, JSON.stringify(await savedRanking(page)));
  await page.locator('[data-part="raise"] > summary').click();
  await page.getByRole('combobox', { name: 'Raise', exact: true }).selectOption('worst');
  await page.getByLabel('Number', { exact: true }).fill('3');
  await page.getByLabel('Number', { exact: true }).press('Tab');
  await whenIdle(page);
  const figures = page.locator('[data-part="flip"]');
  expect(await figures.innerText()).toMatch(/3\squantizers/);
  expect(await figures.innerText()).toMatch(/Predicted PSNR\s+\d+\.\d\d\sdB/);
  const worst = (await rankingTable(page)).slice(0, 3).map((row) => row.name);
  await page.getByRole('button', { name: 'Raise', exact: true }).click();
  expect(await page.locator('[data-part="change"]').innerText()).toContain('raised to int16');

  await page.getByRole('button', { name: 'Measure and save' }).click();
  await page.getByRole('button', { name: 'Make the quantized model' }).click();
  await whenStep(page, 'save', 'done');
  await whenIdle(page);
  const facts = await page.locator('.view > .facts').innerText();
  for (const part of ['simulated', 'weights alone', 'activations alone'])
    expect(facts).toMatch(new RegExp(`PSNR, ${part}\\s+\\d+\\.\\d\\d\\sdB`));
  const plan = JSON.parse((await save(page, 'Save plan.json')).toString()) as {
    sites: { tensor: string; format: string }[];
  };
  const raised = plan.sites.filter(({ format }) => format === 'int16').map(({ tensor }) => tensor);
  expect(raised.sort()).toEqual(worst.sort());
  const model = await save(page, 'Save ch_ppocr_mobile_v2.0_cls_infer.qdq.onnx');

  const flipped = join(folder, 'cli.plan.json');
  const to = ['--results', ranking, '--worst', '3', '--to', 'int16'];
  halftone('flip', '-o', flipped, '--force', '--quiet', ...to, ...kTextSamples);
  const output = join(folder, 'cli.onnx');
  halftone('quantize', '-o', output, '--force', '--quiet', '--plan', flipped, ...kTextSamples);
  expect(model.equals(readFileSync(output))).toBe(true);

  await goTo(page, 'sensitivity');
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await whenStep(page, 'save', 'stale');
  await whenStep(page, 'sensitivity', 'done');
  await goTo(page, 'save');
  expect((await save(page, 'Save plan.json')).equals(untouched)).toBe(true);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('the trade-off: points as they are measured, one of them taken', async () => {
  const page = await bench.page();
  await runSample(page, 'text-direction');
  await show(page, 'Trade-off');
  await page.getByRole('button', { name: 'Search', exact: true }).click();
  await whenIdle(page);
  const rows = JSON.parse((await save(page, 'JSON')).toString()) as {
    raised: string;
    score: number;
    weight_bytes: number;
  }[];
  expect(rows.length).toBeGreaterThan(1);
  const picture = page.locator('.bars [data-point]');
  expect(await picture.count()).toBe(rows.length);
  const best = rows.reduce((a, b, at) => (b.score > rows[a]!.score ? at : a), 0);
  await show(page, 'Trade-off', 'Table');
  await page.locator('.table-box .row-name', { hasText: new RegExp(`^${best + 1}$`) }).click();
  await page.getByRole('button', { name: 'Take this model' }).click();
  await goTo(page, 'save');
  await page.getByRole('button', { name: 'Make the quantized model' }).click();
  await whenStep(page, 'save', 'done');
  await whenIdle(page);
  const measured = await page.locator('.view > .facts dd').nth(2).getAttribute('title');
  expect(Math.abs(Number.parseFloat(measured!) - rows[best]!.score)).toBeLessThan(0.01);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});
