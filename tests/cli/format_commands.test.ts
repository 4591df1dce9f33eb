// halftone encode, decode and formats on the real package: files in, files out.
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../bindings/js/src/cli/main.js';
import { compare } from '../../bindings/js/src/client/compare.js';
import { createEngine } from '../../bindings/js/src/client/engine.js';
import { npyHeader } from '../../bindings/js/src/index.js';

const GRAPH = 'tests/golden/graphs/g01_res_identity.onnx';
let folder: string;
const file = (name: string) => join(folder, name);
const sha = (name: string) =>
  createHash('sha256')
    .update(readFileSync(file(name)))
    .digest('hex');

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halftone-formats-'));
  save('gallery.npy', [-8, -3.3, 0.2, 7, -16, -1.2, 8.5, 14]);
  save('seven.npy', [-40, -1, -0.6, 0, 0.6, 1, 40]);
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function save(name: string, values: number[], dims = [values.length]): void {
  const data = Float32Array.from(values);
  writeFileSync(file(name), Buffer.concat([npyHeader('float32', dims), new Uint8Array(data.buffer)]));
}

async function run(args: string[], signal = new AbortController().signal) {
  let [out, err] = ['', ''];
  const terminal = {
    out: (text: string) => (out += text),
    err: (text: string) => (err += text),
    errIsTty: false,
    now: () => performance.now(),
  };
  const status = await main(args, {
    terminal,
    halftone: { version: '0.1.0', createEngine, compare },
    signal,
  });
  return { status, out, err };
}

function elements(name: string): Float32Array {
  const bytes = readFileSync(file(name));
  const start = 10 + bytes.readUInt16LE(8);
  return new Float32Array(Uint8Array.from(bytes.subarray(start)).buffer);
}

describe('encode and decode', () => {
  it('INT8 with an explicit scale is onnx-light’s bytes, and comes back', async () => {
    const args = ['encode', file('seven.npy'), '--format', 'int8', '--block', '7', '--name', 'Q'];
    const { status, out } = await run([
      ...args,
      '--scales',
      '0.25',
      '--zero-points=-3',
      '-o',
      file('seven.pb'),
      '--json',
    ]);
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ format: 'int8', block: 7, bytes: 456, dims: [7] });
    expect(sha('seven.pb')).toBe('3d6c75c49878354cfbfedd6647545208cdc474b933ee5680a67caa576539e609');
    expect((await run(['decode', file('seven.pb'), '-o', file('back.npy')])).status).toBe(0);
    expect([...elements('back.npy')]).toEqual([-31.25, -1, -0.5, 0, 0.5, 1, 32.5]);
    expect(readFileSync(file('back.npy')).toString('latin1')).toContain("'shape': (7,)");
  });

  it('NF4 with automatic scales', async () => {
    const args = ['encode', file('gallery.npy'), '--format', 'nf4', '--block', '4', '--name', 'Q'];
    expect((await run([...args, '-o', file('nf4.pb')])).status).toBe(0);
    expect(sha('nf4.pb')).toBe('ca77193f2d9ba50ec916f6bdfe2dee479e87892e918d7687524e2c08db9a82af');
    const decoded = await run(['decode', file('nf4.pb'), '--type', 'double', '-o', file('nf4.npy')]);
    expect(decoded.out).toContain('array     double [8]');
    expect(readFileSync(file('nf4.npy')).toString('latin1')).toContain("'<f8'");
  });

  it('two dimensions stay two', async () => {
    save('matrix.npy', [1, 2, 3, 4, 5, 6], [2, 3]);
    await run(['encode', file('matrix.npy'), '--format', 'tiled_float', '-o', file('matrix.pb')]);
    await run(['decode', file('matrix.pb'), '-o', file('same.npy')]);
    expect(readFileSync(file('same.npy'))).toEqual(readFileSync(file('matrix.npy')));
  });

  it.each([
    ['an unknown format', ['--format', 'nf5'], 'There is no number format "nf5"'],
    ['wrong scales', ['--format', 'nf4', '--scales', '1,2'], 'must be scalar or one per block'],
    ['a scale of 0', ['--format', 'int8', '--scales', '0'], 'positive'],
  ])('%s is refused, and no file is left', async (_, options, message) => {
    const { status, err } = await run(['encode', file('gallery.npy'), ...options, '-o', file('no.pb')]);
    expect([status, existsSync(file('no.pb'))]).toEqual([1, false]);
    expect(err).toContain(message);
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it.each([
    ['gguf_q4_0', 32, ['codes'], 144],
    ['ocp_mxfp4', 32, ['codes', 'scales'], 136],
    ['modelopt_nvfp4', 16, ['codes', 'scales'], 144],
    ['bnb_nf4', 64, ['codes', 'scales'], 144],
    ['onnx_int4', 128, ['codes', 'scales'], 136],
    ['onnx_uint8', 128, ['codes', 'scales', 'zero_points'], 266],
  ])('%s keeps its parts in files beside its facts, and comes back', async (format, block, parts, bytes) => {
    save(
      'wave.npy',
      Array.from({ length: 256 }, (_, i) => Math.sin(i) * (1 + i / 64)),
      [8, 32],
    );
    const facts = file(`${format}.json`);
    const written = await run(['encode', file('wave.npy'), '--format', format, '-o', facts, '--json']);
    expect([written.status, written.err]).toEqual([0, '']);
    const told = JSON.parse(readFileSync(facts, 'utf8'));
    expect(told).toMatchObject({ format, block, type: 'float32', dims: [8, 32] });
    const sizes = parts.map((part) => readFileSync(file(`${format}.${part}.bin`)).length);
    expect(told.parts).toEqual(
      parts.map((name, i) => ({ name, file: `${format}.${name}.bin`, bytes: sizes[i] })),
    );
    expect(readdirSync(folder).filter((name) => name.startsWith(`${format}.`)).length).toBe(1 + parts.length);
    expect(JSON.parse(written.out).bytes - (told.tensor_scale === null ? 0 : 4)).toBe(
      sizes.reduce((sum, size) => sum + size, 0),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(bytes);

    const back = await run(['decode', facts, '-o', file('wave_back.npy'), '--force']);
    expect([back.status, back.err]).toEqual([0, '']);
    const engine = createEngine({ workers: 1 });
    const tensor = await engine.encodeTensor({ npy: { path: file('wave.npy') } }, { format });
    const values = await engine.decodeParts(tensor);
    await engine.close();
    expect(elements('wave_back.npy')).toEqual(values);
    const original = elements('wave.npy');
    // Half of the coarsest step: between 4 and 6 of float4e2m1, at scale 1.
    expect(Math.max(...values.map((v, i) => Math.abs(v - original[i]!)))).toBeLessThanOrEqual(1);
    expect(readFileSync(file('wave_back.npy')).toString('latin1')).toContain("'shape': (8, 32)");
  });

  it('parts that don’t belong together, or lie elsewhere, are refused', async () => {
    save(
      'wave.npy',
      Array.from({ length: 64 }, (_, i) => i),
    );
    const facts = file('parts.json');
    const encode = ['encode', file('wave.npy'), '--format', 'ocp_mxfp8_e4m3', '-o'];
    expect((await run([...encode, facts])).status).toBe(0);
    expect((await run([...encode, facts])).err).toContain('exists already');
    expect((await run([...encode, file('parts.pb')])).err).toContain('ends in .json');
    expect((await run([...encode, facts, '--force', '--scales', '1'])).err).toContain('profiles');
    const told = JSON.parse(readFileSync(facts, 'utf8'));
    const decodeChanged = async (change: object) => {
      writeFileSync(file('changed.json'), JSON.stringify({ ...told, ...change }));
      const { status, err } = await run(['decode', file('changed.json'), '-o', file('never.npy')]);
      expect([status, existsSync(file('never.npy'))]).toEqual([1, false]);
      return err;
    };
    const [codes, scales] = told.parts;
    expect(await decodeChanged({ parts: [{ ...codes, file: '../wave.npy' }, scales] })).toContain(
      'not in its folder',
    );
    expect(await decodeChanged({ parts: [{ ...codes, file: 'gone.bin' }, scales] })).toContain("Can't read");
    expect(await decodeChanged({ parts: [{ ...codes, bytes: 63 }, scales] })).toContain('where it says 63');
    expect(await decodeChanged({ parts: [codes] })).toContain('64 elements of ocp_mxfp8_e4m3 take');
    expect(await decodeChanged({ dims: [65] })).toContain('65 elements');
    expect(await decodeChanged({ dims: [2 ** 40, 2 ** 40] })).toContain('beyond reason');
    expect(await decodeChanged({ dims: [-1] })).toContain("doesn't describe");
    expect(await decodeChanged({ format: 'nf5' })).toContain('no number format');
    expect(await decodeChanged({ block: 7 })).toContain('blocks of 32');
    expect(await decodeChanged({ parts: null })).toContain("doesn't describe");
    expect(await decodeChanged({ parts: [codes, codes, scales] })).toContain('a part twice');
    expect(await decodeChanged({ block: 2 ** 32 + 32 })).toContain("doesn't describe");
    expect(await decodeChanged({ dims: Array(65).fill(1) })).toContain("doesn't describe");
    // A petabyte, which is not to be asked for.
    expect(await decodeChanged({ dims: [2 ** 40, 2 ** 8] })).toContain('its parts have 66 bytes');
    const over = await run(['decode', facts, '-o', file('parts.codes.bin'), '--force']);
    expect([over.status, over.err]).toEqual([1, expect.stringContaining('which is never overwritten')]);
    expect((await run(['decode', facts, '-o', file('parts_back.npy')])).status).toBe(0);
  });

  it('NVFP4 isn’t read without the scale of its tensor', async () => {
    const facts = file('scale.json');
    await run(['encode', file('gallery.npy'), '--format', 'modelopt_nvfp4', '-o', facts]);
    writeFileSync(facts, JSON.stringify({ ...JSON.parse(readFileSync(facts, 'utf8')), tensor_scale: null }));
    const { status, err } = await run(['decode', facts, '-o', file('never.npy')]);
    expect([status, err]).toEqual([1, expect.stringContaining('has a tensor_scale')]);
  });

  it('a name that is too long is refused, and no file is left', async () => {
    const output = file(`${'n'.repeat(245)}.json`);
    const { status, err } = await run(['encode', file('gallery.npy'), '--format', 'bnb_nf4', '-o', output]);
    expect([status, err]).toEqual([1, expect.stringContaining('the name is too long')]);
    expect(readdirSync(folder).filter((name) => name.includes('nnn'))).toEqual([]);
  });

  it('a device is no output, even with --force', async () => {
    const encode = ['encode', file('gallery.npy'), '--format', 'nf4', '--force', '-o'];
    const { status, err } = await run([...encode, '/dev/null']);
    expect([status, err]).toEqual([1, expect.stringContaining('a device or a pipe')]);
  });

  it('an array without values has facts and no parts', async () => {
    save('none.npy', [], [0, 3]);
    expect(
      (await run(['encode', file('none.npy'), '--format', 'bnb_fp4', '-o', file('none.json')])).status,
    ).toBe(0);
    expect(readdirSync(folder).filter((name) => name.startsWith('none.'))).toEqual(['none.json', 'none.npy']);
    expect((await run(['decode', file('none.json'), '-o', file('none_back.npy')])).status).toBe(0);
    expect(readFileSync(file('none_back.npy'))).toEqual(readFileSync(file('none.npy')));
  });

  it('wrong files are refused', async () => {
    writeFileSync(file('text.npy'), 'no array');
    const text = await run(['encode', file('text.npy'), '--format', 'nf4', '-o', file('x.pb')]);
    expect([text.status, text.err]).toEqual([1, expect.stringContaining('is not a .npy file')]);
    writeFileSync(file('text.pb'), 'no value');
    const value = await run(['decode', file('text.pb'), '-o', file('x.npy')]);
    expect([value.status, value.err]).toEqual([1, expect.stringContaining('is no encoded value')]);
    const input = await run(['encode', file('gallery.npy'), '--format', 'nf4', '-o', file('gallery.npy')]);
    expect([input.status, input.err]).toEqual([1, expect.stringContaining('never overwritten')]);
    save('nan.npy', [1, Number.NaN]);
    const nan = await run(['encode', file('nan.npy'), '--format', 'nf4', '-o', file('x.pb')]);
    expect([nan.status, nan.err]).toEqual([1, expect.stringContaining('element 1')]);
  });

  it('Ctrl-C ends with 130 and leaves no file', async () => {
    const { status } = await run(
      ['encode', file('gallery.npy'), '--format', 'nf4', '-o', file('stopped.pb')],
      AbortSignal.abort(),
    );
    expect([status, existsSync(file('stopped.pb'))]).toEqual([130, false]);
  });
});

describe('models', () => {
  it('are encoded, decoded, and written in standard operators', async () => {
    const tensors = ['--tensors', 'glob:*'];
    const encoded = await run([
      'encode',
      GRAPH,
      '--format',
      'int8',
      '--block',
      '16',
      ...tensors,
      '-o',
      file('e.onnx'),
      '--json',
    ]);
    expect([encoded.status, encoded.err]).toEqual([0, '']);
    const report = JSON.parse(encoded.out);
    expect(report.encoded.length).toBeGreaterThan(1);
    expect(report.output).toBe(file('e.onnx'));
    const decoded = await run(['decode', file('e.onnx'), '-o', file('d.onnx'), '--json']);
    const names = (rows: { tensor: string }[]) => rows.map(({ tensor }) => tensor).sort();
    expect(names(JSON.parse(decoded.out).decoded)).toEqual(names(report.encoded));
    const standard = await run([
      'decode',
      file('e.onnx'),
      '--standard',
      '--round-scales',
      '-o',
      file('s.onnx'),
    ]);
    expect([standard.status, standard.err]).toEqual([0, '']);
    expect(standard.out).toMatch(/^weights {3}\d+ in standard operators/m);
    const plain = await run(['inspect', file('d.onnx'), '--json']);
    const before = await run(['inspect', GRAPH, '--json']);
    expect(JSON.parse(plain.out).parameters.count).toBe(JSON.parse(before.out).parameters.count);
  });

  it('refuse what is for arrays', async () => {
    const named = await run(['encode', GRAPH, '--format', 'int8', '--name', 'w', '-o', file('n.onnx')]);
    expect([named.status, named.err]).toEqual([2, expect.stringContaining('are for a .npy array')]);
    const layout = await run(['encode', GRAPH, '--format', 'gguf_q4_0', '-o', file('n.onnx')]);
    expect([layout.status, layout.err]).toEqual([
      1,
      expect.stringContaining('which is no profile of onnx-light'),
    ]);
  });
});

describe('formats', () => {
  it('lists all, as a table and as JSON', async () => {
    const { status, out } = await run(['formats']);
    expect(status).toBe(0);
    expect(out).toMatch(/^nf4 +onnx-light profile +4 +64 +23\.000 +onnx-light/m);
    expect(out).toMatch(/^gguf_q4_0 +block layout +4\.5 +32 +4\.500 +ggml/m);
    const json = JSON.parse((await run(['formats', '--json'])).out);
    expect(json.formats).toHaveLength(75);
  });

  it('compares on an array', async () => {
    save(
      'wave.npy',
      Array.from({ length: 256 }, (_, i) => Math.sin(i)),
    );
    const csv = file('wave.csv');
    const { status, out } = await run([
      'formats',
      file('wave.npy'),
      '--format',
      'int8',
      '--format',
      'bnb_nf4',
      '--block',
      '64',
      '--csv',
      csv,
    ]);
    expect(status).toBe(0);
    expect(out).toMatch(/^bnb_nf4 +64 +4\.500 /m);
    expect(out).toMatch(/^int8 +64 +11\.000 .*loses least$/m);
    const lines = readFileSync(csv, 'utf8').trimEnd().split('\r\n');
    expect(lines[0]).toMatch(/^tensor,values,format,block,bytes,bits_per_weight/);
    expect(lines[1]).toMatch(/wave\.npy,256,int8,64,352,11,/);
    const within = await run([
      'formats',
      file('wave.npy'),
      '--format',
      'int8',
      '--format',
      'bnb_nf4',
      '--bits',
      '5',
      '--json',
    ]);
    expect(JSON.parse(within.out).tensors[0].winner).toEqual({ format: 'bnb_nf4', block: 64 });
  });

  it('compares on a model’s weights', async () => {
    const { status, out } = await run(['formats', GRAPH, '--tensors', 'glob:*', '--bits', '9', '--json']);
    expect(status).toBe(0);
    const { tensors, bits_per_weight } = JSON.parse(out);
    expect(bits_per_weight).toBe(9);
    expect(tensors.length).toBeGreaterThan(1);
    for (const { winner, count } of tensors) if (count >= 256) expect(winner).not.toBeNull();
    const unknown = await run(['formats', GRAPH, '--tensors', 'nothing_like_it']);
    expect([unknown.status, unknown.err]).toEqual([
      1,
      expect.stringContaining('No float32 weight is called'),
    ]);
  });
});
