// The command line on the real package: files in, files out.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as ort from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../bindings/js/src/cli/main.js';
import { compare } from '../../bindings/js/src/client/compare.js';
import { createEngine } from '../../bindings/js/src/client/engine.js';
import { openPaths, readSamples } from '../../bindings/js/src/samples/index.js';

const GRAPH = 'tests/golden/graphs/g01_res_identity.onnx';
const SAMPLES = [0, 1, 2, 3].map((k) => `tests/golden/graphs/g01_res_identity.s${k}.x.npy`);
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halftone-real-'));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

interface Ended {
  status: number;
  out: string;
  err: string;
}

/** `onError` sees every text on the error stream, which is taken for a terminal if it is given. */
async function run(
  args: string[],
  interrupt = new AbortController(),
  onError?: (text: string) => void,
): Promise<Ended> {
  let [out, err] = ['', ''];
  const status = await main(args, {
    terminal: {
      out: (text) => (out += text),
      err: (text) => {
        err += text;
        onError?.(text);
      },
      errIsTty: onError !== undefined,
      now: () => performance.now(),
    },
    halftone: { version: '0.1.0', createEngine, compare },
    signal: interrupt.signal,
  });
  return { status, out, err };
}

describe('on a small graph', () => {
  it('inspect tells the file’s own facts', async () => {
    const { status, out } = await run(['inspect', GRAPH, '--json']);
    expect(status).toBe(0);
    const bytes = readFileSync(GRAPH);
    const { model, operators } = JSON.parse(out);
    expect([model.bytes, model.sha256]).toEqual([
      bytes.length,
      createHash('sha256').update(bytes).digest('hex'),
    ]);
    expect(model.inputs.map((input: { name: string }) => input.name)).toEqual(['x']);
    expect(operators.Conv).toBeGreaterThan(0);
  });

  it('plan gives every site a reason, and reads its own file back unchanged', async () => {
    const path = join(folder, 'plan.json');
    const first = await run(['plan', GRAPH, '--json', '-o', path]);
    const plan = JSON.parse(first.out);
    expect(plan.sites.length).toBeGreaterThan(2);
    for (const site of plan.sites) expect(site.why).not.toBe('');
    expect((await run(['plan', GRAPH, '--json', '--plan', path])).out).toBe(readFileSync(path, 'utf8'));
  });

  it('quantize writes a model that onnxruntime runs close to the float one; bytes do not depend on workers', async () => {
    const paths = ['1', '2'].map((workers) => join(folder, `workers${workers}.onnx`));
    for (const [i, path] of paths.entries()) {
      const { status, out } = await run([
        'quantize',
        GRAPH,
        '--samples',
        ...SAMPLES,
        '--workers',
        String(i + 1),
        '-o',
        path,
        '--json',
      ]);
      expect(status).toBe(0);
      const report = JSON.parse(out);
      expect([report.output, report.bytes]).toEqual([path, statSync(path).size]);
      expect(report.score.simulated).toBeGreaterThan(20);
    }
    expect(readFileSync(paths[0]!).equals(readFileSync(paths[1]!))).toBe(true);
    const set = await readSamples(
      openPaths(SAMPLES),
      JSON.parse((await run(['inspect', GRAPH, '--json'])).out).model.inputs,
    );
    const sessions = await Promise.all([GRAPH, paths[0]!].map((path) => ort.InferenceSession.create(path)));
    const { x } = await set.load(0);
    const feeds = { x: new ort.Tensor('float32', x!.data as Float32Array, x!.dims) };
    const [float, quantized] = await Promise.all(
      sessions.map(async (session) => Object.values(await session.run(feeds))[0]!.data as Float32Array),
    );
    const peak = Math.max(...float!.map(Math.abs));
    expect(Math.max(...float!.map((value, i) => Math.abs(value - quantized![i]!)))).toBeLessThan(0.1 * peak);
  });

  it('sensitivity has a row for each quantized activation and weight, worst first, the same in file and print', async () => {
    const path = join(folder, 'sensitivity.json');
    const { status, out } = await run(['sensitivity', GRAPH, '--samples', ...SAMPLES, '--json', '-o', path]);
    expect(status).toBe(0);
    expect(out).toBe(readFileSync(path, 'utf8'));
    const { ranking } = JSON.parse(out) as { ranking: { name: string; score: number }[] };
    const plan = JSON.parse((await run(['plan', GRAPH, '--json'])).out);
    const sites = plan.sites.filter(
      (site: { quantized: boolean; role: string }) => site.quantized && site.role !== 'bias',
    );
    expect(ranking.map((row) => row.name).sort()).toEqual(
      sites.map((site: { tensor: string }) => site.tensor).sort(),
    );
    const scores = ranking.map((row) => row.score);
    expect(scores).toEqual([...scores].sort((a, b) => a - b));
  });

  it('compare of a model with itself finds no difference', async () => {
    const { out } = await run(['compare', GRAPH, GRAPH, '--samples', ...SAMPLES, '--json']);
    for (const output of JSON.parse(out).outputs) expect(output.max_abs_error).toBe(0);
  });

  it('a stopped sensitivity run saves its rows', async () => {
    const interrupt = new AbortController();
    const path = join(folder, 'partial.json');
    const stop = (text: string) => {
      if (/Scoring quantizers .* [1-9]\d* %/.test(text)) interrupt.abort();
    };
    const { status, err } = await run(
      ['sensitivity', GRAPH, '--samples', ...SAMPLES, '--workers', '1', '-o', path],
      interrupt,
      stop,
    );
    expect(status).toBe(130);
    if (existsSync(path)) {
      const saved = JSON.parse(readFileSync(path, 'utf8'));
      expect(err).toContain(`${saved.ranking.length} of `);
      expect(saved.halftone.warnings[0].code).toBe('partial');
      expect(saved.ranking.length).toBeGreaterThan(0);
    } else {
      expect(err).toContain('Stopped before the first row.');
    }
  });
});

describe('models that are no models', () => {
  const graph = readFileSync(GRAPH);
  it.each([
    ['an empty file', new Uint8Array(0)],
    ['text', new TextEncoder().encode('<html>not a model</html>')],
    ['zeros', new Uint8Array(4096)],
    ['a model that ends early', graph.subarray(0, graph.length / 2)],
    ['a wild length', Uint8Array.of(0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3)],
  ])('%s gives one sentence and status 1', async (_, bytes) => {
    const path = join(folder, 'bad.onnx');
    writeFileSync(path, bytes);
    const { status, out, err } = await run(['inspect', path]);
    expect([status, out]).toEqual([1, '']);
    expect(err).toMatch(/^halftone: [^\n]+\.\n$/);
    expect(err).not.toContain('fault of Halftone');
  });

  it('a file that is not there', async () => {
    const { status, err } = await run(['inspect', join(folder, 'nothing.onnx')]);
    expect([status, err]).toEqual([1, expect.stringContaining('there is no such file')]);
  });
});

describe('the demonstration', () => {
  it('goes the whole way on the bundled model and writes its files', async () => {
    const { status, out, err } = await run(['demo', '--no-serve']);
    expect([status, err]).toEqual([0, '']);
    expect(out).toContain('ch_ppocr_mobile_v2.0_cls_infer.onnx');
    expect(out).toMatch(/The 10 most sensitive of \d+ quantizers/);
    expect(out).toMatch(/PSNR {6}\d+\.\d\d dB simulated, \d+\.\d\d dB as the runtime runs it by default/);
    expect(out.match(/line_\d\.png +(upright|upside down) \d/g)).toHaveLength(8);
    expect(out).toMatch(/\d of 8 predictions agree/);
    for (const file of [
      'ch_ppocr_mobile_v2.0_cls_infer.qdq.onnx',
      'plan.json',
      'encodings.json',
      'sensitivity.json',
      'report.html',
    ]) {
      expect(out).toMatch(new RegExp(`out/${file.replaceAll('.', '\\.')} +\\d`));
      expect(statSync(join('out', file)).size).toBeGreaterThan(1000);
    }
    const ranking = JSON.parse(readFileSync('out/sensitivity.json', 'utf8')).ranking as { score: number }[];
    expect(new Set(ranking.map((row) => row.score)).size).toBeGreaterThan((ranking.length * 2) / 3);
  });
});
