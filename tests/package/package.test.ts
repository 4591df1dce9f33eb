// The package as a stranger gets it: packed, installed in an empty folder, used from Node, and typed under both resolutions.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPageServer } from '../../bindings/js/src/cli/page_server.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const graph = join(root, 'tests', 'golden', 'graphs', 'g01_res_identity.onnx');
const TARBALL_LIMIT_BYTES = 3e6;
const LINE_OF_PRINTING = /^[\x20-\x7e]+$/;

let folder: string;
let tarball: string;
let packed: { files: { path: string }[]; size: number };

function node(args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
}

beforeAll(() => {
  for (const file of [
    'index.js',
    'worker.js',
    'halftone.wasm',
    'halftone-formats.wasm',
    'cli.js',
    'types/index.d.ts',
  ]) {
    expect(
      existsSync(join(root, 'bindings', 'js', 'dist', file)),
      `${file} is missing: run npm run build first`,
    ).toBe(true);
  }
  folder = mkdtempSync(join(tmpdir(), 'halftone-package-'));
  const answer = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  });
  packed = JSON.parse(answer)[0];
  tarball = join(folder, (JSON.parse(answer)[0] as { filename: string }).filename);
  install();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As npm does, without the network: the package unpacked, its one dependency from this checkout at the version it asks for. */
function install(): void {
  const home = join(folder, 'node_modules', 'halftone');
  mkdirSync(home, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', home, '--strip-components=1']);
  const { dependencies } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  for (const [name, version] of Object.entries(dependencies)) {
    const own = join(root, 'node_modules', name);
    expect(JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')).version).toBe(version);
    symlinkSync(own, join(folder, 'node_modules', name));
  }
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'stranger', private: true, type: 'module' }),
  );
}

describe('what is in the package', () => {
  it('is the built files, the licence and the notices, and stays small', () => {
    const files = packed.files.map((file) => file.path);
    expect(files).toEqual(
      expect.arrayContaining(['LICENSE', 'NOTICE', 'README.md', 'bindings/js/dist/cli.js']),
    );
    const strange = files.filter(
      (file) =>
        !/^(bindings\/js\/dist\/|(LICENSE|NOTICE|README\.md|CHANGELOG\.md|package\.json)$)/.test(file),
    );
    expect(strange).toEqual([]);
    expect(files.filter((file) => file.includes('dist/web/') || file.endsWith('.onnx'))).toEqual([]);
    expect(packed.size).toBeLessThanOrEqual(TARBALL_LIMIT_BYTES);
  });

  it('asks for nothing at run time but the runtime, and never makes onnxruntime-node a must', () => {
    const manifest = JSON.parse(readFileSync(join(folder, 'node_modules/halftone/package.json'), 'utf8'));
    expect(Object.keys(manifest.dependencies)).toEqual(['onnxruntime-web']);
    expect(manifest.peerDependenciesMeta['onnxruntime-node']).toEqual({ optional: true });
    for (const script of ['preinstall', 'install', 'postinstall'])
      expect(manifest.scripts).not.toHaveProperty(script);
  });
});

describe('used from Node', () => {
  it('a good model: opened, calibrated and quantized', () => {
    const script = `
      import { open, randomSamples } from 'halftone';
      const model = await open({ path: ${JSON.stringify(graph)} });
      const { inputs } = (await model.inspect()).model;
      const plan = await model.plan();
      const encodings = await model.calibrate(plan, randomSamples(inputs, { count: 2, seed: 1 }));
      const { report } = await model.quantize(plan, encodings);
      console.log(JSON.stringify(report.quantized_nodes));
      await model.close();
    `;
    writeFileSync(join(folder, 'good.mjs'), script);
    const { status, stdout, stderr } = node(['good.mjs']);
    expect(stderr).toBe('');
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ Conv: 3 });
  });

  it('a bad model: one HalftoneError with code, sentence and next step', () => {
    const script = `
      import { HalftoneError, open } from 'halftone';
      try { await open(new Uint8Array([1, 2, 3])); } catch (error) {
        console.log(JSON.stringify([error instanceof HalftoneError, error.toJSON()]));
      }
    `;
    writeFileSync(join(folder, 'bad.mjs'), script);
    const { status, stdout } = node(['bad.mjs']);
    expect(status).toBe(0);
    const [known, { error }] = JSON.parse(stdout);
    expect(known).toBe(true);
    expect(error.code).toBe('not_onnx');
    expect(error.message).toMatch(LINE_OF_PRINTING);
    expect(error.next).toMatch(LINE_OF_PRINTING);
  });

  it('the runner "node" without onnxruntime-node says what to install', () => {
    const script = `
      import { createEngine, randomSamples } from 'halftone';
      const engine = createEngine({ runner: 'node', workers: 1 });
      const model = await engine.open({ path: ${JSON.stringify(graph)} });
      const samples = randomSamples((await model.inspect()).model.inputs, { count: 1, seed: 1 });
      try { await model.calibrate(model.plan(), samples); } catch (error) { console.log(error.code, error.next); }
      await engine.close();
    `;
    writeFileSync(join(folder, 'peer.mjs'), script);
    const { stdout } = node(['peer.mjs']);
    expect(stdout).toContain('invalid_state');
    expect(stdout).toContain('npm install --ignore-scripts onnxruntime-node');
  });

  it('the command line: version, a good and a bad model', () => {
    const cli = join(folder, 'node_modules', 'halftone', 'bindings', 'js', 'dist', 'cli.js');
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(statSync(cli).mode & 0o111).not.toBe(0);
    expect(node([cli, '--version']).stdout).toContain(version);
    const good = node([cli, 'inspect', graph, '--json']);
    expect(good.status).toBe(0);
    expect(JSON.parse(good.stdout).nodes).toBe(7);
    writeFileSync(join(folder, 'empty.onnx'), '');
    const bad = node([cli, 'inspect', 'empty.onnx']);
    expect(bad.status).toBe(1);
    expect(bad.stdout).toBe('');
    expect(bad.stderr.trim()).toMatch(/empty/i);
  });
});

describe('used from a page that Vite built', () => {
  it('the bundler copies the worker and the core, and a model opens in Chromium under a strict policy', async () => {
    const app = join(folder, 'app');
    mkdirSync(app);
    writeFileSync(join(app, 'index.html'), '<!doctype html><script type="module" src="./main.js"></script>');
    const main = `
      import { open } from 'halftone';
      window.tryOpen = async (bytes) => {
        try {
          const model = await open(new Uint8Array(bytes));
          const { nodes } = await model.inspect();
          await model.close();
          return nodes;
        } catch (error) { return error.code; }
      };
    `;
    writeFileSync(join(app, 'main.js'), main);
    const vite = spawnSync(process.execPath, [join(root, 'node_modules/vite/bin/vite.js'), 'build', 'app'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(vite.status, vite.stderr).toBe(0);
    const server = await startPageServer({ root: join(app, 'dist'), port: 0 });
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
      ],
    });
    try {
      const page = await browser.newPage();
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      await page.goto(server.address);
      await page.waitForFunction('window.tryOpen');
      const tryOpen = (bytes: number[]) => page.evaluate(`window.tryOpen(${JSON.stringify(bytes)})`);
      expect(await tryOpen([...readFileSync(graph)])).toBe(7);
      expect(await tryOpen([1, 2, 3])).toBe('not_onnx');
      const names = requests.filter((url) => url.startsWith('http')).map((url) => new URL(url).pathname);
      expect(names.filter((name) => name.includes('worker'))).toHaveLength(1);
      expect(names.filter((name) => name.endsWith('.wasm'))).toHaveLength(1);
      expect(requests.filter((url) => url.startsWith('http') && !url.startsWith(server.address))).toEqual([]);
    } finally {
      await browser.close();
      await server.close();
    }
  });
});

describe('types', () => {
  const consumer = `
    import { type Encodings, HalftoneError, type Model, open, type Plan, type SensitivityRow } from 'halftone';
    export async function rows(model: Model, plan: Plan, encodings: Encodings): Promise<SensitivityRow[]> {
      const found: SensitivityRow[] = [];
      const samples = { count: 0, warnings: [], random: false, name: String, load: async () => ({}) };
      for await (const row of model.sensitivity(plan, encodings, samples, { by: 'quantizer' })) found.push(row);
      return found;
    }
    export const opened: Promise<Model> = open(new Blob([]), { name: 'a.onnx' });
    // @ts-expect-error There is no such target.
    export const refused = opened.then((model) => model.plan({ target: 'nowhere' }));
    export const code: 'truncated' | undefined = undefined as HalftoneError['code'] extends string ? undefined : never;
  `;

  it.each([
    ['bundler', 'esnext', 'consumer.ts'],
    ['nodenext', 'nodenext', 'consumer.mts'],
  ])('resolve under %s', (resolution, module, file) => {
    writeFileSync(join(folder, file), consumer);
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const flags = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2023,dom,dom.iterable'];
    const { status, stdout } = node([
      tsc,
      ...flags,
      '--moduleResolution',
      resolution,
      '--module',
      module,
      file,
    ]);
    expect(stdout).toBe('');
    expect(status).toBe(0);
  });

  it('publint has nothing to say', () => {
    const { status, stdout, stderr } = node([
      join(root, 'node_modules', 'publint', 'src', 'cli.js'),
      tarball,
      '--strict',
    ]);
    expect(`${stdout}${stderr}`).not.toMatch(/^(Errors|Warnings):/m);
    expect(status).toBe(0);
  });
});
