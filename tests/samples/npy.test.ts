import { describe, expect, it } from 'vitest';
import { readSamples } from '../../bindings/js/src/samples/index.js';
import type { ValueInfo } from '../../bindings/js/src/types.js';
import { bytesOf, float32Npy, named, npyFile } from './make_files.js';

const input = (type: string, shape: ValueInfo['shape']): ValueInfo[] => [{ name: 'x', type, shape }];

async function only(file: Uint8Array, type: string, shape: ValueInfo['shape']) {
  const set = await readSamples([named('x.npy', file)], input(type, shape));
  return { set, tensor: (await set.load(0)).x! };
}

describe('.npy', () => {
  it.each([1, 2, 3])('reads format version %i', async (version) => {
    const { tensor } = await only(
      npyFile('<f4', [2], bytesOf(Float32Array.of(1.5, -2)), { version }),
      'float32',
      [2],
    );
    expect(tensor).toEqual({ type: 'float32', dims: [2], data: Float32Array.of(1.5, -2) });
  });

  it.each([
    ['<i8', 'int64', BigInt64Array.of(-5n, 2n ** 62n)],
    ['<u8', 'uint64', BigUint64Array.of(0n, 2n ** 64n - 1n)],
    ['<i4', 'int32', Int32Array.of(-1, 2147483647)],
    ['<u4', 'uint32', Uint32Array.of(1, 4294967295)],
    ['<i2', 'int16', Int16Array.of(-32768, 7)],
    ['<u2', 'uint16', Uint16Array.of(65535, 1)],
    ['|i1', 'int8', Int8Array.of(-128, 127)],
    ['|u1', 'uint8', Uint8Array.of(0, 255)],
    ['|b1', 'bool', Uint8Array.of(1, 0)],
    ['<f8', 'double', Float64Array.of(0.1, -1e300)],
    ['<f2', 'float16', Uint16Array.of(0x3c00, 0xfbff)],
  ])('takes %s as it is for an input of %s', async (descr, type, values) => {
    const { set, tensor } = await only(npyFile(descr, [2], bytesOf(values)), type, [2]);
    expect(tensor.data).toEqual(values);
    expect(set.warnings).toEqual([]);
  });

  it('swaps big-endian elements', async () => {
    const bytes = Uint8Array.of(0x3f, 0x80, 0, 0, 0xc0, 0x20, 0, 0);
    expect((await only(npyFile('>f4', [2], bytes), 'float32', [2])).tensor.data).toEqual(
      Float32Array.of(1, -2.5),
    );
    const wide = Uint8Array.of(0, 0, 0, 0, 0, 0, 1, 2);
    expect((await only(npyFile('>i8', [1], wide), 'int64', [1])).tensor.data).toEqual(BigInt64Array.of(258n));
  });

  it('turns Fortran order into rows, also for one sample of several', async () => {
    // Stored column by column: the array is [[0,1,2],[3,4,5]] twice, the second plus 10.
    const stored = [0, 10, 3, 13, 1, 11, 4, 14, 2, 12, 5, 15];
    const file = npyFile('<f4', [2, 2, 3], bytesOf(Float32Array.from(stored)), { fortran: true });
    const set = await readSamples([named('x.npy', file)], input('float32', [1, 2, 3]));
    expect(set.count).toBe(2);
    expect((await set.load(0)).x?.data).toEqual(Float32Array.of(0, 1, 2, 3, 4, 5));
    expect((await set.load(1)).x?.data).toEqual(Float32Array.of(10, 11, 12, 13, 14, 15));
  });

  it('converts double and float16 to float32 and says so', async () => {
    const { set, tensor } = await only(npyFile('<f8', [2], bytesOf(Float64Array.of(0.1, 3))), 'float32', [2]);
    expect(tensor.data).toEqual(Float32Array.of(Math.fround(0.1), 3));
    expect(set.warnings).toEqual([
      {
        code: 'type_converted',
        message: 'x.npy holds double for input "x" and was converted to float32, rounded to the nearest.',
        where: 'x.npy',
      },
    ]);
    const halves = Uint16Array.of(0x3c00, 0x8000, 0x0001, 0x7bff, 0xfc00);
    const half = await only(npyFile('<f2', [5], bytesOf(halves)), 'float32', [5]);
    expect(half.tensor.data).toEqual(Float32Array.of(1, -0, 2 ** -24, 65504, Number.NEGATIVE_INFINITY));
  });

  it('converts integers only where every value fits', async () => {
    const { tensor } = await only(npyFile('<i8', [2], bytesOf(BigInt64Array.of(-3n, 9n))), 'int32', [2]);
    expect(tensor.data).toEqual(Int32Array.of(-3, 9));
    await expect(
      only(npyFile('<i8', [1], bytesOf(BigInt64Array.of(2n ** 31n))), 'int32', [1]),
    ).rejects.toMatchObject({
      code: 'invalid_sample',
      message: 'x.npy holds 2147483648, which input "x" of type int32 can\'t take.',
    });
    await expect(only(npyFile('<i4', [1], bytesOf(Int32Array.of(1))), 'float32', [1])).rejects.toMatchObject({
      message: 'Input "x" needs float32 [1], but x.npy holds int32 [1].',
      where: 'x.npy',
      next: 'Save the values as float32.',
    });
  });

  it('reads one sample of many without reading the others', async () => {
    const bytes = float32Npy(
      [1000, 4],
      Array.from({ length: 4000 }, (_, i) => i),
    );
    const asked: number[] = [];
    const blob = new Blob([bytes as Uint8Array<ArrayBuffer>]);
    const slice = blob.slice.bind(blob);
    blob.slice = (start, end) => {
      asked.push((end ?? 0) - (start ?? 0));
      return slice(start, end);
    };
    const set = await readSamples([{ name: 'x.npy', source: blob }], input('float32', [1, 4]));
    expect(set.count).toBe(1000);
    expect(set.name(999)).toBe('x.npy[999]');
    expect((await set.load(999)).x?.data).toEqual(Float32Array.of(3996, 3997, 3998, 3999));
    expect(Math.max(...asked)).toBeLessThan(200);
    expect(set.warnings[0]?.message).toBe('x.npy holds 1000 samples along its first dimension.');
  });

  it('gives fresh buffers that can be transferred', async () => {
    const { set } = await only(float32Npy([2], [1, 2]), 'float32', [2]);
    const [a, b] = [(await set.load(0)).x!, (await set.load(0)).x!];
    expect(a.data.buffer).not.toBe(b.data.buffer);
    expect(a.data.buffer.byteLength).toBe(8);
  });

  it.each([
    ['empty', new Uint8Array(0), 'x.npy is not a .npy file.'],
    ['text', new TextEncoder().encode('hello world, no array'), 'x.npy is not a .npy file.'],
    [
      'a version of the future',
      npyFile('<f4', [1], new Uint8Array(4), { version: 9 }),
      'x.npy has the .npy format version 9; versions 1 to 3 can be read.',
    ],
    [
      'objects',
      npyFile('|O', [1], new Uint8Array(8)),
      'x.npy holds elements of type "|O", which no input has.',
    ],
    [
      'complex numbers',
      npyFile('<c8', [1], new Uint8Array(8)),
      'x.npy holds elements of type "<c8", which no input has.',
    ],
    [
      'too little data',
      npyFile('<f4', [3], new Uint8Array(8)),
      'x.npy should hold 12 bytes of elements but holds 8.',
    ],
    [
      'too much data',
      npyFile('<f4', [1], new Uint8Array(8)),
      'x.npy should hold 4 bytes of elements but holds 8.',
    ],
    [
      'a wild shape',
      npyFile('<f4', [4294967296, 4294967296], new Uint8Array(8)),
      'x.npy has a shape too large for any file.',
    ],
    [
      'no elements',
      npyFile('<f4', [0, 4], new Uint8Array(0)),
      'Input "x" needs float32 [1,4], but x.npy holds float32 [0,4].',
    ],
  ])('refuses %s with one sentence', async (_, file, message) => {
    await expect(readSamples([named('x.npy', file)], input('float32', [1, 4]))).rejects.toMatchObject({
      code: 'invalid_sample',
      message,
      where: 'x.npy',
    });
  });

  it('refuses every cut of a file, and headers whose length is a lie', async () => {
    const file = float32Npy([2, 2], [1, 2, 3, 4]);
    for (let length = 0; length < file.length; ++length) {
      await expect(
        readSamples([named('x.npy', file.slice(0, length))], input('float32', [2, 2])),
      ).rejects.toMatchObject({
        code: 'invalid_sample',
      });
    }
    const lie = file.slice();
    new DataView(lie.buffer).setUint16(8, 0xffff, true);
    await expect(readSamples([named('x.npy', lie)], input('float32', [2, 2]))).rejects.toMatchObject({
      message: 'x.npy ends inside its header.',
    });
  });
});
