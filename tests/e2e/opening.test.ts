// First screen, and every way into the page.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  choose,
  drop,
  fileAt,
  goTo,
  graph,
  problemText,
  Workbench,
  whenIdle,
  whenPlanned,
  whenStep,
} from './support/bench_page.js';
import { modelWithData, npy, weightBytes } from './support/onnx_bytes.js';

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.start();
});
afterAll(() => bench.stop());
beforeEach(() => {
  bench.complaints.length = 0;
});

const kGraph = graph('g01_res_identity.onnx');
const kSamples = [0, 1, 2, 3].map((index) => graph(`g01_res_identity.s${index}.x.npy`));

async function subject(page: Page): Promise<string> {
  return page.locator('.subject strong').innerText();
}

/** Drags over the window without dropping; `what` is what the drag carries. */
async function drag(page: Page, type: string, what: 'files' | 'text'): Promise<void> {
  await page.evaluate(
    ([name, kind]) => {
      const transfer = new DataTransfer();
      if (kind === 'files') transfer.items.add(new File(['x'], 'x.onnx'));
      else transfer.setData('text/plain', 'hello');
      document.body.dispatchEvent(
        new DragEvent(name as string, { dataTransfer: transfer, bubbles: true, cancelable: true }),
      );
    },
    [type, what],
  );
}

describe('first screen', () => {
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 360, height: 640 },
  ]) {
    test(`one heading, one sentence, one button, two samples at ${viewport.width} x ${viewport.height}`, async () => {
      const page = await bench.page({ viewport });
      expect(await page.locator('h1').count()).toBe(1);
      expect((await page.locator('.purpose').innerText()).match(/\./g)).toHaveLength(1);
      const parts = [
        page.locator('h1'),
        page.locator('.purpose'),
        page.getByRole('button', { name: 'Open model' }),
        ...(await page.locator('[data-sample]').all()),
        page.getByRole('button', { name: 'Nothing leaves this machine' }),
      ];
      expect(parts.length).toBe(6);
      for (const part of parts) {
        const box = (await part.boundingBox())!;
        expect(box.y).toBeGreaterThanOrEqual(0);
        expect(box.y + box.height).toBeLessThanOrEqual(viewport.height);
      }
      for (const sample of await page.locator('[data-sample]').allInnerTexts())
        expect(sample).toMatch(/\d\s[kM]B/);
      expect(bench.complaints).toEqual([]);
      await page.context().close();
    });
  }

  test('asks for little, and for nothing of a sample or the runtime before a click', async () => {
    bench.requests.length = 0;
    const page = await bench.page();
    await page.waitForLoadState('networkidle');
    expect(bench.requests.length).toBeLessThanOrEqual(8);
    expect(bench.requests.filter((path) => /samples|ort-/.test(path))).toEqual([]);
    await page.context().close();
  });
});

describe('dropping', () => {
  test('the hint is there only while files are dragged', async () => {
    const page = await bench.page();
    const hint = page.locator('.drop-hint');
    await drag(page, 'dragenter', 'text');
    expect(await hint.count()).toBe(0);
    for (const end of ['dragleave', 'drop', 'Escape']) {
      await drag(page, 'dragenter', 'files');
      await hint.waitFor();
      if (end === 'Escape') await page.keyboard.press('Escape');
      else await drag(page, end, 'files');
      await hint.waitFor({ state: 'detached' });
    }
    await page.context().close();
  });

  test('a model opens wherever it falls, within 100 ms shown as busy', async () => {
    const page = await bench.page();
    await page.evaluate(() => {
      addEventListener('drop', () => {
        const dropped = performance.now();
        const look = new MutationObserver(() => {
          if (
            document.querySelector('main[aria-busy="true"]') === null ||
            !document.body.innerText.includes('g01_res')
          )
            return;
          document.body.dataset.busyAfter = String(performance.now() - dropped);
          look.disconnect();
        });
        look.observe(document.body, { childList: true, subtree: true, attributes: true });
      });
    });
    await drop(page, [fileAt(kGraph)]);
    await whenStep(page, 'plan', 'done');
    expect(await subject(page)).toBe('g01_res_identity.onnx');
    expect(Number(await page.locator('body').getAttribute('data-busy-after'))).toBeLessThan(100);
    expect(bench.complaints).toEqual([]);
    await page.context().close();
  });

  test('text, two models, samples without a model: a sentence each, and nothing else changes', async () => {
    const page = await bench.page();
    await drag(page, 'drop', 'text');
    const text = await problemText(page);
    await drop(page, [fileAt(kGraph, 'a.onnx'), fileAt(kGraph, 'b.onnx')]);
    const two = await problemText(page);
    await drop(page, [fileAt(kSamples[0]!), fileAt(kSamples[1]!)]);
    const sample = await problemText(page);
    expect(text).toContain('text');
    expect(two).toContain('a.onnx, b.onnx');
    expect(sample).toContain('no model is open');
    expect(await page.locator('.subject').count()).toBe(0);
    await drop(page, [fileAt(kGraph)]);
    await whenStep(page, 'plan', 'done');
    await drop(page, [fileAt(kGraph, 'a.onnx'), fileAt(kGraph, 'b.onnx')]);
    expect(await problemText(page)).toContain('Drop one model at a time.');
    expect(await subject(page)).toBe('g01_res_identity.onnx');
    await page.context().close();
  });

  test('a folder: refused by name without a model, samples with one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'halftone-'));
    for (const path of kSamples)
      writeFileSync(join(folder, path.slice(path.lastIndexOf('/') + 1)), fileAt(path).bytes);
    const page = await bench.page();
    const session = await page.context().newCDPSession(page);
    const dropFolder = async (): Promise<void> => {
      const data = { items: [], files: [folder], dragOperationsMask: 1 };
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
        await session.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data });
      }
    };
    await dropFolder();
    await page.locator('.problem').waitFor();
    expect(await problemText(page)).toContain('is a folder of samples, and no model is open');
    await drop(page, [fileAt(kGraph)]);
    await whenStep(page, 'plan', 'done');
    await dropFolder();
    await whenStep(page, 'calibrate', 'ready');
    expect(await page.locator('.subject').innerText()).toContain('4\u00a0samples');
    rmSync(folder, { recursive: true });
    await page.context().close();
  });
});

describe('dialog', () => {
  test('gives the same as a drop, also for the same file twice', async () => {
    const page = await bench.page();
    await drop(page, [fileAt(kGraph)]);
    await whenStep(page, 'plan', 'done');
    const dropped = await page.locator('.view').innerText();
    for (let round = 0; round < 2; ++round) {
      await choose(page, kGraph);
      await whenIdle(page);
      await whenStep(page, 'plan', 'done');
      expect(await page.locator('.view').innerText()).toBe(dropped);
    }
    expect(bench.complaints).toEqual([]);
    await page.context().close();
  });

  test('a second model replaces the first, a broken one does not', async () => {
    const page = await bench.page();
    await drop(page, [fileAt(kGraph), ...kSamples.map((path) => fileAt(path))]);
    await whenStep(page, 'calibrate', 'ready');
    await drop(page, [{ name: 'broken.onnx', bytes: fileAt(kGraph).bytes.slice(0, 300) }]);
    await page.locator('.problem').waitFor();
    await whenIdle(page);
    expect(await subject(page)).toBe('g01_res_identity.onnx');
    await whenStep(page, 'calibrate', 'ready');
    await drop(page, [fileAt(graph('g03_res_downsample.onnx'))]);
    await page.getByText('g03_res_downsample.onnx').first().waitFor();
    await whenStep(page, 'plan', 'done');
    await whenStep(page, 'calibrate', 'nothing yet');
    expect(await page.locator('.problem').count()).toBe(0);
    await page.context().close();
  });
});

describe('external data', () => {
  const model = { name: 'outside.onnx', bytes: modelWithData({ location: 'w.data' }) };
  const data = { name: 'w.data', bytes: weightBytes() };
  const sample = { name: 'x.npy', bytes: npy([1, 4], Float32Array.of(1, -2, 3, -4)) };

  test('comes with the model and the samples', async () => {
    const page = await bench.page();
    await drop(page, [sample, data, model]);
    await whenStep(page, 'calibrate', 'ready');
    expect(await subject(page)).toBe('outside.onnx');
    await page.context().close();
  });

  test('or later: the page names what is missing, and opens when it is dropped', async () => {
    const page = await bench.page();
    await drop(page, [model]);
    await page.locator('.problem').waitFor();
    expect(await problemText(page)).toContain('w.data');
    await whenIdle(page);
    await drop(page, [data]);
    await whenStep(page, 'plan', 'done');
    expect(await page.locator('.problem').count()).toBe(0);
    await page.context().close();
  });
});

describe('address', () => {
  test('carries options and selection, never the file, and restores them', async () => {
    const page = await bench.page();
    await drop(page, [fileAt(kGraph)]);
    await whenStep(page, 'plan', 'done');
    await goTo(page, 'plan');
    await page.getByRole('combobox', { name: 'Weights', exact: true }).selectOption('int16');
    await whenPlanned(page);
    const row = page.locator('.table-box .row-name').first();
    const tensor = await row.innerText();
    await row.click();
    await whenIdle(page);
    const hash = new URL(page.url()).hash;
    expect(Object.fromEntries(new URLSearchParams(hash.slice(1)))).toEqual({
      step: 'plan',
      weights: 'int16',
      tensor,
    });
    const again = await bench.page({ hash });
    await drop(again, [fileAt(kGraph)]);
    await whenStep(again, 'plan', 'done');
    await goTo(again, 'plan');
    expect(await again.getByRole('combobox', { name: 'Weights', exact: true }).inputValue()).toBe('int16');
    expect(await again.locator('.inspector h2').innerText()).toBe(tensor);
    await page.context().close();
    await again.context().close();
  });

  test('a bad one is ignored with a notice', async () => {
    const page = await bench.page({ hash: '#step=warp&weights=float3&view=table' });
    expect(await page.locator('.notice').innerText()).toContain('address was not understood');
    expect(new URL(page.url()).hash).toBe('#view=table');
    expect(bench.complaints).toEqual([]);
    await page.context().close();
  });
});
