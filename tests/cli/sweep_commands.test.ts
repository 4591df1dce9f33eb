// What the command line makes of sweeps and their results: options, refusals, files. The package is a fake.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HalftoneError } from '../../bindings/js/src/shared/errors.js';
import { float32Npy } from '../samples/make_files.js';
import { run } from './fake_package.js';

const home = process.cwd();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halftone-sweep-'));
  process.chdir(folder);
  writeFileSync('net.onnx', 'a model');
  writeFileSync('x.npy', float32Npy([1, 2], [1, 2]));
});

afterEach(() => {
  process.chdir(home);
  rmSync(folder, { recursive: true });
});

const SWEEP = ['sensitivity', 'net.onnx', '--samples', 'x.npy'];

async function asked(...options: string[]): Promise<unknown> {
  const { fake, err, status } = await run([...SWEEP, ...options]);
  expect([status, err]).toEqual([0, '']);
  const call = fake.calls.find((text) => text.startsWith('sensitivity '));
  return JSON.parse(call!.slice('sensitivity '.length));
}

describe('sensitivity', () => {
  it('hands every option on', async () => {
    expect(await asked()).toEqual({ by: 'quantizer', metric: 'psnr' });
    expect(
      await asked(
        '--by',
        'layer',
        '--sweep',
        'disable',
        '--only',
        'weights',
        '--metric',
        'topk-psnr',
        '--k',
        '5',
      ),
    ).toEqual({ by: 'layer', metric: 'topk-psnr', k: 5, sweep: 'disable', only: 'weights' });
    expect(await asked('--score', 'a', '--score', 'output:1', '--top', '10', '--confidence', '0.9')).toEqual({
      by: 'quantizer',
      metric: 'psnr',
      score: ['a', 'output:1'],
      top: 10,
      confidence: 0.9,
    });
    expect(await asked('--by', 're:^(block\\d)', '--shard', '2/8')).toEqual({
      by: 're:^(block\\d)',
      metric: 'psnr',
      shard: { index: 2, count: 8 },
    });
    expect(await asked('--shard', '1/1')).toEqual({ by: 'quantizer', metric: 'psnr' });
  });

  it.each([
    [['--shard', '0/4'], "--shard can't be 0/4. Write i/n: part i of n, i from 1, for example 2/8."],
    [['--shard', '5/4'], "--shard can't be 5/4. Write i/n: part i of n, i from 1, for example 2/8."],
    [['--shard', '1'], "--shard can't be 1. Write i/n: part i of n, i from 1, for example 2/8."],
    [['--metric', 'ssim'], "--metric can't be ssim. Use psnr, topk-psnr, sqnr, cosine, mse, kl or top1."],
    [
      ['--by', 'node'],
      "--by can't be node. Use quantizer, operator, layer, op_name, or re: and a regular expression.",
    ],
    [
      ['--by', 're:'],
      "--by can't be re:. Use quantizer, operator, layer, op_name, or re: and a regular expression.",
    ],
    [['--k', '5'], '--k has no meaning for psnr. Use it with --metric topk-psnr.'],
    [['--confidence', '0.9'], '--confidence is of --top. Give both, or neither.'],
    [
      ['--top', '3', '--shard', '1/2'],
      "--top and --shard exclude each other: a part doesn't know the others' rows. Give one of them.",
    ],
    [['--top', '3', '--sweep', 'disable'], '--top excludes --sweep disable. Leave one of them out.'],
    [['-o', 'a', '--csv', 'a'], 'Two outputs have the same name. Give each its own.'],
  ])('%j is a wrong use: status 2 and one line, before anything runs', async (options, sentence) => {
    const { status, out, err, fake } = await run([...SWEEP, ...options]);
    expect([status, out, err]).toEqual([2, '', `halftone: ${sentence}\n`]);
    expect(fake.calls).toEqual([]);
  });

  it('writes results, CSV and a report, and goes on from results', async () => {
    const first = await run([...SWEEP, '-o', 's.json', '--csv', 's.csv', '--report', 'deep/r.html']);
    expect([first.status, first.err]).toEqual([0, '']);
    const csv = readFileSync('s.csv', 'utf8').split('\r\n');
    expect(csv[0]).toBe('rank,name,score,low,high,samples,detail');
    expect(csv[2]).toBe('2,x,60,58,62,1,');
    const html = readFileSync('deep/r.html', 'utf8');
    for (const heading of ['Sensitivity', 'Graph', 'Error, tensor by tensor', 'Ranges', 'Plan'])
      expect(html).toContain(`>${heading}</h2>`);
    const results = JSON.parse(readFileSync('s.json', 'utf8'));
    const again = await run([...SWEEP, '--resume', 's.json', '-o', 's.json', '--force']);
    expect([again.status, again.err]).toEqual([0, '']);
    expect(again.fake.calls.at(-1)).toContain(JSON.stringify({ resume: results }).slice(1, -1));
  });

  it('refuses results that are none, by the name of their file, and an output that exists', async () => {
    writeFileSync('bad.json', '{}');
    expect((await run([...SWEEP, '--resume', 'bad.json'])).err).toBe(
      'halftone: There is no ranking (bad.json). Write it again.\n',
    );
    expect((await run([...SWEEP, '--resume', 'none.json'])).err).toBe(
      "halftone: none.json can't be read. Check the name.\n",
    );
    expect(await run([...SWEEP, '--csv', 'bad.json'])).toMatchObject({
      status: 1,
      err: 'halftone: The output bad.json exists already. Give another name after -o, or --force to replace it.\n',
    });
  });
});

describe('saved results', () => {
  beforeEach(async () => {
    await run([...SWEEP, '-o', 'a.json']);
  });

  it('merge writes what the package joins, and the same with --json', async () => {
    writeFileSync('b.json', readFileSync('a.json'));
    const { status, out, fake } = await run([
      'merge',
      'a.json',
      'b.json',
      '-o',
      'all.json',
      '--json',
      '--report',
      'r.html',
    ]);
    expect([status, fake.calls]).toEqual([0, ['engine {}', 'merge 2']]);
    expect(out).toBe(readFileSync('all.json', 'utf8'));
    expect(readFileSync('r.html', 'utf8')).toContain('40.13 dB');
  });

  it('merge wants somewhere to write, and names the file of a refusal', async () => {
    expect(await run(['merge', 'a.json', 'a.json'])).toMatchObject({
      status: 2,
      err: 'halftone: There is nowhere to write the merged results. Name a file with -o, or use --json.\n',
    });
    writeFileSync('b.json', readFileSync('a.json'));
    const mergeError = new HalftoneError('invalid_policy', 'File 2 is of another plan than file 1.', {
      where: 'file 2',
      next: 'Merge shards of one sweep only.',
    });
    expect(await run(['merge', 'a.json', 'b.json', '-o', 'c.json'], { mergeError })).toMatchObject({
      status: 1,
      err: 'halftone: File 2 is of another plan than file 1 (b.json). Merge shards of one sweep only.\n',
    });
    expect((await run(['merge', 'a.json', 'b.json', '-o', 'a.json', '--force'])).err).toContain(
      'never overwritten',
    );
  });

  it('diff shows the largest changes first, cleaned of control characters', async () => {
    const other = JSON.parse(readFileSync('a.json', 'utf8'));
    other.ranking[1].score = 50;
    writeFileSync('b.json', JSON.stringify(other));
    const { status, out } = await run(['diff', 'a.json', 'b.json']);
    expect(status).toBe(0);
    expect(out).toContain('2 rows in both: 1 with another score, 0 with another rank\n');
    expect(out).toMatch(/60\.00 dB +50\.00 dB +-10\.00 dB +2 to 2 +x\n.*40\.13 dB/);
    expect(out).toContain('Only in the first (1): old\n');
  });

  it('report shows them with plan and encodings, and refuses what is neither', async () => {
    await run(['plan', 'net.onnx', '-o', 'plan.json']);
    const done = await run(['report', 'a.json', '-o', 'r.html', '--plan', 'plan.json']);
    expect([done.status, done.err]).toEqual([0, '']);
    expect(readFileSync('r.html', 'utf8')).toContain('<summary>3 sites</summary>');
    writeFileSync('wrong.json', JSON.stringify({ sites: [7] }));
    expect((await run(['report', 'a.json', '-o', 's.html', '--plan', 'wrong.json'])).err).toBe(
      'halftone: wrong.json is not what its option asks for. Write it again with halftone.\n',
    );
    expect((await run(['report', 'a.json'])).status).toBe(2);
  });
});
