import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type InputInfo, openPaths, readSamples } from '../../bindings/js/src/samples/index.js';
import { bytesOf, float32Npy, named, npyFile } from './make_files.js';

const text = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const X: InputInfo = { name: 'x', type: 'float32', shape: ['batch', 2] };
const MASK: InputInfo = { name: 'mask:0', type: 'bool', shape: ['batch', 1] };
const bool = (value: number) => npyFile('|b1', [1, 1], Uint8Array.of(value));

describe('which sample and which input a file is for', () => {
  it.each([
    ['name.K.npy', ['d/x.0.npy', 'd/mask_0.0.npy', 'd/x.1.npy', 'd/mask_0.1.npy']],
    [
      'sample_K_name.npy',
      ['d/sample_0_x.npy', 'd/sample_0_mask_0.npy', 'd/sample_1_x.npy', 'd/sample_1_mask_0.npy'],
    ],
    ['model.sK.name.npy', ['d/m.s0.x.npy', 'd/m.s0.mask_0.npy', 'd/m.s1.x.npy', 'd/m.s1.mask_0.npy']],
  ])('%s', async (_, names) => {
    const values = [float32Npy([1, 2], [1, 2]), bool(1), float32Npy([1, 2], [3, 4]), bool(0)];
    const files = names.map((name, i) => named(name, values[i]!)).reverse();
    const set = await readSamples(files, [X, MASK]);
    expect(set.count).toBe(2);
    expect(await set.load(1)).toEqual({
      x: { type: 'float32', dims: [1, 2], data: Float32Array.of(3, 4) },
      'mask:0': { type: 'bool', dims: [1, 1], data: Uint8Array.of(0) },
    });
    expect(set.warnings).toEqual([]);
  });

  it('files that are called as inputs hold all samples of their folder', async () => {
    const files = [
      named('d/mask_0.npy', npyFile('|b1', [2, 1], Uint8Array.of(1, 0))),
      named('d/x.npy', float32Npy([2, 2], [1, 2, 3, 4])),
    ];
    const set = await readSamples(files, [X, MASK]);
    expect(set.count).toBe(2);
    expect((await set.load(1)).x?.data).toEqual(Float32Array.of(3, 4));
  });

  it('any array is a sample of an only input, in natural order', async () => {
    const files = ['b10.npy', 'b9.npy'].map((name, i) => named(name, float32Npy([1, 2], [i, i])));
    const set = await readSamples(files, [X]);
    expect([set.name(0), set.name(1)]).toEqual(['b9.npy', 'b10.npy']);
  });

  it('labels beside an input of that name are not samples, and that is said', async () => {
    const set = await readSamples(
      [
        named('d/x.npy', float32Npy([3, 2], [1, 2, 3, 4, 5, 6])),
        named('d/y.npy', float32Npy([3, 2], new Array(6).fill(0))),
      ],
      [X],
    );
    expect(set.count).toBe(3);
    expect(set.warnings.map((warning) => warning.code)).toEqual(['value_ignored', 'several_samples']);
  });

  it('optional inputs may be missing', async () => {
    const set = await readSamples(
      [named('x.0.npy', float32Npy([1, 2], [1, 2]))],
      [X, { ...MASK, optional: true }],
    );
    expect(Object.keys(await set.load(0))).toEqual(['x']);
  });

  it.each([
    [
      'two values for one input',
      ['a/x.0.npy', 'a/sample_0_x.npy'],
      'a/sample 0 has two values for input "x".',
    ],
    [
      'numbers of samples that differ',
      ['a/x.npy', 'a/mask_0.npy'],
      'a has 2 samples for input "x" but 1 for input "mask:0".',
    ],
  ])('refuses %s', async (_, names, message) => {
    const files = names.map((name) =>
      named(name, name.includes('mask') ? bool(1) : float32Npy([2, 2], [1, 2, 3, 4])),
    );
    await expect(readSamples(files, [X, MASK])).rejects.toMatchObject({ code: 'invalid_sample', message });
  });

  it('refuses a set without samples and names what else there was', async () => {
    await expect(readSamples([], [X])).rejects.toMatchObject({ message: 'No sample files were given.' });
    await expect(readSamples([named('a.txt', new Uint8Array(1))], [X])).rejects.toMatchObject({
      message: 'None of the 1 files is a sample.',
    });
    const set = await readSamples(
      [
        named('a.txt', new Uint8Array(1)),
        named('b.txt', new Uint8Array(1)),
        named('x.npy', float32Npy([1, 2], [1, 2])),
      ],
      [X],
    );
    expect(set.warnings).toEqual([
      {
        code: 'file_ignored',
        message: 'a.txt is no sample file and was ignored (and 1 more file like it).',
        where: 'a.txt',
      },
    ]);
  });
});

describe('shapes', () => {
  const fits = async (shape: InputInfo['shape'], dims: number[]) => {
    const count = dims.reduce((product, dim) => product * dim, 1);
    const set = await readSamples(
      [named('a.npy', float32Npy(dims, new Array(count).fill(1)))],
      [{ name: 'x', type: 'float32', shape }],
    );
    return [set.count, (await set.load(0)).x?.dims];
  };

  it.each([
    [[1, 3], [5, 3], 5, [1, 3]],
    [[2, 3], [6, 3], 3, [2, 3]],
    [['N', 3], [4, 3], 4, [1, 3]],
    [[null, 3], [4, 3], 4, [1, 3]],
    [['unk__314', 76], [2, 76], 2, [1, 76]],
    [['p2o.DynamicDimension.0', 3], [2, 3], 2, [1, 3]],
    [['sequence', 3], [4, 3], 1, [4, 3]],
    [[1, 'length'], [1, 9], 1, [1, 9]],
    [[1, 3], [3], 1, [1, 3]],
    [['batch', 3], [3], 1, [1, 3]],
    [null, [4, 5], 1, [4, 5]],
    [[], [], 1, []],
  ])('%j takes %j as %i of %j', async (shape, dims, count, each) => {
    expect(await fits(shape as InputInfo['shape'], dims)).toEqual([count, each]);
  });

  it.each([
    [
      [1, 3, 48, 192],
      [1, 3, 32, 192],
      'Input "x" needs float32 [1,3,48,192], but a.npy holds float32 [1,3,32,192].',
    ],
    [[2, 3], [3, 3], 'Input "x" needs float32 [2,3], but a.npy holds float32 [3,3].'],
    [['batch', 3], [1, 1, 3], 'Input "x" needs float32 [batch,3], but a.npy holds float32 [1,1,3].'],
    [[null, 4], [4, 3], 'Input "x" needs float32 [?,4], but a.npy holds float32 [4,3].'],
  ])('%j refuses %j', async (shape, dims, message) => {
    await expect(fits(shape as InputInfo['shape'], dims)).rejects.toMatchObject({
      code: 'invalid_sample',
      message,
      where: 'a.npy',
    });
  });
});

describe('.json', () => {
  const load = async (value: unknown, inputs: InputInfo[]) => {
    const set = await readSamples([named('a.json', text(value))], inputs);
    return Promise.all(Array.from({ length: set.count }, (_, i) => set.load(i)));
  };

  it('an object is a sample, a list of objects are many, bare arrays are an only input', async () => {
    const ids: InputInfo = { name: 'ids', type: 'int64', shape: [1, 'length'] };
    expect(await load({ x: [[1, 2.5]], ids: [[7]] }, [X, ids])).toEqual([
      {
        x: { type: 'float32', dims: [1, 2], data: Float32Array.of(1, 2.5) },
        ids: { type: 'int64', dims: [1, 1], data: BigInt64Array.of(7n) },
      },
    ]);
    expect((await load([{ x: [[1, 2]] }, { x: [[3, 4]] }], [X]))[1]?.x?.data).toEqual(Float32Array.of(3, 4));
    expect(
      (
        await load(
          [
            [1, 2],
            [3, 4],
            [5, 6],
          ],
          [X],
        )
      )[2]?.x?.data,
    ).toEqual(Float32Array.of(5, 6));
    expect((await load([[true]], [MASK]))[0]?.['mask:0']?.data).toEqual(Uint8Array.of(1));
  });

  it.each([
    [{ x: [[1, 2], [3]] }, 'a.json has rows of different lengths under "x".'],
    [{ x: [[1, null]] }, 'a.json has null where a number should be under "x".'],
    [{ x: [['1', '2']] }, 'a.json has a string where a number should be under "x".'],
    [{ x: [[1, 2, 3]] }, 'Input "x" needs float32 [batch,2], but a.json, key "x" holds numbers [1,3].'],
  ])('refuses %j', async (value, message) => {
    await expect(load(value, [X])).rejects.toMatchObject({ code: 'invalid_sample', message });
  });

  it('refuses text that is no JSON, and nesting without end', async () => {
    await expect(
      readSamples([named('a.json', new TextEncoder().encode('{"x": [1,'))], [X]),
    ).rejects.toMatchObject({
      message: expect.stringContaining('a.json is not JSON: '),
    });
    const deep = `${'['.repeat(5000)}1${']'.repeat(5000)}`;
    await expect(readSamples([named('a.json', new TextEncoder().encode(deep))], [X])).rejects.toMatchObject({
      message: 'a.json nests more than 64 arrays.',
    });
  });

  it('refuses fractions for integers', async () => {
    await expect(
      load({ ids: [[1.5]] }, [{ name: 'ids', type: 'int64', shape: [1, 1] }]),
    ).rejects.toMatchObject({
      message: 'a.json, key "ids" holds 1.5, which input "ids" of type int64 can\'t take.',
    });
  });
});

describe('paths', () => {
  it('walks folders, keeps names, and reads from disk', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'halftone-samples-'));
    try {
      mkdirSync(join(folder, 'set'));
      writeFileSync(join(folder, 'set', 'x.1.npy'), float32Npy([1, 2], [5, 6]));
      writeFileSync(join(folder, 'set', 'x.0.npy'), float32Npy([1, 2], [3, 4]));
      writeFileSync(join(folder, '.hidden.npy'), bytesOf(Uint8Array.of(1)));
      const files = openPaths([folder]);
      expect(files.map((file) => file.name.slice(folder.length))).toEqual(['/set/x.0.npy', '/set/x.1.npy']);
      const set = await readSamples(files, [X]);
      expect((await set.load(1)).x?.data).toEqual(Float32Array.of(5, 6));
      rmSync(join(folder, 'set', 'x.1.npy'));
      await expect(set.load(1)).rejects.toMatchObject({
        code: 'invalid_sample',
        where: `${folder}/set/x.1.npy`,
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('says when a path is not there', () => {
    expect(() => openPaths(['/nowhere/x.npy'])).toThrow('There is no file or folder /nowhere/x.npy.');
  });
});
