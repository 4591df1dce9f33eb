// halftone flip and halftone pareto, on the real package.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../bindings/js/src/cli/main.js';
import { compare } from '../../bindings/js/src/client/compare.js';
import { createEngine } from '../../bindings/js/src/client/engine.js';
import type { Engine } from '../../bindings/js/src/client/engine_types.js';
import type { Encodings, Model, Plan, Site } from '../../bindings/js/src/types.js';

const GRAPH = 'tests/golden/graphs/g05_bottleneck_identity.onnx';
const SAMPLES = [0, 1].map((k) => `tests/golden/graphs/g05_bottleneck_identity.s${k}.x.npy`);
let folder: string;

const at = (name: string) => join(folder, name);
const read = <T>(name: string): T => JSON.parse(readFileSync(at(name), 'utf8')) as T;

interface Ended {
  status: number;
  out: string;
  err: string;
}

async function run(args: string[], make = createEngine, stop = new AbortController()): Promise<Ended> {
  let [out, err] = ['', ''];
  const status = await main(args, {
    terminal: {
      out: (part) => (out += part),
      err: (part) => (err += part),
      errIsTty: false,
      now: () => performance.now(),
    },
    halftone: { version: '0.1.0', createEngine: make, compare },
    signal: stop.signal,
  });
  return { status, out, err };
}

/** The same object with other methods. */
function changed<T extends object>(object: T, methods: Partial<T>): T {
  return new Proxy(object, {
    get(target, name) {
      const value = Reflect.get(Object.hasOwn(methods, name) ? methods : target, name) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Engines in whose searches somebody presses Ctrl-C when this many models were measured. */
function stoppingAfter(count: number, stop: AbortController): typeof createEngine {
  return (options) => {
    const engine = createEngine(options);
    const open: Engine['open'] = async (source, opening) => {
      const model = await engine.open(source, opening);
      let measured = 0;
      const pareto: Model['pareto'] = (plan, encodings, results, samples, search) =>
        model.pareto(plan, encodings, results, samples, {
          ...search,
          onPoint: (point) => {
            search.onPoint?.(point);
            if (++measured === count) stop.abort();
          },
        });
      return changed(model, { pareto });
    };
    return changed(engine, { open });
  };
}

const flip = (...options: string[]) => run(['flip', GRAPH, '--samples', ...SAMPLES, ...options]);
const pareto = (...options: string[]) => run(['pareto', GRAPH, '--samples', ...SAMPLES, ...options]);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'halftone-mixed-'));
  const { status } = await run(['sensitivity', GRAPH, '--samples', ...SAMPLES, '-o', at('ranking.json')]);
  expect(status).toBe(0);
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('flip', () => {
  it('writes a plan and its encodings, which quantize takes', async () => {
    const { status, out } = await flip(
      '--results',
      at('ranking.json'),
      '--worst',
      '2',
      '--to',
      'int16',
      '-o',
      at('two.json'),
    );
    expect(status).toBe(0);
    expect(out).toMatch(/^2 quantizers flipped\n/);
    expect(out).toMatch(/predicted score \d+\.\d\d dB/);
    const plan = read<Plan>('two.json');
    const wide = plan.sites.filter((site: Site) => site.format === 'int16').map((site) => site.tensor);
    const { ranking } = read<{ ranking: { name: string }[] }>('ranking.json');
    expect(wide.sort()).toEqual(
      ranking
        .slice(0, 2)
        .map(({ name }) => name)
        .sort(),
    );
    const { encodings } = read<Encodings>('two.encodings.json');
    for (const tensor of wide) expect(encodings[tensor]!.format).toBe('int16');
    const written = await run([
      'quantize',
      GRAPH,
      '--plan',
      at('two.json'),
      '--encodings',
      at('two.encodings.json'),
      '-o',
      at('two.onnx'),
      '--json',
    ]);
    expect(written.status).toBe(0);
    expect(JSON.parse(written.out).sizes_by_type.int16).toBeGreaterThan(0);
  });

  it('prints what it did as JSON: rows by share, by score, by name, and each role its own precision', async () => {
    const { ranking } = read<{ ranking: { name: string; score: number }[] }>('ranking.json');
    const flipped = async (...options: string[]): Promise<string[]> => {
      const { status, out } = await flip(
        '--results',
        at('ranking.json'),
        ...options,
        '--json',
        '--force',
        '-o',
        at('some.json'),
      );
      expect(status).toBe(0);
      return JSON.parse(out).flipped.sort();
    };
    const names = (count: number) =>
      ranking
        .slice(0, count)
        .map(({ name }) => name)
        .sort();
    expect(await flipped('--percent', '25', '--to', 'float32')).toEqual(names(Math.ceil(ranking.length / 4)));
    expect(await flipped('--threshold', String(ranking[3]!.score), '--to', 'int16')).toEqual(names(3));
    expect(await flipped('--row', ranking[4]!.name, '--to', 'int16')).toEqual([ranking[4]!.name]);
    await flipped('--worst', '99', '--to', 'int16', '--to-activations', 'uint16');
    const formats = new Set(read<Plan>('some.json').sites.map((site: Site) => `${site.role} ${site.format}`));
    expect([...formats].sort()).toEqual(['activation uint16', 'bias int32', 'weight int16']);
  });

  it('refuses a command line that says too little or too much, and rankings that are of something else', async () => {
    const refused = async (...options: string[]): Promise<[number, string]> => {
      const { status, err } = await flip('-o', at('never.json'), ...options);
      return [status, err];
    };
    const results = ['--results', at('ranking.json')];
    expect(await refused('--worst', '1', '--to', 'int16')).toEqual([2, expect.stringMatching(/--results/)]);
    expect(await refused(...results, '--to', 'int16')).toEqual([2, expect.stringMatching(/which rows/)]);
    expect(await refused(...results, '--worst', '1')).toEqual([2, expect.stringMatching(/No precision/)]);
    expect(await refused(...results, '--worst', '1', '--percent', '3', '--to', 'int16')).toEqual([
      2,
      expect.stringMatching(/more than one/),
    ]);
    expect(await refused(...results, '--worst', '1', '--to', 'int5')).toEqual([
      2,
      expect.stringMatching(/int5/),
    ]);
    expect(await refused(...results, '--row', 'gone', '--to', 'int16')).toEqual([
      1,
      expect.stringMatching(/"gone"/),
    ]);
    const other = read<{ halftone: { model_sha256: string } }>('ranking.json');
    other.halftone.model_sha256 = '0'.repeat(64);
    writeFileSync(at('other.json'), JSON.stringify(other));
    expect(await refused('--results', at('other.json'), '--worst', '1', '--to', 'int16')).toEqual([
      1,
      expect.stringMatching(/another model/),
    ]);
    expect(existsSync(at('never.json'))).toBe(false);
    writeFileSync(at('here.encodings.json'), '');
    const there = await flip(...results, '--worst', '1', '--to', 'int16', '-o', at('here.json'));
    expect([there.status, there.err]).toEqual([1, expect.stringMatching(/exists already/)]);
  });
});

interface Index {
  points: {
    score: number;
    front: boolean;
    flipped: string[];
    plan: string | null;
    encodings: string | null;
  }[];
}

describe('pareto', () => {
  const budget = ['--to', 'int16', '--max-bytes', '1.3', '--max-bit-ops', '1.6'];

  it('writes every model that no other beats, ready to be written, and ranks first if nobody did', async () => {
    const known = await pareto(
      ...budget,
      '--results',
      at('ranking.json'),
      '-o',
      at('known'),
      '--report',
      at('report.html'),
    );
    expect(known.status).toBe(0);
    const fresh = await pareto(...budget, '-o', at('fresh'), '--json');
    expect(fresh.out).toBe(readFileSync(join(at('known'), 'pareto.json'), 'utf8'));
    expect(readFileSync(at('report.html'), 'utf8')).toContain('<html');

    const { points } = read<Index>('known/pareto.json');
    const front = points.filter((point) => point.front);
    expect(front.length).toBeGreaterThan(3);
    expect(readdirSync(at('known')).length).toBe(1 + 2 * front.length);
    expect(points.filter(({ plan }) => plan !== null).length).toBe(front.length);
    const best = front.reduce((a, b) => (b.score > a.score ? b : a));
    expect(best.plan).toMatch(/^0*1\.plan\.json$/);
    const written = await run([
      'quantize',
      GRAPH,
      '--plan',
      join(at('known'), best.plan!),
      '--encodings',
      join(at('known'), best.encodings!),
      '--samples',
      ...SAMPLES,
      '-o',
      at('best.onnx'),
      '--json',
    ]);
    expect(JSON.parse(written.out).score.simulated).toBe(best.score);
    expect(known.out.split('\n')[2]).toContain(`${best.score.toFixed(2)} dB`);
  });

  it('keeps what was measured when it is interrupted', async () => {
    const args = [...budget, '--results', at('ranking.json'), '-o', at('part')];
    const stop = new AbortController();
    const { status, err } = await run(
      ['pareto', GRAPH, '--samples', ...SAMPLES, ...args],
      stoppingAfter(4, stop),
      stop,
    );
    expect(status).toBe(130);
    const { points } = read<Index>('part/pareto.json');
    expect(points.length).toBeGreaterThanOrEqual(4);
    expect(err).toBe(
      `halftone: Stopped: ${points.length} models were measured, and are saved in ${at('part')}.\n`,
    );
    expect(points.some(({ front }) => front)).toBe(true);
    const none = new AbortController();
    none.abort();
    const early = await run(
      ['pareto', GRAPH, '--samples', ...SAMPLES, ...budget, '-o', at('none')],
      createEngine,
      none,
    );
    expect(early.status).toBe(130);
    expect(existsSync(at('none'))).toBe(false);
  });

  it('refuses budgets below what there is, and a folder that has results', async () => {
    const low = await pareto('--to', 'int16', '--max-bytes', '0.9', '-o', at('low'));
    expect([low.status, low.err]).toEqual([2, expect.stringMatching(/from 1/)]);
    const again = await pareto(...budget, '-o', at('known'));
    expect([again.status, again.err]).toEqual([1, expect.stringMatching(/exists already/)]);
  });
});
