// The graph, errors and ranges as pictures: what they show is what the tables and files say, and all of it can be reached.
import AxeBuilder from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  drop,
  type Picture,
  rankingTable,
  runSample,
  show,
  Workbench,
  whenIdle,
  whenStep,
} from './support/bench_page.js';
import { chainModel, npy } from './support/onnx_bytes.js';

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.start();
});
afterAll(() => bench.stop());
beforeEach(() => {
  bench.complaints.length = 0;
});

async function textOf(page: Page, button: 'CSV' | 'JSON' | 'SVG'): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button, exact: true }).click(),
  ]);
  const parts: Buffer[] = [];
  for await (const part of await download.createReadStream()) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

async function json<Row>(page: Page): Promise<Row[]> {
  return JSON.parse(await textOf(page, 'JSON')) as Row[];
}

async function compareTensors(page: Page): Promise<void> {
  await show(page, 'Errors');
  await page.getByRole('button', { name: 'Compare all tensors' }).click();
  await whenIdle(page);
}

describe('the graph', () => {
  test('marks nodes by their scores, hover and focus say why, and its files have the same', async () => {
    const page = await bench.page();
    await runSample(page, 'wake-embedding');
    const scores = new Map(
      (await rankingTable(page)).map(({ name, title }) => [name, Number.parseFloat(title)]),
    );
    await show(page, 'Graph', 'Picture');
    const rows = await json<{ node: string; op: string; weight: number | null; activation: number | null }>(
      page,
    );
    const convs = rows.filter(({ op }) => op === 'Conv');
    expect(convs.length).toBeGreaterThan(10);
    for (const { node, weight } of convs) expect([...scores.values()], node).toContain(weight);
    // Squares in the order of the graph; the area of one is what its weights cost.
    const squares = await page.locator('.graph [data-box]').evaluateAll((boxes) =>
      boxes
        .filter((box) => box.querySelector('text')?.textContent === 'Conv')
        .map((box) => {
          const marks = [...box.querySelectorAll('rect')].filter(
            (rect) => rect.getAttribute('width') === rect.getAttribute('height'),
          );
          return Math.max(0, ...marks.map((rect) => Number(rect.getAttribute('width'))));
        }),
    );
    expect(squares).toHaveLength(convs.length);
    const byScore = convs
      .map(({ weight }, at) => [weight!, squares[at]!] as const)
      .sort((a, b) => a[0] - b[0]);
    for (const [at, [, size]] of byScore.entries())
      if (at > 0) expect(size).toBeLessThanOrEqual(byScore[at - 1]![1] + 1e-9);
    expect(byScore[0]![1]).toBeGreaterThan(byScore.at(-1)![1]);

    await page.locator('.graph-box').focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const strip = page.locator('.strip p');
    expect(await strip.innerText()).toMatch(/^Conv .+ weight .+\sdB .+ through Q\/DQ: /);
    expect(await page.locator('[role="status"]').innerText()).toContain('through Q/DQ');
    expect(await page.locator('.inspector h2').innerText()).not.toBe('');
    await page.locator('.graph [data-box]', { hasText: 'LeakyRelu' }).first().hover();
    expect(await strip.innerText()).toMatch(/^LeakyRelu .+ in float: /);
    const svg = await textOf(page, 'SVG');
    expect(svg.match(/data-box=/g)).toHaveLength(await page.locator('.graph [data-box]').count());
    expect(svg).not.toContain('var(');
    expect(bench.complaints).toEqual([]);
    await page.context().close();
  });

  test('folds what comes again into blocks that open and close, by buttons and by keys', async () => {
    const page = await bench.page();
    await runSample(page, 'wake-embedding');
    await show(page, 'Graph', 'Picture');
    const boxes = page.locator('.graph [data-box]');
    const all = await boxes.count();
    await page.getByRole('button', { name: 'Fold all blocks', exact: true }).click();
    await whenIdle(page);
    const folded = await boxes.count();
    expect(folded).toBeLessThan(all);
    await page
      .locator('.graph [data-box]', { hasText: /\d nodes/ })
      .first()
      .click();
    await page.locator('.graph-box').focus();
    await page.keyboard.press('Enter');
    await whenIdle(page);
    expect(await boxes.count()).toBeGreaterThan(folded);
    await page.getByRole('button', { name: 'Unfold all blocks' }).click();
    await whenIdle(page);
    await page.getByRole('button', { name: 'Fit' }).click();
    await page.waitForFunction(
      (count) => document.querySelectorAll('.graph [data-box]').length === count,
      all,
    );
    expect(bench.complaints).toEqual([]);
    await page.context().close();
  });

  test('of a thousand nodes is moved and enlarged without drawing what is out of sight', async () => {
    const page = await bench.page({ hash: '#step=sensitivity&picture=graph' });
    await drop(page, [
      { name: 'chain.onnx', bytes: chainModel(1000) },
      { name: 'x.npy', bytes: npy([1, 4], Float32Array.of(1, -2, 3, -4)) },
    ]);
    await whenStep(page, 'plan', 'done');
    await show(page, 'Graph', 'Picture');
    const unfold = page.getByRole('button', { name: 'Unfold all blocks' });
    if ((await unfold.count()) > 0 && (await unfold.isEnabled())) await unfold.click();
    await whenIdle(page);
    const boxes = page.locator('.graph [data-box]');
    await page.waitForFunction(() => document.querySelectorAll('.graph [data-box]').length > 0);
    const box = (await page.locator('.graph-box').boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    for (let turn = 0; turn < 14; ++turn) await page.mouse.wheel(0, -160);
    await page.waitForFunction(() => document.querySelectorAll('.graph [data-box]').length < 200);
    await boxes.first().waitFor();
    const group = page.locator('.graph > g');
    const before = await group.getAttribute('transform');
    const drawn = await group.evaluate((element) => element.innerHTML.length);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 30, box.y + box.height / 2 + 20, { steps: 6 });
    await page.mouse.up();
    expect(await group.getAttribute('transform')).not.toBe(before);
    // Moved, not drawn again.
    expect(await group.evaluate((element) => element.innerHTML.length)).toBe(drawn);
    await page.locator('.graph-box').focus();
    await page.keyboard.press('End');
    await whenIdle(page);
    expect(await page.locator('.strip p').innerText()).toContain('y');
    expect(bench.complaints).toEqual([]);
    await page.context().close();
  });
});

test('errors in the order of the graph, as a line, a table and files', async () => {
  const page = await bench.page();
  await runSample(page, 'text-direction');
  await compareTensors(page);
  const rows = await json<{ tensor: string; sqnr: number | null; psnr: number | null; mse: number | null }>(
    page,
  );
  expect(rows.length).toBeGreaterThan(40);
  const columns = page.locator('.bars [data-name]');
  expect(await columns.evaluateAll((all) => all.map((one) => one.getAttribute('data-name')))).toEqual(
    rows.map(({ tensor }) => tensor),
  );
  const heights = await columns
    .locator('circle')
    .evaluateAll((all) => all.map((point) => Number(point.getAttribute('cy'))));
  const known = rows.map(({ sqnr }) => sqnr).filter((value) => value !== null);
  expect(heights).toHaveLength(known.length);
  const lowest = heights.indexOf(Math.max(...heights));
  expect(known[lowest]).toBe(Math.min(...known));
  await page.locator('.columns-box').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  expect(await page.locator('.inspector h2').getAttribute('title')).toBe(rows[1]!.tensor);
  const csv = (await textOf(page, 'CSV')).trimEnd().split('\r\n');
  expect(csv[0]).toBe('order,tensor,node,op,sqnr,psnr,mse');
  expect(csv).toHaveLength(rows.length + 1);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('ranges are those of the encodings, for tensors and for the channels of one', async () => {
  const page = await bench.page();
  await runSample(page, 'text-direction');
  await show(page, 'Ranges', 'Picture');
  const rows = await json<{ tensor: string; role: string; channels: number; min: number; max: number }>(page);
  const [download] = await (async () => {
    await page.click('[data-step="save"]');
    return Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save encodings.json', exact: true }).click(),
    ]);
  })();
  const parts: Buffer[] = [];
  for await (const part of await download.createReadStream()) parts.push(part as Buffer);
  const { encodings } = JSON.parse(Buffer.concat(parts).toString()) as {
    encodings: Record<string, { min: number[]; max: number[]; scale: number[] }>;
  };
  for (const { tensor, min, max } of rows) {
    expect(min, tensor).toBe(Math.min(...encodings[tensor]!.min));
    expect(max, tensor).toBe(Math.max(...encodings[tensor]!.max));
  }
  const weight = rows.find(({ channels }) => channels > 4)!;
  await show(page, 'Ranges', 'Picture');
  await page.locator(`.bars [data-name="${weight.tensor}"]`).click();
  await page.getByRole('button', { name: 'Channels', exact: true }).click();
  const channels = await json<{ channel: number; min: number; max: number; scale: number }>(page);
  const made = encodings[weight.tensor]!;
  expect(channels.map(({ channel, min, max, scale }) => [channel, min, max, scale])).toEqual(
    made.scale.map((scale, at) => [at, made.min[at], made.max[at], scale]),
  );
  await page.getByRole('button', { name: 'All tensors', exact: true }).click();
  expect(await page.locator('.bars [data-name]').count()).toBe(rows.length);
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('AIMET is a target, with a configuration from a file', async () => {
  const page = await bench.page({ hash: '#step=plan&target=aimet' });
  await page.click('[data-sample="text-direction"]');
  await whenStep(page, 'sensitivity', 'done');
  await whenIdle(page);
  await page.click('[data-step="plan"]');
  const lead = page.locator('.view .lead');
  expect(await lead.innerText()).toContain('for AIMET');
  const config = {
    defaults: {
      ops: { is_output_quantized: 'True' },
      params: { is_quantized: 'False' },
      per_channel_quantization: 'False',
    },
    params: {},
    op_type: {},
    supergroups: [],
    model_input: {},
    model_output: {},
  };
  await page.locator('[data-purpose="aimet-config"]').setInputFiles({
    name: 'activations_only.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(config)),
  });
  await whenStep(page, 'calibrate', 'stale');
  await whenStep(page, 'plan', 'done');
  await whenIdle(page);
  await page.getByRole('combobox', { name: 'Role' }).selectOption('weight');
  expect(new Set(await page.locator('.table-box td:nth-child(3)').allInnerTexts())).toEqual(
    new Set(['float']),
  );
  expect(new URL(page.url()).hash).not.toContain('activations_only');
  await page.locator('[data-purpose="aimet-config"]').setInputFiles({
    name: 'broken.json',
    mimeType: 'application/json',
    buffer: Buffer.from('{'),
  });
  expect(await page.locator('.problem > p').innerText()).toContain('broken.json is not a configuration');
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

for (const options of [
  { colorScheme: 'light' },
  { colorScheme: 'dark', viewport: { width: 360, height: 640 } },
] as const) {
  test(`axe finds nothing serious in any picture or its table, ${options.colorScheme}`, async () => {
    const page = await bench.page(options);
    await runSample(page, 'text-direction');
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
    await page.locator('[data-part="raise"] > summary').click();
    await whenIdle(page);
    await look('raise');
    await page.getByRole('button', { name: 'Raise', exact: true }).click();
    await whenIdle(page);
    await look('raised');
    await compareTensors(page);
    await show(page, 'Trade-off');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.locator('.bars [data-point], .problem').first().waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await whenIdle(page);
    for (const picture of ['Trade-off', 'Graph', 'Errors', 'Ranges'] satisfies Picture[]) {
      for (const as of ['Table', 'Picture'] as const) {
        await show(page, picture, as);
        await whenIdle(page);
        await look(`${picture} ${as}`);
      }
    }
    expect(found).toEqual([]);
    expect(bench.complaints).toEqual([]);
    await page.context().close();
  });
}
