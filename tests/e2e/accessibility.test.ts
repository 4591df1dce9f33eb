// Every view in light, dark, forced colours, narrow and enlarged.
import AxeBuilder from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { drop, goTo, runSample, Workbench, whenIdle, whenStep } from './support/bench_page.js';

let bench: Workbench;
beforeAll(async () => {
  bench = await Workbench.start();
});
afterAll(() => bench.stop());
beforeEach(() => {
  bench.complaints.length = 0;
});

/** Brings the page through all its views; `look` is called in each. */
async function everyView(page: Page, look: (view: string) => Promise<void>): Promise<void> {
  await look('start');
  await drop(page, [{ name: 'empty.onnx', bytes: '' }]);
  await page.locator('.problem').waitFor();
  await page.locator('.problem summary').click();
  await look('problem');
  await runSample(page, 'text-direction');
  await look('bars');
  await page.getByRole('radio', { name: 'Table' }).check({ force: true });
  await look('table');
  await page.locator('.table-box .row-name').first().click();
  await page.locator('.inspector .histogram').waitFor();
  await look('inspector');
  await page.getByRole('button', { name: 'Close the inspector' }).click();
  for (const step of ['model', 'plan', 'calibrate']) {
    await goTo(page, step);
    if (step === 'calibrate') await page.locator('summary', { hasText: 'random' }).click();
    await look(step);
  }
  await goTo(page, 'save');
  await page.getByRole('button', { name: 'Make the quantized model' }).click();
  await whenStep(page, 'save', 'done');
  await whenIdle(page);
  await page.locator('summary', { hasText: 'change' }).click();
  await look('save');
  await page.getByRole('button', { name: 'Nothing leaves this machine' }).click();
  await look('proof');
  await page.getByRole('button', { name: 'Close', exact: true }).click();
}

describe('axe', () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`finds nothing serious in any view, ${colorScheme}`, async () => {
      const page = await bench.page({ colorScheme });
      const found: string[] = [];
      await everyView(page, async (view) => {
        const { violations } = await new AxeBuilder({ page }).analyze();
        for (const { id, impact, nodes } of violations) {
          if (impact === 'serious' || impact === 'critical')
            found.push(`${view}: ${id} at ${nodes[0]?.html}`);
        }
      });
      expect(found).toEqual([]);
      expect(bench.complaints).toEqual([]);
      await page.context().close();
    });
  }
});

describe('room', () => {
  // 640 x 400 is what 1280 x 800 leaves at 200 % zoom.
  for (const viewport of [
    { width: 320, height: 640 },
    { width: 360, height: 640 },
    { width: 640, height: 400 },
  ]) {
    test(`no view scrolls sideways at ${viewport.width} x ${viewport.height}`, async () => {
      const page = await bench.page({ viewport });
      const wide: string[] = [];
      await everyView(page, async (view) => {
        const beyond = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        if (beyond > 0) wide.push(`${view}: ${beyond} pixels`);
      });
      expect(wide).toEqual([]);
      await page.context().close();
    });
  }

  test('the viewport may be zoomed', async () => {
    const page = await bench.page();
    expect(await page.locator('meta[name="viewport"]').getAttribute('content')).not.toMatch(
      /user-scalable|maximum-scale|minimum-scale/,
    );
    await page.context().close();
  });

  test('narrow screens fold the steps into a bar at the bottom and the inspector into a sheet', async () => {
    const page = await bench.page({ viewport: { width: 360, height: 640 } });
    await runSample(page, 'text-direction');
    const steps = (await page.locator('.steps').boundingBox())!;
    expect(Math.round(steps.y + steps.height)).toBe(640);
    expect(await page.locator('.steps button').count()).toBe(6);
    await page.locator('.bars [data-name]').first().click();
    await page.locator('.inspector .histogram').waitFor();
    const sheet = (await page.locator('.inspector').boundingBox())!;
    expect(Math.round(sheet.width)).toBe(360);
    expect(Math.round(sheet.y + sheet.height)).toBe(640);
    await page.context().close();
  });
});

describe('colours and motion', () => {
  const background = (page: Page): Promise<string> =>
    page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);

  test('follow the system, can be overridden three ways, and stay after a reload', async () => {
    const page = await bench.page({ colorScheme: 'light' });
    const light = await background(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await background(page);
    expect(dark).not.toBe(light);
    for (const [choice, expected] of [
      ['light', light],
      ['dark', dark],
      ['system', dark],
    ] as const) {
      await page.getByLabel('Colours').selectOption(choice);
      expect(await background(page), choice).toBe(expected);
      await page.reload();
      expect(await background(page), choice).toBe(expected);
      expect(await page.getByLabel('Colours').inputValue()).toBe(choice);
    }
    await page.getByLabel('Colours').selectOption('dark');
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await background(page)).toBe(dark);
    await page.context().close();
  });

  test('nothing moves when the system asks for that', async () => {
    const page = await bench.page({ reducedMotion: 'reduce' });
    await page.evaluate(() => {
      const names = new Set<string>();
      Object.assign(window, { ringAnimations: names });
      const look = (): void => {
        for (const ring of document.querySelectorAll('.dot .ring'))
          names.add(getComputedStyle(ring).animationName);
      };
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
    });
    await runSample(page, 'text-direction');
    const names = await page.evaluate(() => [
      ...(window as unknown as { ringAnimations: Set<string> }).ringAnimations,
    ]);
    expect(names).toEqual(['none']);
    await page.context().close();
  });

  test('bars are there in forced colours, and differ in lightness from the paper', async () => {
    const page = await bench.page({ forcedColors: 'active' });
    await runSample(page, 'text-direction');
    const [fill, paper] = await page.evaluate(() => [
      getComputedStyle(document.querySelector('.bars rect:nth-of-type(2)')!).fill,
      getComputedStyle(document.body).backgroundColor,
    ]);
    expect(fill).not.toBe(paper);
    expect(fill).toMatch(/^rgb/);
    await page.context().close();
  });
});
