// The format bench: the same figures and files as the command line, arrays by themselves, cancel, every look.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { choose, drop, fileAt, goTo, kRoot, Workbench, whenIdle, whenStep } from './support/bench_page.js';
import { npy } from './support/onnx_bytes.js';
import { halftone, kTextModel } from './support/text_direction.js';

let bench: Workbench;
const folder = mkdtempSync(join(tmpdir(), 'halftone-formats-'));
beforeAll(async () => {
  bench = await Workbench.start();
});
afterAll(async () => {
  await bench.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  bench.complaints.length = 0;
});

const compareButton = (page: Page) => page.getByRole('button', { name: /^Compare/ });

async function openBench(page: Page): Promise<void> {
  await drop(page, [fileAt(kTextModel)]);
  await page.locator('[data-step="formats"]').waitFor();
  await whenIdle(page);
  await goTo(page, 'formats');
  await whenIdle(page);
}

async function compareAll(page: Page): Promise<void> {
  await compareButton(page).click();
  await page.locator('[data-part="picture"]').waitFor();
  await whenIdle(page);
}

async function saved(page: Page, button: string): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button, exact: true }).click(),
  ]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

/** Chooses only these of the number formats. */
async function onlyFormats(page: Page, names: readonly string[]): Promise<void> {
  const part = page.locator('[data-part="number formats"]');
  await part.locator('summary').click();
  await part.getByRole('button', { name: 'None' }).click();
  for (const name of names) await part.getByRole('checkbox', { name, exact: true }).check();
}

/** Values of a bell shape, the same every time. */
function bell(count: number): Float32Array {
  let state = 12345;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  return Float32Array.from({ length: count }, () => uniform() + uniform() + uniform() - 1.5);
}

test('a model: the report and the encoded file are those of the command line, and the file decodes', async () => {
  const page = await bench.page({ acceptDownloads: true });
  await openBench(page);
  await compareAll(page);
  await whenStep(page, 'formats', 'done');

  const json = await saved(page, 'JSON');
  expect(json.name).toBe('ch_ppocr_mobile_v2.0_cls_infer.formats.json');
  const report = JSON.parse(json.bytes.toString());
  expect(report).toEqual(JSON.parse(halftone('formats', '--json', '--quiet')));
  const csvPath = join(folder, 'cli.csv');
  halftone('formats', '--csv', csvPath, '--quiet');
  expect((await saved(page, 'CSV')).bytes.toString()).toBe(readFileSync(csvPath, 'utf8'));
  const svg = (await saved(page, 'SVG')).bytes.toString();
  expect(svg).toContain('Errors: decoded less original');

  // The first weight is shown, and the winner of it marked; its figures are the report's.
  const [first] = report.tensors;
  const best = first.formats.find(
    (row: { format: string; block: number }) =>
      row.format === first.winner.format && row.block === first.winner.block,
  );
  const marked = page.getByRole('row', { name: /loses least/ });
  await expect.poll(() => marked.count()).toBe(1);
  const titles = await marked
    .locator('td')
    .evaluateAll((cells) => cells.map((cell) => cell.getAttribute('title')));
  expect(titles).toContain(String(best.rmsError));
  expect(titles).toContain(String(best.sqnr));

  // Another size has another winner, without a new run.
  await page.getByLabel(/Best within/).fill('8.5');
  await page.getByLabel(/Best within/).press('Tab');
  await page.getByText('What loses least within 8.5 bits per weight').waitFor();
  const larger = await saved(page, 'JSON');
  expect(JSON.parse(larger.bytes.toString()).tensors).toEqual(
    JSON.parse(halftone('formats', '--json', '--quiet', '--bits', '8.5')).tensors,
  );

  await page.getByLabel('Encode as').selectOption('nf4');
  const model = await saved(page, 'Save the encoded model');
  expect(model.name).toBe('ch_ppocr_mobile_v2.0_cls_infer.nf4.onnx');
  const cliPath = join(folder, 'cli.onnx');
  halftone('encode', '--format', 'nf4', '-o', cliPath, '--quiet');
  expect(model.bytes.equals(readFileSync(cliPath))).toBe(true);
  const pagePath = join(folder, 'page.onnx');
  writeFileSync(pagePath, model.bytes);
  const decoded = join(folder, 'decoded.onnx');
  execFileSync(process.execPath, [
    ...[`${kRoot}/bindings/js/dist/cli.js`, 'decode', pagePath, '-o', decoded, '--quiet'],
  ]);
  expect(readFileSync(decoded).length).toBeGreaterThan(500_000);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('once a model is open the bench works without a network', async () => {
  const page = await bench.page();
  await drop(page, [fileAt(kTextModel)]);
  await page.locator('[data-step="formats"]').waitFor();
  await whenIdle(page);
  const asked = bench.requests.length;
  await page.context().setOffline(true);
  await goTo(page, 'formats');
  await onlyFormats(page, ['nf4']);
  await compareAll(page);
  expect(bench.requests.slice(asked)).toEqual([]);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('chosen weights, formats and block sizes, and a choice that changed makes the result stale', async () => {
  const page = await bench.page();
  await openBench(page);
  await onlyFormats(page, ['nf4', 'int4']);
  const weights = page.locator('[data-part="weights"]');
  await weights.locator('summary').click();
  await weights.getByRole('button', { name: 'None' }).click();
  expect(await compareButton(page).isDisabled()).toBe(true);
  await weights.getByRole('checkbox', { name: 'conv2d_17.w_0', exact: true }).check();
  await page.getByLabel('Block sizes').fill('32, 64');
  await page.getByLabel('Block sizes').press('Tab');
  await compareAll(page);
  const names = page.locator('table tbody tr[aria-rowindex]');
  expect(await names.count()).toBe(4);
  expect(await page.locator('table').count()).toBe(1); // One weight needs no table of weights.
  await weights.getByRole('checkbox', { name: 'conv2d_17.w_0', exact: true }).uncheck();
  await whenStep(page, 'formats', 'stale');
  expect(await page.locator('main').innerText()).toContain('Stale: the choice changed since.');
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('an array by itself: compared, and encoded as the command line does it', async () => {
  const page = await bench.page({ acceptDownloads: true });
  const array = npy([64, 100], bell(6400));
  const path = join(folder, 'values.npy');
  writeFileSync(path, array);
  await drop(page, [{ name: 'values.npy', bytes: array }]);
  await page.getByRole('button', { name: 'Save the encoded array' }).waitFor();
  await onlyFormats(page, ['nf4', 'gguf_q4_0']);
  await compareAll(page);
  expect(await page.getByText('64\u2009\u00d7\u2009100').count()).toBe(1);

  const cli = (...args: string[]) =>
    execFileSync(process.execPath, [`${kRoot}/bindings/js/dist/cli.js`, ...args], { encoding: 'utf8' });
  const { tensors } = JSON.parse(
    cli('formats', path, '--json', '--quiet', '--format', 'nf4', '--format', 'gguf_q4_0'),
  );
  const shown = JSON.parse((await saved(page, 'JSON')).bytes.toString()).tensors;
  expect(shown[0].formats).toEqual(tensors[0].formats);

  await page.getByLabel('Encode as').selectOption('nf4');
  const encoded = await saved(page, 'Save the encoded array');
  expect(encoded.name).toBe('values.nf4.pb');
  cli('encode', path, '--format', 'nf4', '-o', join(folder, 'cli.pb'), '--quiet');
  expect(encoded.bytes.equals(readFileSync(join(folder, 'cli.pb')))).toBe(true);

  // A layout without a container of its own comes as its parts.
  await page.getByLabel('Encode as').selectOption('gguf_q4_0');
  const codes = await saved(page, 'Save the encoded array');
  expect([codes.name, codes.bytes.length]).toEqual(['values.gguf_q4_0.codes.bin', (6400 / 32) * 18]);

  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await page.getByRole('heading', { name: 'Halftone', level: 1 }).waitFor();
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

/** Notes the states of the progress bar; `cancelOnce` cancels at the first that is neither the beginning nor the end. */
async function watchSaving(page: Page, cancelOnce: boolean): Promise<() => Promise<number[]>> {
  await page.evaluate((cancelling) => {
    const shares: number[] = [];
    Object.assign(window, { shares });
    let asked = !cancelling;
    new MutationObserver(() => {
      const bar = document.querySelector('.job [role="progressbar"]');
      if (bar === null) return;
      const share = Number(bar.getAttribute('aria-valuenow')) / Number(bar.getAttribute('aria-valuemax'));
      shares.push(share);
      if (asked || share <= 0 || share >= 1) return;
      asked = true;
      document.querySelector<HTMLElement>('.job .cancel')?.click();
    }).observe(document.body, { childList: true, subtree: true, attributes: true });
  }, cancelOnce);
  return () => page.evaluate(() => (window as unknown as { shares: number[] }).shares);
}

/** Counts the bytes that the page's own thread makes Blobs of: it stands still while it copies them. */
async function countCopies(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const { Blob } = window;
    Object.assign(window, { copied: 0 });
    window.Blob = class extends Blob {
      static override [Symbol.hasInstance](value: unknown): boolean {
        return Blob[Symbol.hasInstance](value);
      }
      constructor(parts: BlobPart[] = [], options?: BlobPropertyBag) {
        super(parts, options);
        for (const part of parts)
          if (ArrayBuffer.isView(part) || part instanceof ArrayBuffer)
            Object.assign(window, {
              copied: (window as unknown as { copied: number }).copied + part.byteLength,
            });
      }
    };
  });
  return () => page.evaluate(() => (window as unknown as { copied: number }).copied);
}

test("an array of many slices: cancelled in the middle, then saved with progress, off the page's thread, as the command line does it", async () => {
  const page = await bench.page({ acceptDownloads: true });
  const path = join(folder, 'slices.npy');
  writeFileSync(path, npy([2000, 4000], bell(8_000_000)));
  await choose(page, path);
  const save = page.getByRole('button', { name: 'Save the encoded array' });
  await save.waitFor();
  await whenIdle(page);
  await page.getByLabel('Encode as').selectOption('nf4');

  const untilCancelled = await watchSaving(page, true);
  await save.click();
  await expect.poll(async () => (await untilCancelled()).some((share) => share > 0)).toBe(true);
  await whenIdle(page);
  expect(Math.max(...(await untilCancelled()))).toBeLessThan(1);
  expect(await page.locator('.problem').count()).toBe(0);
  expect(await page.locator('main').innerText()).not.toContain('became');

  const shares = await watchSaving(page, false);
  const copied = await countCopies(page);
  const encoded = await saved(page, 'Save the encoded array');
  await whenIdle(page);
  const seen = await shares();
  expect(new Set(seen).size).toBeGreaterThan(2);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  const output = join(folder, 'slices.pb');
  execFileSync(process.execPath, [
    ...[`${kRoot}/bindings/js/dist/cli.js`, 'encode', path, '--format', 'nf4', '-o', output, '--quiet'],
  ]);
  expect(encoded.bytes.equals(readFileSync(output))).toBe(true);
  expect(await copied()).toBe(0);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('an array that is none says so, and cancelling leaves everything usable', async () => {
  const page = await bench.page();
  await drop(page, [{ name: 'broken.npy', bytes: 'not numpy' }]);
  await compareButton(page).click();
  await page.locator('.problem').waitFor();
  expect(await page.locator('.problem > p').innerText()).toContain('broken.npy');

  await drop(page, [{ name: 'large.npy', bytes: npy([2_000_000], bell(2_000_000)) }]);
  await page.getByText('large.npy').first().waitFor();
  await whenIdle(page);
  for (const button of [compareButton(page), page.getByRole('button', { name: 'Save the encoded array' })]) {
    // Cancelled as soon as its button is drawn, so that no machine is too fast for it.
    await button.evaluate((element: HTMLElement) => {
      const seen = new Promise<void>((resolve) => {
        const observer = new MutationObserver(() => {
          const cancel = document.querySelector<HTMLElement>('.job button');
          if (cancel === null) return;
          observer.disconnect();
          cancel.click();
          resolve();
        });
        observer.observe(document.body, { childList: true, subtree: true });
      });
      element.click();
      return seen;
    });
    await whenIdle(page);
    expect(await page.locator('.problem').count()).toBe(0);
    expect(await page.locator('[data-part="picture"]').count()).toBe(0);
    expect(await page.locator('main').innerText()).not.toContain('became');
  }
  await onlyFormats(page, ['onnx_int8']);
  await compareAll(page);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`axe finds nothing serious and 360 pixels are enough, ${colorScheme}`, async () => {
    const page = await bench.page({ colorScheme });
    await openBench(page);
    for (const part of ['weights', 'number formats'])
      await page.locator(`[data-part="${part}"] summary`).click();
    const found: string[] = [];
    const look = async (when: string): Promise<void> => {
      const { violations } = await new AxeBuilder({ page }).analyze();
      for (const { id, impact, nodes } of violations)
        if (impact === 'serious' || impact === 'critical') found.push(`${when}: ${id} at ${nodes[0]?.html}`);
    };
    await look('before');
    await compareAll(page);
    await look('after');
    await page.setViewportSize({ width: 360, height: 640 });
    await look('narrow');
    expect(found).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);

    // By keyboard alone: into the table of formats, and another row is shown.
    const table = page.getByRole('region', { name: 'Formats of one tensor' });
    const other = table.locator('tbody tr[aria-rowindex]').first();
    await other.locator('button').focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => other.getAttribute('class')).toBe('chosen');
    const format = await other.locator('th').innerText();
    const label = await page.locator('[data-part="picture"] svg').first().getAttribute('aria-label');
    expect(label).toContain(format.trim());
    await page.context().close();
  });
}
