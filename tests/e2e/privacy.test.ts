// Nothing leaves this machine: from the page, from its workers, with headers and without.
import { readdirSync, readFileSync } from 'node:fs';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { headersFile, policy } from '../../web/policy.mjs';
import {
  drop,
  fileAt,
  goTo,
  graph,
  kSite,
  rankingTable,
  runSample,
  Workbench,
  whenIdle,
  whenStep,
} from './support/bench_page.js';
import { type Foreign, startForeign } from './support/foreign.js';

let withHeaders: Workbench;
let withoutHeaders: Workbench;
let foreign: Foreign;
beforeAll(async () => {
  withHeaders = await Workbench.start();
  withoutHeaders = await Workbench.start({ headers: false });
  foreign = await startForeign();
});
afterAll(async () => {
  await withHeaders.stop();
  await withoutHeaders.stop();
  await foreign.close();
});
beforeEach(() => {
  withHeaders.complaints.length = 0;
  foreign.calls.length = 0;
});

const kFiles = [fileAt(graph('g01_res_identity.onnx')), fileAt(graph('g01_res_identity.s0.x.npy'))];

/** Tries every way out from where it runs; resolves with how each ended. */
async function tryToLeave(origin: string): Promise<string[]> {
  const ends: string[] = [];
  await fetch(`${origin}/fetch`, { method: 'POST', body: 'model' }).then(
    () => ends.push('fetch went out'),
    () => ends.push('fetch refused'),
  );
  await new Promise<void>((resolve) => {
    try {
      const socket = new WebSocket(`${origin.replace('http', 'ws')}/socket`);
      socket.onopen = () => resolve(void ends.push('socket went out'));
      socket.onerror = () => resolve(void ends.push('socket refused'));
    } catch {
      ends.push('socket refused');
      resolve();
    }
  });
  navigator.sendBeacon?.(`${origin}/beacon`, 'model');
  return ends;
}

/** From the page and from every worker that runs. */
async function expectNoWayOut(page: Page): Promise<void> {
  const refused = ['fetch refused', 'socket refused'];
  expect(await page.evaluate(tryToLeave, foreign.origin)).toEqual(refused);
  const workers = page.workers();
  expect(workers.length).toBeGreaterThan(0);
  for (const worker of workers) {
    expect(worker.url()).toMatch(/^blob:/);
    expect(await worker.evaluate(tryToLeave, foreign.origin)).toEqual(refused);
  }
  expect(foreign.calls).toEqual([]);
}

describe('other origins', () => {
  test('are heard by the test when nothing forbids it', async () => {
    const context = await withHeaders.browser.newContext();
    const page = await context.newPage();
    await page.goto(`${foreign.origin}/`);
    foreign.calls.length = 0;
    expect((await page.evaluate(tryToLeave, foreign.origin))[0]).toBe('fetch went out');
    expect(foreign.calls).toContain('POST /fetch'); // the browser may ask for an icon first
    await context.close();
  });

  test('are out of reach by response headers alone', async () => {
    const stripped = async (context: BrowserContext): Promise<void> => {
      await context.route(/\/(#.*)?$/, async (route) => {
        const response = await route.fetch();
        const body = (await response.text()).replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, '');
        await route.fulfill({ response, body });
      });
    };
    const page = await withHeaders.page({ prepare: stripped });
    expect(await page.locator('meta[http-equiv]').count()).toBe(0);
    await drop(page, kFiles);
    await whenStep(page, 'calibrate', 'ready');
    await whenIdle(page);
    await expectNoWayOut(page);
    await page.context().close();
  });

  test('are out of reach by <meta> and blob workers alone', async () => {
    const page = await withoutHeaders.page();
    const answer = await page.request.get(withoutHeaders.server.address);
    expect(answer.headers()['content-security-policy']).toBeUndefined();
    await drop(page, kFiles);
    await whenStep(page, 'calibrate', 'ready');
    await whenIdle(page);
    await expectNoWayOut(page);
    await page.context().close();
  });

  test('are never tried: the whole flow is the same with all of them cut off', async () => {
    const tables = [];
    for (const cut of [false, true]) {
      const attempts: string[] = [];
      const prepare = async (context: BrowserContext): Promise<void> => {
        if (!cut) return;
        await context.route(
          (url) =>
            /^(http|ws)/.test(url.protocol) && url.origin !== new URL(withHeaders.server.address).origin,
          (route) => {
            attempts.push(route.request().url());
            return route.abort();
          },
        );
      };
      const page = await withHeaders.page({ prepare });
      await runSample(page, 'text-direction');
      tables.push(await rankingTable(page));
      expect(attempts).toEqual([]);
      await page.context().close();
    }
    expect(tables[0]!.length).toBeGreaterThan(100);
    expect(tables[1]).toEqual(tables[0]);
    expect(withHeaders.complaints).toEqual([]);
  });
});

describe('requests', () => {
  test('none at all from opening to saving; the page counts them; it works without a network', async () => {
    const page = await withHeaders.page();
    await drop(page, kFiles);
    await whenStep(page, 'calibrate', 'ready');
    await whenIdle(page);
    withHeaders.requests.length = 0;
    await page.context().setOffline(true);
    await goTo(page, 'calibrate');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await whenStep(page, 'sensitivity', 'done');
    await goTo(page, 'save');
    await page.getByRole('button', { name: 'Make the quantized model' }).click();
    await whenStep(page, 'save', 'done');
    await whenIdle(page);
    expect(withHeaders.requests).toEqual([]);
    await page.getByRole('button', { name: 'Nothing leaves this machine' }).click();
    expect(await page.locator('[data-count="foreign"]').innerText()).toBe('0');
    expect(await page.locator('[data-count="since-open"]').innerText()).toBe('0');
    expect(Number(await page.locator('[data-count="own"]').innerText())).toBeGreaterThan(3);
    expect(await page.locator('dialog').innerText()).toMatch(/aeroplane mode/);
    expect(withHeaders.complaints).toEqual([]);
    await page.context().close();
  });

  test('an attempt at another origin shows in the count', async () => {
    const page = await withHeaders.page();
    await page.evaluate((origin) => fetch(`${origin}/x`).catch(() => undefined), foreign.origin);
    await page.locator('.foot-count', { hasText: '1' }).waitFor();
    expect(foreign.calls).toEqual([]);
    await page.context().close();
  });
});

describe('policy', () => {
  test('is strict, in the header, in <meta> and in _headers alike', async () => {
    const page = await withHeaders.page();
    const answer = await page.request.get(withHeaders.server.address);
    expect(answer.headers()['content-security-policy']).toBe(`${policy}; frame-ancestors 'none'`);
    expect(await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content')).toBe(
      policy,
    );
    expect(readFileSync(`${kSite}/_headers`, 'utf8')).toBe(headersFile);
    expect(policy).not.toMatch(/'unsafe-(inline|eval)'|\*|https?:|data:/);
    await page.context().close();
  });

  test('nothing is inline, hashed names are kept for good, scripts are UTF-8', async () => {
    const html = readFileSync(`${kSite}/index.html`, 'utf8');
    expect(html).not.toMatch(/<style|style=|javascript:|\son\w+=/i);
    for (const script of html.match(/<script[^>]*>[^<]*<\/script>/g) ?? [])
      expect(script).toMatch(/src="[^"]+"[^>]*><\/script>$/);
    const page = await withHeaders.page();
    const type = async (path: string): Promise<Record<string, string>> =>
      (await page.request.get(withHeaders.server.address + path)).headers();
    for (const name of readdirSync(`${kSite}/assets`)) {
      const headers = await type(`assets/${name}`);
      expect(headers['cache-control'], name).toBe('public, max-age=31536000, immutable');
      if (name.endsWith('.js')) expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
    }
    for (const name of ['', 'samples/samples.json'])
      expect((await type(name))['cache-control'], name).not.toContain('immutable');
    await page.context().close();
  });

  test('only the choice of colours is stored, and no cookie', async () => {
    const page = await withHeaders.page();
    await page.getByLabel('Colours').selectOption('dark');
    const stored = await page.evaluate(() => [
      Object.keys(localStorage),
      Object.keys(sessionStorage),
      document.cookie,
    ]);
    expect(stored).toEqual([['halftone.theme'], [], '']);
    await page.context().close();
  });
});
