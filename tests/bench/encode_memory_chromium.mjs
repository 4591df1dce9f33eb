// Encodes an array of 500 MB to NF4 on the page, in Chromium, and measures the memory of all its processes: the largest
// growth from before the file is given may be 1.2 times input and output together. The file is chosen by its path and the
// result saved as a download, as a person does it. First an encoding is cancelled in the middle; the one after it must give
// the bytes that the command line gives.  node tests/bench/encode_memory_chromium.mjs [--megabytes N] [--profile]
//
// --profile: a profile on disk instead of a private window. Chromium keeps large blobs in files there; in a private window,
// which the figures are judged by, it may not.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { writeLargeArray } from './support/large_array.mjs';
import { descendants, residentShares, roleOf } from './support/process_memory.mjs';

const LIMIT = 1.2;
const CANCEL_LIMIT_MS = 250;
const SAMPLE_MS = 100;
const PATIENCE_MS = 300_000;
const CANCEL_AT = 0.5;
/** Of the input, when so much time has passed since a cancel: a started worker, and what its engine hasn't looked at yet. */
const KEPT_SHARE = 0.2;
const GIVEN_BACK_SECONDS = 30;
const LAUNCH = {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};

const { values: options } = parseArgs({
  options: { megabytes: { type: 'string', default: '500' }, profile: { type: 'boolean', default: false } },
});
const cli = fileURLToPath(new URL('../../bindings/js/dist/cli.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'halftone-encode-'));
const [input, output, expected] = ['array.npy', 'page.pb', 'cli.pb'].map((name) => join(folder, name));
const mb = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;

/** The page as `halftone serve` gives it. */
async function startServer() {
  const child = spawn(process.execPath, [cli, 'serve', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const text of child.stdout) {
    const address = /http:\/\/[^\s]+/.exec(String(text))?.[0];
    if (address !== undefined) return { child, address };
  }
  throw new Error('halftone serve gave no address');
}

async function openBrowser() {
  if (options.profile) {
    const context = await chromium.launchPersistentContext(join(folder, 'profile'), LAUNCH);
    return { page: context.pages()[0] ?? (await context.newPage()), close: () => context.close() };
  }
  const browser = await chromium.launch(LAUNCH);
  return { page: await browser.newPage(), close: () => browser.close() };
}

/** Runs in the page before its own code: progress as a person sees it, and whether the page's thread answers. */
function watchPage() {
  const seen = { progress: [], longTasks: [], ticks: [], cancelMs: null, cancelAt: null };
  window.seen = seen;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.longTasks.push(duration);
  }).observe({ type: 'longtask' });
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    seen.ticks.push(now - last);
    last = now;
  }, 10);
  const look = () => {
    const bar = document.querySelector('.job [role="progressbar"]');
    if (bar === null) {
      if (seen.cancelMs !== null && seen.cancelMs < 0) seen.cancelMs += performance.now();
      return;
    }
    const share = Number(bar.getAttribute('aria-valuenow')) / Number(bar.getAttribute('aria-valuemax'));
    seen.progress.push(share);
    if (seen.cancelAt !== null && share >= seen.cancelAt) {
      seen.cancelAt = null;
      seen.cancelMs = -performance.now();
      document.querySelector('.job .cancel').click();
    }
  };
  addEventListener('DOMContentLoaded', () =>
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, attributes: true }),
  );
}

class MemoryWatch {
  most = { bytes: 0, shares: new Map() };
  #timer;

  constructor() {
    this.#timer = setInterval(() => this.now(), SAMPLE_MS);
  }

  now() {
    const shares = residentShares(descendants(process.pid, 'chrom'));
    const bytes = [...shares.values()].reduce((sum, share) => sum + share, 0);
    if (bytes > this.most.bytes) this.most = { bytes, shares };
    return { bytes, shares };
  }

  startAnew() {
    this.most = { bytes: 0, shares: new Map() };
  }

  stop() {
    clearInterval(this.#timer);
  }
}

const idle = (page) => page.waitForSelector('html[data-idle="true"]', { state: 'attached' });
const seconds = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** What was seen since the last call. */
function takeSeen(page) {
  return page.evaluate(() => {
    const { progress, longTasks, ticks, cancelMs } = window.seen;
    Object.assign(window.seen, { progress: [], longTasks: [], ticks: [], cancelMs: null });
    return { progress, longTasks, cancelMs, longestGap: Math.max(...ticks) };
  });
}

/** Nothing is done to the page meanwhile: it has to let go by itself. */
async function untilGivenBack(watch, limit) {
  for (let after = 1; ; ++after) {
    await seconds(1000);
    const { bytes } = watch.now();
    if (bytes < limit || after === GIVEN_BACK_SECONDS) return { bytes, after };
  }
}

async function sha256(path) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

const failures = [];
function check(holds, what) {
  if (!holds) failures.push(what);
}

function checkProgress({ progress, longTasks, longestGap }, what) {
  const different = new Set(progress).size;
  const fell = progress.some((share, i) => i > 0 && share < progress[i - 1]);
  check(different >= 5, `${what}: progress had ${different} values`);
  check(!fell, `${what}: progress fell`);
  const longest = Math.max(0, ...longTasks);
  console.log(
    `${what}: ${different} values of progress, long tasks ${longTasks.length} (longest ${longest.toFixed(0)} ms), ` +
      `longest time without an answer ${longestGap.toFixed(0)} ms`,
  );
}

function printShares(before, { bytes, shares }, both) {
  console.log(`peak              ${mb(bytes - before.bytes)} more than the ${mb(before.bytes)} before`);
  for (const [pid, share] of shares) {
    const grown = share - (before.shares.get(pid) ?? 0);
    if (Math.abs(grown) > both * 0.005) console.log(`  ${roleOf(pid).padEnd(32)} ${mb(grown)}`);
  }
}

async function measure(page, watch) {
  const save = page.getByRole('button', { name: 'Save the encoded array' });
  await idle(page);
  await seconds(2000);
  const before = watch.now();
  const size = statSync(input).size;
  const ratio = (bytes) => ((bytes - before.bytes) / both).toFixed(3);
  let both = size;

  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Open model' }).click(),
  ]);
  await chooser.setFiles(input);
  await save.waitFor();
  await idle(page);
  await page.getByLabel('Encode as').selectOption('nf4');
  await takeSeen(page);

  await page.evaluate((share) => Object.assign(window.seen, { cancelAt: share }), CANCEL_AT);
  watch.startAnew();
  await save.click();
  await page.waitForFunction(() => window.seen.cancelMs !== null && window.seen.cancelMs >= 0);
  const cancelled = await takeSeen(page);
  const atCancel = watch.most;
  checkProgress(cancelled, 'cancelled');
  const { cancelMs } = cancelled;
  console.log(`cancel answered after ${cancelMs.toFixed(0)} ms (at most ${CANCEL_LIMIT_MS})`);
  check(cancelMs <= CANCEL_LIMIT_MS, `cancelling took ${cancelMs.toFixed(0)} ms`);
  check(Math.max(...cancelled.progress) < 0.99, 'it was done before it was cancelled');
  check((await page.locator('.problem').count()) === 0, 'cancelling showed a problem');
  check(await save.isEnabled(), 'after cancelling nothing can be saved');
  const given = await untilGivenBack(watch, before.bytes + KEPT_SHARE * size);
  console.log(
    `memory            ${mb(atCancel.bytes - before.bytes)} more when cancelled, ${mb(given.bytes - before.bytes)} ${given.after} s later`,
  );
  check(
    given.bytes - before.bytes < KEPT_SHARE * size,
    `${mb(given.bytes - before.bytes)} stayed after cancelling`,
  );

  await takeSeen(page);
  watch.startAnew();
  const started = performance.now();
  const [download] = await Promise.all([page.waitForEvent('download'), save.click()]);
  const took = (performance.now() - started) / 1000;
  await download.saveAs(output);
  await idle(page);
  watch.now();
  const finished = await takeSeen(page);
  checkProgress(finished, 'encoded');
  check(Math.max(...finished.progress) > 0.9, 'progress ended early');
  both = size + statSync(output).size;
  const most = watch.most.bytes > atCancel.bytes ? watch.most : atCancel;
  console.log(`input and output  ${mb(both)}`);
  printShares(before, most, both);
  console.log(`ratio             ${ratio(most.bytes)} (at most ${LIMIT})`);
  console.log(`time              ${took.toFixed(1)} s, ${(size / 1e6 / took).toFixed(0)} MB/s of floats`);
  check(Number(ratio(most.bytes)) <= LIMIT, `the ratio is ${ratio(most.bytes)}`);
}

let server;
let browser;
const watch = new MemoryWatch();
try {
  const values = Math.round((Number(options.megabytes) * 1e6) / 4);
  writeLargeArray(input, values);
  execFileSync(process.execPath, [cli, 'encode', input, '--format', 'nf4', '-o', expected, '--quiet']);
  server = await startServer();
  browser = await openBrowser();
  const { page } = browser;
  page.setDefaultTimeout(PATIENCE_MS);
  await page.addInitScript(watchPage);
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(server.address);
  await measure(page, watch);
  check(complaints.length === 0, complaints.join('; '));
  const same = (await sha256(output)) === (await sha256(expected));
  console.log(`bytes             ${same ? 'those of the command line' : 'NOT those of the command line'}`);
  check(same, 'page and command line wrote different bytes');
} finally {
  watch.stop();
  await browser?.close();
  server?.child.kill();
  rmSync(folder, { recursive: true });
}
for (const failure of failures) console.error(`FAILED: ${failure}`);
if (failures.length > 0) process.exitCode = 1;
