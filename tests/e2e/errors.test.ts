// What goes wrong, said where it happened: a sentence, what to do next, details that fold out and copy.
import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hostileModels } from '../hostile/make_models.mjs';
import {
  choose,
  type DropFile,
  drop,
  fileAt,
  graph,
  problemText,
  Workbench,
  whenIdle,
  whenStep,
} from './support/bench_page.js';
import { modelWithData, modelWithoutGraph } from './support/onnx_bytes.js';

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.start();
});
afterAll(() => bench.stop());
beforeEach(() => {
  bench.complaints.length = 0;
});

const kGraph = graph('g01_res_identity.onnx');

async function dropAndRead(page: Page, file: DropFile): Promise<string> {
  await drop(page, [file]);
  await page.locator('.problem').waitFor();
  await whenIdle(page);
  return problemText(page);
}

/** The page opens a good model as if nothing had been. */
async function expectUsable(page: Page): Promise<void> {
  await drop(page, [fileAt(kGraph)]);
  await whenStep(page, 'plan', 'done');
  await whenIdle(page);
  expect(await page.locator('.problem').count()).toBe(0);
}

function expectSentence(text: string): void {
  const sentences = text.match(/[^.?!]+[.?!](\s|$)/g) ?? [];
  expect(text.length, text).toBeGreaterThan(20);
  expect(sentences.length, text).toBeGreaterThanOrEqual(2);
  expect(text, text).not.toMatch(/\bat \S+:\d+:\d+|undefined|\[object|0x[0-9a-f]{6}/);
}

describe('files that are no model', () => {
  const whole = fileAt(kGraph).bytes as Uint8Array;
  const ascii = (text: string): Uint8Array =>
    Uint8Array.from([...text].map((letter) => letter.charCodeAt(0)));
  const random = Uint8Array.from(
    { length: 4096 },
    (_, index) => (index * 73 + (index >> 3) * 151 + 29) & 255,
  );
  const files: DropFile[] = [
    { name: 'empty.onnx', bytes: new Uint8Array(0) },
    { name: 'random.onnx', bytes: random },
    { name: 'cut.onnx', bytes: whole.slice(0, Math.floor(whole.length / 2)) },
    { name: 'checkpoint.pt', bytes: ascii('PK\u0003\u0004 archive/data.pkl') },
    { name: 'mobile.tflite', bytes: ascii('\u001c\0\0\0TFL3\u0014\0') },
    { name: 'nothing.onnx', bytes: modelWithoutGraph() },
    { name: 'outside.onnx', bytes: modelWithData({ location: 'far.data' }) },
    { name: 'escape.onnx', bytes: modelWithData({ location: '../../etc/passwd' }) },
  ];

  test('each has a sentence of its own with a next step, and the page stays usable', async () => {
    const page = await bench.page();
    const sentences = [];
    for (const file of files) {
      const text = await dropAndRead(page, file);
      expectSentence(text);
      sentences.push(text);
    }
    expect(new Set(sentences).size).toBe(sentences.length);
    expect(sentences[3]).toContain('PyTorch');
    expect(sentences[4]).toContain('TensorFlow Lite');
    expect(sentences[6]).toContain('far.data');
    await expectUsable(page);
    expect(bench.complaints).toEqual([]);
    await page.context().close();
  });

  test('hostile models give a message, never a crash, a hang or markup', async () => {
    const page = await bench.page();
    let seen = 0;
    for (const { name, bytes, expect: expected } of hostileModels()) {
      await drop(page, [{ name: `${name}.onnx`, bytes }]);
      await whenIdle(page);
      if (expected === 'ok') {
        expect(await page.locator('.problem').count(), name).toBe(0);
        continue;
      }
      expect(await page.locator('.problem').count(), name).toBe(1);
      const text = await problemText(page);
      expect(text, name).toMatch(/\w+.*[.?!]/);
      expect(text, name).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
      expect(await page.locator('.problem img, .problem script, .problem b').count(), name).toBe(0);
      const code = await page.locator('.problem dd code').first().textContent();
      expect(expected.split('|'), name).toContain(code);
      await page.getByRole('button', { name: 'Dismiss this message' }).click();
      seen += 1;
    }
    expect(seen).toBeGreaterThanOrEqual(30);
    await expectUsable(page);
    expect(bench.complaints).toEqual([]);
    await page.context().close();
  });

  test('names of a model never become markup', async () => {
    const page = await bench.page();
    const weight = '<img src=x onerror="document.title=1">';
    await drop(page, [
      { name: '<b>bold.onnx', bytes: modelWithData({ location: 'w.data', weight }) },
      { name: 'w.data', bytes: new Uint8Array(64) },
    ]);
    await whenStep(page, 'plan', 'done');
    await page.click('[data-step="plan"]');
    await page.getByText(weight).first().waitFor();
    expect(await page.locator('main img, main b').count()).toBe(0);
    expect(await page.title()).toBe('Halftone');
    await page.context().close();
  });
});

describe('a problem', () => {
  test('folds out code, place and version, and copies them', async () => {
    const page = await bench.page({ permissions: ['clipboard-read', 'clipboard-write'] });
    await dropAndRead(page, { name: 'cut.onnx', bytes: (fileAt(kGraph).bytes as Uint8Array).slice(0, 200) });
    await page.locator('.problem summary').click();
    const details = await page.locator('.problem details').innerText();
    const footer = page.locator('.foot [data-commit]');
    const [version, commit] = [
      await footer.getAttribute('data-version'),
      await footer.getAttribute('data-commit'),
    ];
    for (const part of ['Code', 'Where', version!, commit!]) expect(details).toContain(part);
    await page.getByRole('button', { name: 'Copy details' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toMatch(/^code: (truncated|not_onnx|invalid_graph)$/m);
    expect(copied).toMatch(/^where: \S/m);
    expect(copied).toContain(`halftone ${version} (${commit})`);
    await page.context().close();
  });

  test('comes before a notice and is announced at once', async () => {
    const page = await bench.page({ hash: '#step=warp' });
    await page.locator('.notice').waitFor();
    const text = await dropAndRead(page, { name: 'empty.onnx', bytes: '' });
    expect(await page.locator('.notice').count()).toBe(0);
    expect(text).toContain(
      (await page.locator('[role="alert"][aria-live="assertive"]').innerText()).split('.')[0]!,
    );
    await page.context().close();
  });

  test('a file above the limit is refused before reading, with both numbers', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'halftone-'));
    const path = join(folder, 'huge.onnx');
    const file = openSync(path, 'w');
    ftruncateSync(file, 6e9); // Sparse: takes no room.
    closeSync(file);
    const page = await bench.page();
    await choose(page, path);
    await page.locator('.problem').waitFor();
    await whenIdle(page);
    expect((await problemText(page)).match(/\d+(\.\d+)?\s?[MG]i?B/g)?.length).toBeGreaterThanOrEqual(2);
    rmSync(folder, { recursive: true });
    await expectUsable(page);
    await page.context().close();
  });
});

describe("the page's own files", () => {
  const faults = [
    { what: 'no worker script', path: /worker[^/]*\.js$/, answer: { status: 404 } },
    { what: 'no core', path: /halftone[^/]*\.wasm$/, answer: { status: 404 } },
    {
      what: 'a page instead of the core',
      path: /halftone[^/]*\.wasm$/,
      answer: { status: 200, contentType: 'text/html', body: '<p>' },
    },
    {
      what: 'a cut core',
      path: /halftone[^/]*\.wasm$/,
      answer: { status: 200, contentType: 'application/wasm', body: '\0asm' },
    },
  ];

  test('each fault has a sentence, and another try works when it is gone', async () => {
    const sentences = [];
    for (const { path, answer } of faults) {
      const page = await bench.page({
        prepare: (context) => context.route(path, (route) => route.fulfill(answer)),
      });
      await page.waitForLoadState('networkidle');
      const text = await dropAndRead(page, fileAt(kGraph));
      expectSentence(text);
      sentences.push(text);
      await page.context().unroute(path);
      await expectUsable(page);
      await page.context().close();
    }
    expect(new Set(sentences.slice(0, 3)).size).toBe(3);
  });

  test('a missing runtime is said when it is needed, and another try works', async () => {
    const page = await bench.page({
      prepare: (context) => context.route(/ort-wasm/, (route) => route.fulfill({ status: 404 })),
    });
    await drop(page, [fileAt(kGraph), fileAt(graph('g01_res_identity.s0.x.npy'))]);
    await whenStep(page, 'calibrate', 'ready');
    await whenIdle(page);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('.problem').waitFor();
    expect(await problemText(page)).toMatch(/runtime/);
    await page.context().unroute(/ort-wasm/);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await whenStep(page, 'sensitivity', 'done');
    await page.context().close();
  });
});
