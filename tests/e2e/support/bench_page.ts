// A browser with the page in it, and the handful of things that every test does there. Waiting is for what the page says
// about itself (data-idle, data-state), never for time.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { type PageServer, startPageServer } from '../../../bindings/js/src/cli/page_server.js';

export const kRoot = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
/** The built page; another build of it can be named. */
export const kSite = process.env.HALFTONE_SITE ?? `${kRoot}/bindings/js/dist/web`;
export const kGraphs = fileURLToPath(new URL('../../golden/graphs', import.meta.url));

export function graph(name: string): string {
  return `${kGraphs}/${name}`;
}

export interface DropFile {
  name: string;
  bytes: Uint8Array | string;
}

export function fileAt(path: string, name = basename(path)): DropFile {
  return { name, bytes: readFileSync(path) };
}

/** Long enough for the longest run on a busy machine; what is waited for usually comes in a second. */
const kPatienceMs = 60_000;

export class Workbench {
  /** Console errors and exceptions of every page; a test that expects none asserts that it is empty. */
  readonly complaints: string[] = [];
  /** Paths on the page's own origin, in the order they were asked for. */
  readonly requests: string[] = [];

  private constructor(
    readonly browser: Browser,
    readonly server: PageServer,
  ) {}

  static async start({ headers = true } = {}): Promise<Workbench> {
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    });
    return new Workbench(browser, await startPageServer({ root: kSite, port: 0, headers }));
  }

  async stop(): Promise<void> {
    await this.browser.close();
    await this.server.close();
  }

  /** A new page in a context of its own, loaded and idle. `prepare` runs before the page's own code. */
  async page(
    options: BrowserContextOptions & {
      hash?: string;
      prepare?: (context: BrowserContext) => Promise<unknown>;
    } = {},
  ): Promise<Page> {
    const { hash = '', prepare, ...rest } = options;
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, ...rest });
    await prepare?.(context);
    const page = await context.newPage();
    page.setDefaultTimeout(kPatienceMs);
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text());
    });
    page.on('request', (request) => {
      const { protocol, pathname } = new URL(request.url());
      if (protocol !== 'blob:') this.requests.push(pathname); // A blob is memory of this tab.
    });
    page.on('pageerror', (error) => this.complaints.push(String(error)));
    await page.goto(`${this.server.address}${hash}`);
    return page;
  }
}

/** Nothing runs and nothing is about to. */
export async function whenIdle(page: Page): Promise<void> {
  await page.waitForSelector('html[data-idle="true"]', { state: 'attached' });
}

export async function whenStep(page: Page, step: string, state: string): Promise<void> {
  await page.waitForSelector(`[data-step="${step}"][data-state="${state}"]`, { state: 'attached' });
}

/** After an option was changed: until its plan is there and shown. The rows are those of the plan before until then. */
export async function whenPlanned(page: Page): Promise<void> {
  await whenStep(page, 'plan', 'done');
  await page.waitForSelector('main [aria-busy="true"]', { state: 'detached' });
  await whenIdle(page);
}

/** Drops files on the middle of the window, as a hand would: enter, over, drop. */
export async function drop(page: Page, files: readonly DropFile[]): Promise<void> {
  const packed = files.map(({ name, bytes }) => ({ name, base64: Buffer.from(bytes).toString('base64') }));
  await page.evaluate((list) => {
    const transfer = new DataTransfer();
    for (const { name, base64 } of list) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      transfer.items.add(new File([bytes], name));
    }
    const target = document.elementFromPoint(innerWidth / 2, innerHeight / 2) ?? document.body;
    for (const type of ['dragenter', 'dragover', 'drop']) {
      target.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }
  }, packed);
}

/** Chooses files in the dialog behind the button named "Open model". */
export async function choose(page: Page, paths: string | string[]): Promise<void> {
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Open model' }).click(),
  ]);
  await chooser.setFiles(paths);
}

/** Opens a bundled sample, which then goes the whole way to its ranking. */
export async function runSample(page: Page, id: 'text-direction' | 'wake-embedding'): Promise<void> {
  await page.click(`[data-sample="${id}"]`);
  await whenStep(page, 'sensitivity', 'done');
  await whenIdle(page);
}

export async function goTo(page: Page, step: string): Promise<void> {
  await page.click(`[data-step="${step}"]`);
  await page.waitForSelector(`[data-step="${step}"][aria-current="step"]`);
}

export type Picture = 'Ranking' | 'Graph' | 'Errors' | 'Ranges' | 'Trade-off';

/** Shows one of the pictures of the Sensitivity step, or its table. */
export async function show(page: Page, picture: Picture, as?: 'Bars' | 'Picture' | 'Table'): Promise<void> {
  await goTo(page, 'sensitivity');
  await page.getByRole('radio', { name: picture, exact: true }).check({ force: true });
  await whenIdle(page);
  if (as !== undefined) await page.getByRole('radio', { name: as, exact: true }).check({ force: true });
}

/** The sentence of the problem that is shown, and the next step after it. */
export async function problemText(page: Page): Promise<string> {
  return (await page.locator('.problem > p').innerText()).trim();
}

/** Opens the ranking as a table and reads it as shown. */
export async function rankingTable(
  page: Page,
): Promise<{ name: string; role: string; score: string; title: string }[]> {
  await show(page, 'Ranking', 'Table');
  return page.locator('.table-box tbody tr[aria-rowindex]').evaluateAll((rows) =>
    rows.map((row) => {
      const cells = Array.from(row.children) as HTMLElement[];
      return {
        name: cells[1]?.title ?? '',
        role: cells[2]?.textContent ?? '',
        score: cells[3]?.textContent ?? '',
        title: cells[3]?.title ?? '',
      };
    }),
  );
}
