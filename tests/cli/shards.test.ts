// Parts of a sweep on the real package: joined, refused, gone on from, and compared; AIMET's file among them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../bindings/js/src/cli/main.js';
import { compare } from '../../bindings/js/src/client/compare.js';
import { createEngine } from '../../bindings/js/src/client/engine.js';
import type { SensitivityResults } from '../../bindings/js/src/types.js';

const GRAPH = 'tests/golden/graphs/g01_res_identity.onnx';
const SAMPLES = [0, 1].map((k) => `tests/golden/graphs/g01_res_identity.s${k}.x.npy`);
let folder: string;

const at = (name: string) => join(folder, name);
const text = (name: string) => readFileSync(at(name), 'utf8');

async function run(...args: string[]): Promise<{ status: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const status = await main(args, {
    terminal: {
      out: (part) => (out += part),
      err: (part) => (err += part),
      errIsTty: false,
      now: () => performance.now(),
    },
    halftone: { version: '0.1.0', createEngine, compare },
    signal: new AbortController().signal,
  });
  return { status, out, err };
}

async function sweep(output: string, ...options: string[]): Promise<void> {
  const { status, err } = await run(
    'sensitivity',
    GRAPH,
    '--samples',
    ...SAMPLES,
    '-o',
    at(output),
    '--force',
    ...options,
  );
  expect([status, err]).toEqual([0, '']);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'halftone-shards-'));
  await sweep('all.json');
  for (const i of [1, 2]) await sweep(`part${i}.json`, '--shard', `${i}/2`);
  await sweep('other.json', '--shard', '2/2', '--metric', 'sqnr');
  writeFileSync(at('text.json'), 'no JSON');
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('shards', () => {
  it('joined in any order are the bytes of one run', async () => {
    const { status, out } = await run('merge', at('part2.json'), at('part1.json'), '--json');
    expect([status, out]).toEqual([0, text('all.json')]);
  });

  it('hold every second row of the sweep', () => {
    const parts = [1, 2].map((i) => JSON.parse(text(`part${i}.json`)) as SensitivityResults);
    for (const [i, { halftone }] of parts.entries())
      expect(halftone.order!.map((order) => order % 2)).toEqual(halftone.order!.map(() => i));
    const names = parts.flatMap(({ ranking }) => ranking.map(({ name }) => name));
    const all = JSON.parse(text('all.json')) as SensitivityResults;
    expect(names.sort()).toEqual(all.ranking.map(({ name }) => name).sort());
  });

  it.each([
    [['part1.json'], /^halftone: Only shard 1 of 2 was given\. Give every shard\.\n$/],
    [['part1.json', 'part1.json'], /part1\.json.*Give each shard once/],
    [['part1.json', 'all.json'], /all\.json/],
    [['part1.json', 'other.json'], /another metric.*other\.json/],
    [['part1.json', 'text.json'], /text\.json/],
  ])('%j are refused in one line that names the file', async (names, message) => {
    const { status, out, err } = await run('merge', ...names.map(at), '-o', at('never.json'));
    expect([status, out]).toEqual([1, '']);
    expect(err).toMatch(/^halftone: [^\n]+\n$/);
    expect(err).toMatch(message);
  });

  it('that are complete, or lack rows, are gone on from to the same bytes', async () => {
    const before = text('part1.json');
    await sweep('part1.json', '--shard', '1/2', '--resume', at('part1.json'));
    expect(text('part1.json')).toBe(before);
    const cut = JSON.parse(before) as SensitivityResults;
    for (const list of [cut.ranking, cut.halftone.interval, cut.halftone.order!]) list.pop();
    cut.halftone.partial = true;
    writeFileSync(at('cut.json'), JSON.stringify(cut));
    await sweep('again.json', '--shard', '1/2', '--resume', at('cut.json'));
    expect(text('again.json')).toBe(before);
    const merged = await run('merge', at('cut.json'), at('part2.json'), '--json');
    expect([merged.status, merged.err.includes('cut.json')]).toEqual([1, true]);
  });

  it('of another sweep are not gone on from', async () => {
    const { status, err } = await run(
      'sensitivity',
      GRAPH,
      '--samples',
      SAMPLES[0]!,
      '--resume',
      at('all.json'),
    );
    expect([status, err]).toEqual([1, expect.stringContaining('are of another encodings')]);
  });
});

describe("AIMET's results", () => {
  beforeAll(() => {
    const all = JSON.parse(text('all.json')) as SensitivityResults;
    const ranking = all.ranking.map(({ rank, name, score }) => ({ rank, name, score }));
    // As Python writes what is no number.
    writeFileSync(
      at('aimet.json'),
      JSON.stringify({ ranking }).replace(/"score":[^,}]+\}\]/, '"score":NaN}]'),
    );
    expect(text('aimet.json')).toContain('NaN');
  });

  it('are compared with ours', async () => {
    const { status, out } = await run('diff', at('aimet.json'), at('all.json'), '--json');
    expect(status).toBe(0);
    const { both, only_before, only_after } = JSON.parse(out);
    expect([only_before, only_after]).toEqual([[], []]);
    const differing = both.filter((row: { difference: number | null }) => row.difference !== 0);
    expect(differing).toMatchObject([{ before: null, difference: null }]);
  });

  it('make a report', async () => {
    const { status, err } = await run('report', at('aimet.json'), '-o', at('aimet.html'));
    expect([status, err]).toEqual([0, '']);
    expect(text('aimet.html')).toContain('lower is worse');
  });

  it('are no shard', async () => {
    const { status, err } = await run('merge', at('aimet.json'), at('part1.json'), '-o', at('never.json'));
    expect([status, err]).toEqual([1, expect.stringMatching(/aimet\.json/)]);
  });
});
