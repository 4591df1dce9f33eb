import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HalftoneError } from '../../bindings/js/src/shared/errors.js';
import { float32Npy } from '../samples/make_files.js';
import { run, SHA, SUMMARY } from './fake_package.js';

const home = process.cwd();
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halftone-cli-'));
  process.chdir(folder);
  writeFileSync('net.onnx', 'a model');
  writeFileSync('x.npy', float32Npy([3, 2], [1, 2, 3, 4, 5, 6]));
});

afterEach(() => {
  process.chdir(home);
  rmSync(folder, { recursive: true });
});

/** No command may leave a terminal in another state than it found it. */
function expectPlainText(text: string): void {
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
}

describe('the command line itself', () => {
  it('says its version and its commands', async () => {
    expect(await run(['--version'])).toMatchObject({ status: 0, out: '0.1.0\n', err: '' });
    const help = await run(['--help']);
    expect(help.status).toBe(0);
    for (const command of ['inspect', 'plan', 'quantize', 'sensitivity', 'merge', 'diff', 'report', 'serve'])
      expect(help.out).toContain(`\n  ${command}`);
    expect((await run(['quantize', '--help'])).out).toContain('--random-data <n>');
  });

  it('without a command shows the help on the error stream', async () => {
    expect(await run([])).toMatchObject({
      status: 2,
      out: '',
      err: expect.stringContaining('Usage: halftone'),
    });
  });

  it.each([
    [
      ['inspec', 'net.onnx'],
      "halftone: Unknown command 'inspec'. Did you mean inspect? See halftone --help.\n",
    ],
    [['inspect'], "halftone: Missing required argument 'model'. See halftone --help.\n"],
    [['inspect', 'net.onnx', '--wat'], "halftone: Unknown option '--wat'. See halftone --help.\n"],
    [
      ['inspect', 'a', 'b'],
      "halftone: Too many arguments for 'inspect'. Expected 1 argument but got 2. See halftone --help.\n",
    ],
    [
      ['encode', 'x.npy'],
      "halftone: Required option '--format <name>' not specified. See halftone --help.\n",
    ],
    [
      ['formats', '--bits', '4'],
      'halftone: --tensors, --bits and --csv are for comparing. Give a .npy array or a model to compare formats on.\n',
    ],
    [
      ['plan', 'net.onnx', '--target', 'weight-only'],
      'halftone: --target weight-only is not in this version. Use onnxruntime, tensorrt or aimet.\n',
    ],
    [
      ['plan', 'net.onnx', '--target', 'toaster'],
      "halftone: --target can't be toaster. Use onnxruntime, tensorrt or aimet.\n",
    ],
    [
      ['quantize', 'net.onnx', '--method', 'entropy'],
      'halftone: --method entropy is not in this version. Use minmax.\n',
    ],
    [
      ['quantize', 'net.onnx', '--samples', 'x.npy', '--random-data', '2'],
      'halftone: --samples and --random-data exclude each other. See halftone --help.\n',
    ],
    [
      ['quantize', 'net.onnx', '--workers', '0', '--samples', 'x.npy'],
      "halftone: Option '--workers <n>' argument '0' is invalid. It must be a whole number from 1 to 256. See halftone --help.\n",
    ],
    [
      ['quantize', 'net.onnx', '--samples', 'x.npy', '--image-size', '9'],
      "halftone: Option '--image-size <HxW>' argument '9' is invalid. It must be HEIGHTxWIDTH, for example 224x224. See halftone --help.\n",
    ],
    [
      ['plan', 'net.onnx', '--plan', 'p.json', '--exclude', 'op:Gemm'],
      'halftone: --plan excludes --exclude. Edit the plan instead.\n',
    ],
  ])('%j is a wrong use: status 2 and one line', async (args, err) => {
    expect(await run(args)).toMatchObject({ status: 2, out: '', err });
  });

  it.each(['quantize', 'sensitivity'])('%s without samples names both ways to give some', async (command) => {
    const { status, err, fake } = await run([command, 'net.onnx']);
    expect(status).toBe(2);
    expect(err).toBe(
      'halftone: No samples were given. Give files or folders with --samples, or --random-data N for made-up data, which says nothing about real data.\n',
    );
    expect(fake.calls).toEqual([]);
  });

  it('gives errors as JSON with --json', async () => {
    const usage = await run(['plan', 'net.onnx', '--json', '--target', 'weight-only']);
    expect(JSON.parse(usage.err)).toEqual({
      error: {
        code: 'usage',
        message: '--target weight-only is not in this version.',
        where: '',
        next: 'Use onnxruntime, tensorrt or aimet.',
      },
    });
    const openError = new HalftoneError('truncated', 'The file ends inside a tensor.', {
      where: 'byte 12',
      next: 'Get it again.',
    });
    const bad = await run(['inspect', 'net.onnx', '--json'], { openError });
    expect([bad.status, bad.out, JSON.parse(bad.err)]).toEqual([
      1,
      '',
      {
        error: {
          code: 'truncated',
          message: 'The file ends inside a tensor.',
          where: 'byte 12',
          next: 'Get it again.',
        },
      },
    ]);
  });

  it('gives bad input as one line without control characters, status 1, and ends the engine', async () => {
    const openError = new HalftoneError('invalid_graph', 'Node "a\u001b]0;evil\u0007\nb" is bad.', {
      where: 'node \u009b31m7',
      next: 'Mend it.',
    });
    const { status, err, fake } = await run(['inspect', 'net.onnx'], { openError });
    expect([status, err]).toEqual([1, 'halftone: Node "a]0;evilb" is bad (node 31m7). Mend it.\n']);
    expect(fake.closed).toBe(true);
  });
});

describe('inspect and plan', () => {
  it('prints a summary, and exactly the file with --json', async () => {
    const text = await run(['inspect', 'net.onnx']);
    expect(text.status).toBe(0);
    expect(text.out).toContain('net.onnx: 1.23 MB, opset 13, IR 8, by tests\n');
    expect(text.out).toContain('input     x float32[N, 2]\n');
    expect(text.out).toContain('target    onnxruntime: 3 sites, 2 quantized\n');
    expect(text.err).toBe('warning: Something about the model.\n');
    const json = await run(['inspect', 'net.onnx', '--json', '-o', 'deep/er/net.json']);
    expect(JSON.parse(json.out)).toEqual(SUMMARY);
    expect(readFileSync('deep/er/net.json', 'utf8')).toBe(json.out);
    expect(json.err).toBe('');
  });

  it('prints sites with reasons, cleaned of control characters', async () => {
    const { out, fake } = await run([
      'plan',
      'net.onnx',
      '--exclude',
      'op:Gemm',
      '--exclude',
      'glob:a*',
      '--weights',
      'int4',
      '--workers',
      '3',
    ]);
    expect(out).toContain('Target onnxruntime: 2 of 3 sites quantized: 1 activation, 1 weight\n');
    expect(out).toContain('int8 per channel axis 0');
    expect(out).toContain('w[31m<b>');
    expectPlainText(out);
    expect(fake.calls).toEqual([
      'engine {"workers":3}',
      'plan {"target":"onnxruntime","weights":"int4","exclude":["op:Gemm","glob:a*"]}',
    ]);
  });

  it('says what each pattern takes, and how many node inputs each rule decided', async () => {
    const { out } = await run(['plan', 'net.onnx', '--exclude', 'op:Gemm', '--include', 'nothing']);
    expect(out).toMatch(/^include nothing takes nothing\nexclude op:Gemm takes 5 nodes: a, b, c, d, …\n/);
    expect(out).toMatch(/partition_head +1 +0\n/);
    expect(out).toMatch(/inside_partition +0 +1\n/);
    expectPlainText(out);
  });

  it('lists every node input with --inputs, and only what has the --filter in it', async () => {
    const all = await run(['plan', 'net.onnx', '--inputs']);
    expect(all.out).toMatch(/conv +Conv +0 +x +quantized +cask:conv +partition_head +It starts a group\.\n/);
    expect(all.out).toMatch(/Relu +0 +y +float +inside_partition +It is fused\.\n/);
    expectPlainText(all.out);
    const some = await run(['plan', 'net.onnx', '--inputs', '--filter', 'STARTS']);
    expect(some.out).toContain('It starts a group.');
    expect(some.out).not.toContain('It is fused.');
  });

  it('hands on what target tensorrt can be told', async () => {
    const options = ['--match', 'modelopt', '--raw-excluded', '--float-weights', '--direct-io'];
    const { fake, status } = await run([
      'plan',
      'net.onnx',
      '--target',
      'tensorrt',
      ...options,
      '--no-concat-groups',
      '--weights',
      'float8e4m3fn',
      '--dla',
    ]);
    expect(status).toBe(0);
    expect(fake.calls).toContain(
      'plan {"target":"tensorrt","match":"modelopt","weights":"float8e4m3fn","dla":true,"rawExcluded":true,"floatWeights":true,"directIo":true,"concatGroups":false}',
    );
  });

  it('reads a plan back, and refuses one of another model or no plan at all', async () => {
    await run(['plan', 'net.onnx', '-o', 'plan.json']);
    const again = await run(['plan', 'net.onnx', '--plan', 'plan.json', '--json']);
    expect(again.fake.calls).toContain('checkPlan');
    expect(again.out).toBe(readFileSync('plan.json', 'utf8'));
    writeFileSync('other.json', readFileSync('plan.json', 'utf8').replace(SHA, 'cd'.repeat(32)));
    expect((await run(['plan', 'net.onnx', '--plan', 'other.json'])).err).toBe(
      'halftone: other.json was made for another model than net.onnx. Make it again for this model.\n',
    );
    expect((await run(['plan', 'net.onnx', '--plan', 'plan.json', '--target', 'onnxruntime'])).status).toBe(
      0,
    );
    expect(await run(['plan', 'net.onnx', '--plan', 'plan.json', '--target', 'tensorrt'])).toMatchObject({
      status: 2,
      err: 'halftone: plan.json is a plan for target onnxruntime, not tensorrt. Leave out --target, or make a plan for tensorrt.\n',
    });
    writeFileSync('broken.json', '[1, 2');
    const broken = await run(['plan', 'net.onnx', '--plan', 'broken.json']);
    expect([broken.status, broken.err]).toEqual([
      1,
      expect.stringMatching(/^halftone: broken\.json is not JSON: .*\n$/),
    ]);
  });
});

describe('what is written where', () => {
  it('quantize writes NAME.qdq.onnx here by default, and prints the report', async () => {
    const { status, out, fake } = await run(['quantize', 'net.onnx', '--samples', 'x.npy']);
    expect(status).toBe(0);
    expect(readFileSync('net.qdq.onnx', 'utf8')).toBe('the quantized model');
    expect(out).toContain('size      float 1.23 MB, quantized 400 kB (3.09 times smaller)\n');
    expect(out).toContain('PSNR      31.50 dB simulated, 30.25 dB as the runtime runs it by default\n');
    expect(out).toContain('written   net.qdq.onnx\n');
    expect(fake.samples?.count).toBe(3);
    expect(fake.calls).toContain('quantize random=false');
    expect(readdirSync('.').sort()).toEqual(['net.onnx', 'net.qdq.onnx', 'x.npy']);
  });

  it('an output that exists needs --force', async () => {
    writeFileSync('net.qdq.onnx', 'older');
    const refused = await run(['quantize', 'net.onnx', '--samples', 'x.npy']);
    expect([refused.status, refused.err]).toEqual([
      1,
      'halftone: The output net.qdq.onnx exists already. Give another name after -o, or --force to replace it.\n',
    ]);
    expect(refused.fake.calls).toEqual([]);
    expect(readFileSync('net.qdq.onnx', 'utf8')).toBe('older');
    expect((await run(['quantize', 'net.onnx', '--samples', 'x.npy', '--force'])).status).toBe(0);
    expect(readFileSync('net.qdq.onnx', 'utf8')).toBe('the quantized model');
  });

  it('the input is never overwritten, under whatever name', async () => {
    linkSync('net.onnx', 'hard.onnx');
    symlinkSync('net.onnx', 'soft.onnx');
    mkdirSync('sub');
    for (const output of ['net.onnx', './sub/../net.onnx', 'hard.onnx', 'soft.onnx']) {
      const { status, err } = await run([
        'quantize',
        'net.onnx',
        '--samples',
        'x.npy',
        '--force',
        '-o',
        output,
      ]);
      expect([status, err]).toEqual([
        1,
        `halftone: The output ${output} is the input net.onnx, which is never overwritten. Give another name after -o.\n`,
      ]);
    }
    expect(readFileSync('net.onnx', 'utf8')).toBe('a model');
  });

  it('a folder, and a path through a file, are refused', async () => {
    mkdirSync('folder');
    expect((await run(['inspect', 'net.onnx', '-o', 'folder', '--force'])).err).toBe(
      'halftone: The output folder is a folder. Give the name of a file after -o.\n',
    );
    const through = await run(['inspect', 'net.onnx', '-o', 'net.onnx/a.json']);
    expect([through.status, through.err]).toEqual([
      1,
      "halftone: net.onnx/a.json can't be written: a part of its path is not a folder. Give another place after -o.\n",
    ]);
  });

  it('random data warns', async () => {
    const { err, fake, status } = await run([
      'quantize',
      'net.onnx',
      '--random-data',
      '4',
      '--seed',
      '7',
      '-o',
      'r.onnx',
    ]);
    expect(status).toBe(0);
    expect(err).toContain(
      'warning: The 4 samples are random numbers (seed 7), so ranges and scores say nothing about real data.\n',
    );
    expect(fake.calls).toContain('quantize random=true');
  });
});

describe('sensitivity', () => {
  it('prints the ranking with bars, and exactly the file with --json', async () => {
    const { out } = await run(['sensitivity', 'net.onnx', '--samples', 'x.npy']);
    expect(out).toBe(
      [
        'PSNR of z over 3 samples, one quantizer at a time, worst first',
        'rank      PSNR  loss              role        quantizer',
        '   1  40.13 dB  ████████████████  weight      w[31m<b>',
        '   2  60.00 dB  ██████████▊       activation  x',
        '',
      ].join('\n'),
    );
    const json = await run([
      'sensitivity',
      'net.onnx',
      '--samples',
      'x.npy',
      '--score',
      'output',
      '--json',
      '-o',
      's.json',
    ]);
    expect(json.out).toBe(readFileSync('s.json', 'utf8'));
    expect(JSON.parse(json.out).ranking[0]).toEqual({ rank: 1, name: 'w\u001b[31m<b>', score: 40.125 });
    expectPlainText(json.out);
    expect(json.fake.calls).toContain('sensitivity {"by":"quantizer","metric":"psnr","score":["output"]}');
  });

  it('keeps what is complete when it is stopped, says where, and ends with 130', async () => {
    const { status, err } = await run(['sensitivity', 'net.onnx', '--samples', 'x.npy', '-o', 's.json'], {
      stopAfter: 1,
    });
    expect([status, err]).toEqual([
      130,
      'halftone: Stopped: 1 of 2 rows are saved in s.json. Go on with --resume s.json.\n',
    ]);
    const saved = JSON.parse(readFileSync('s.json', 'utf8'));
    expect(saved.ranking).toHaveLength(1);
    expect(saved.halftone.warnings[0]).toEqual({
      code: 'partial',
      message: 'The run was stopped: 1 of 2 rows are ranked.',
      where: '',
    });
    const named = await run(['sensitivity', 'net.onnx', '--samples', 'x.npy'], { stopAfter: 1 });
    expect(named.err).toContain('net.sensitivity.partial.json');
    expect(existsSync('net.sensitivity.partial.json')).toBe(true);
    const none = await run(['sensitivity', 'net.onnx', '--samples', 'x.npy'], { stopAfter: 0 });
    expect([none.status, none.err]).toEqual([130, 'halftone: Stopped before the first row.\n']);
  });
});

describe('compare and progress', () => {
  it('prints outputs side by side', async () => {
    const { out } = await run(['compare', 'net.onnx', 'net.onnx', '--samples', 'x.npy']);
    expect(out).toContain('z       20.00 dB   n/a       0.500000  0.999000\n');
  });

  it('draws progress on a terminal only, and not with --quiet', async () => {
    const args = ['quantize', 'net.onnx', '--samples', 'x.npy', '--force'];
    const warning = 'warning: x.npy holds 3 samples along its first dimension.\n';
    expect((await run(args)).err).toBe(warning);
    expect((await run([...args, '--quiet'], { tty: true })).err).toBe(warning);
    const { err } = await run(args, { tty: true });
    expect(err).toContain('\r\x1b[KCalibrating ██████████           50 %');
    expect(err.endsWith(`\r\x1b[K${warning}`)).toBe(true);
  });

  it('says which sample does not fit', async () => {
    writeFileSync('x.npy', float32Npy([1, 5], [1, 2, 3, 4, 5]));
    const { status, err } = await run(['quantize', 'net.onnx', '--samples', 'x.npy']);
    expect([status, err]).toEqual([
      1,
      'halftone: Input "x" needs float32 [N,2], but x.npy holds float32 [1,5]. Give arrays of that shape; a first dimension of N times the batch makes N samples.\n',
    ]);
  });
});
