// The whole flow without a pointer, where focus goes, and what is announced.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { drop, fileAt, graph, problemText, Workbench, whenIdle, whenStep } from './support/bench_page.js';

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.start();
});
afterAll(() => bench.stop());
beforeEach(() => {
  bench.complaints.length = 0;
});

interface Stop {
  name: string;
  visible: boolean;
  outlined: boolean;
  /** Position in the document. */
  place: number;
}

/** What has the focus, and whether a person can see that. */
async function focused(page: Page): Promise<Stop> {
  return page.evaluate(() => {
    const element = document.activeElement as HTMLElement;
    const box = element.getBoundingClientRect();
    // A radio button lies unseen over its label, which shows the focus for it.
    const shown = element.matches('.switch input') ? (element.nextElementSibling as HTMLElement) : element;
    const style = getComputedStyle(shown);
    const luminance = (color: string): number => {
      const channels = (color.match(/[\d.]+/g) ?? []).slice(0, 3).map((text) => Number(text) / 255);
      const [r = 0, g = 0, b = 0] = channels.map((c) =>
        c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4,
      );
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const [a, b] = [
      luminance(style.outlineColor),
      luminance(getComputedStyle(document.documentElement).backgroundColor),
    ];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return {
      name:
        element.getAttribute('aria-label') ??
        element.innerText ??
        element.getAttribute('value') ??
        element.tagName,
      visible: box.width > 1 && box.height > 1 && box.right > 0 && box.bottom > 0,
      outlined: style.outlineStyle !== 'none' && Number.parseFloat(style.outlineWidth) >= 2 && contrast >= 3,
      place: Array.from(document.querySelectorAll('*')).indexOf(element),
    };
  });
}

/** Presses Tab until `wanted` has the focus; every stop on the way must be seen. */
async function tabTo(page: Page, wanted: string, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const passed: string[] = [];
  for (let presses = 0; presses < 80; ++presses) {
    if (await page.evaluate((selector) => document.activeElement?.matches(selector), wanted)) return;
    await page.keyboard.press(key);
    const stop = await focused(page);
    passed.push(stop.name);
    expect(stop.visible, `stop ${stop.name}`).toBe(true);
    expect(stop.outlined, `outline of ${stop.name}`).toBe(true);
  }
  throw new Error(`${wanted} was never reached; passed ${passed.join(' | ')}`);
}

/** The next Tab goes to the first stop of the page. */
async function fromTheTop(page: Page): Promise<void> {
  await page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute('tabindex');
  });
}

/** One round of Tab from the top: the stops in order. */
async function roundOfStops(page: Page): Promise<Stop[]> {
  await fromTheTop(page);
  const stops: Stop[] = [];
  for (let presses = 0; presses < 300; ++presses) {
    await page.keyboard.press('Tab');
    if (
      await page.evaluate(() => document.activeElement === document.body || document.activeElement === null)
    )
      break;
    const stop = await focused(page);
    if (stop.place === stops[0]?.place) break;
    stops.push(stop);
  }
  return stops;
}

function expectReadingOrder(stops: readonly Stop[]): void {
  expect(stops[0]!.name).toContain('Skip to the workbench');
  for (const [index, stop] of stops.entries()) {
    expect(stop.visible, stop.name).toBe(true);
    expect(stop.outlined, stop.name).toBe(true);
    if (index > 0) expect(stop.place, stop.name).toBeGreaterThan(stops[index - 1]!.place);
  }
}

test('stops are seen, in reading order, and begin with the skip link', async () => {
  const page = await bench.page();
  expectReadingOrder(await roundOfStops(page));
  await drop(page, [fileAt(graph('g01_res_identity.onnx'))]);
  await whenStep(page, 'plan', 'done');
  await whenIdle(page);
  expectReadingOrder(await roundOfStops(page));
  await fromTheTop(page);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('main');
  await page.context().close();
});

test('the sample flow: open, rank, sort, select, export, save', async () => {
  const page = await bench.page();
  await tabTo(page, '[data-sample="text-direction"]');
  await page.keyboard.press('Enter');
  await whenStep(page, 'sensitivity', 'done');
  await whenIdle(page);

  await tabTo(page, 'input[name="Shown as"]');
  await page.keyboard.press('ArrowRight');
  await page.locator('.table-box').waitFor();
  await tabTo(page, '.table-box th:nth-child(4) .sort');
  await page.keyboard.press('Enter');
  expect(await page.locator('.table-box th:nth-child(4)').getAttribute('aria-sort')).toBe('descending');
  await page.keyboard.press('Space');
  expect(await page.locator('.table-box th:nth-child(4)').getAttribute('aria-sort')).toBe('ascending');
  await tabTo(page, '.table-box .row-name');
  await page.keyboard.press('Enter');
  await page.locator('.inspector .histogram').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.inspector.empty').waitFor();

  await tabTo(page, '.exports button', 'Shift+Tab');
  const [csv] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  expect(csv.suggestedFilename()).toMatch(/sensitivity\.(csv|json|svg)$/);

  await tabTo(page, '[data-step="save"]', 'Shift+Tab');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement?.id === 'view-title');
  await tabTo(page, '.actions .primary');
  await page.keyboard.press('Enter');
  await whenStep(page, 'save', 'done');
  await whenIdle(page);
  await tabTo(page, '.files button');
  const [model] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  expect(model.suggestedFilename()).toBe('ch_ppocr_mobile_v2.0_cls_infer.qdq.onnx');
  expect(bench.complaints).toEqual([]);
  await page.context().close();
});

test('arrow keys walk the bars, keep them in sight and say what they are', async () => {
  const page = await bench.page();
  await page.click('[data-sample="text-direction"]');
  await whenStep(page, 'sensitivity', 'done');
  await whenIdle(page);
  await page.locator('.bars-box').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  const names = await page
    .locator('.bars [data-name]')
    .evaluateAll((bars) => bars.map((bar) => bar.getAttribute('data-name')));
  expect(await page.locator('.inspector h2').getAttribute('title')).toBe(names[1]);
  expect(await page.locator('[role="status"]').innerText()).toMatch(
    new RegExp(`^${names[1]!.slice(0, 10).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}.*dB$`),
  );
  await page.keyboard.press('End');
  expect(await page.locator('.inspector h2').getAttribute('title')).toBe(names.at(-1));
  const [bar, box] = [
    (await page.locator('.bars [data-name]').last().boundingBox())!,
    (await page.locator('.bars-box').boundingBox())!,
  ];
  expect(bar.y + bar.height).toBeLessThanOrEqual(box.y + box.height + 1);
  await page.context().close();
});

test('focus moves to the heading of a new view; a dialog keeps it and gives it back', async () => {
  const page = await bench.page();
  await drop(page, [fileAt(graph('g01_res_identity.onnx'))]);
  await whenStep(page, 'plan', 'done');
  for (const step of ['plan', 'calibrate', 'sensitivity', 'save', 'model']) {
    await page.locator(`[data-step="${step}"]`).focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction((name) => document.activeElement?.textContent?.toLowerCase() === name, step);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H2');
  }
  await page.locator('.foot .link').focus();
  await page.keyboard.press('Enter');
  await page.locator('dialog[open]').waitFor();
  for (let presses = 0; presses < 4; ++presses) {
    await page.keyboard.press('Tab');
    expect(
      await page.evaluate(
        () => document.activeElement === document.body || document.activeElement?.closest('dialog') !== null,
      ),
    ).toBe(true);
  }
  await page.keyboard.press('Escape');
  await page.locator('dialog[open]').waitFor({ state: 'detached' });
  expect(await page.evaluate(() => document.activeElement?.matches('.foot .link'))).toBe(true);
  await page.context().close();
});

test('state changes are announced once and politely, errors at once', async () => {
  const page = await bench.page();
  await page.evaluate(() => {
    const said: string[] = [];
    Object.assign(window, { said });
    for (const region of document.querySelectorAll('[aria-live]')) {
      const level = region.getAttribute('aria-live');
      new MutationObserver(() => said.push(`${level}: ${region.textContent}`)).observe(region, {
        childList: true,
        characterData: true,
        subtree: true,
      });
    }
  });
  const said = (): Promise<string[]> =>
    page.evaluate(() => (window as unknown as { said: string[] }).said.splice(0));
  await drop(page, [fileAt(graph('g01_res_identity.onnx')), fileAt(graph('g01_res_identity.s0.x.npy'))]);
  await whenStep(page, 'calibrate', 'ready');
  await whenIdle(page);
  const opened = await said();
  expect(opened.filter((line) => line.includes('g01_res_identity.onnx is open'))).toHaveLength(1);
  expect(opened.filter((line) => line.includes('1\u00a0sample ready'))).toHaveLength(1);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await whenStep(page, 'sensitivity', 'done');
  await whenIdle(page);
  const ran = await said();
  expect(ran.filter((line) => /^polite: Calibrated with/.test(line))).toHaveLength(1);
  expect(ran.filter((line) => /^polite: Ranked/.test(line))).toHaveLength(1);
  await drop(page, [{ name: 'empty.onnx', bytes: '' }]);
  await page.locator('.problem').waitFor();
  await whenIdle(page);
  const failed = await said();
  expect(failed).toHaveLength(1);
  expect(failed[0]).toBe(`assertive: ${await problemText(page)}`);
  await page.context().close();
});
