import { zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { readSamples } from '../../bindings/js/src/samples/index.js';
import type { ValueInfo } from '../../bindings/js/src/types.js';
import { bytesOf, float32Npy, named, npyFile } from './make_files.js';

const INPUTS: ValueInfo[] = [
  { name: 'x', type: 'float32', shape: [1, 2] },
  { name: 'ids', type: 'int64', shape: [1, 'length'] },
];

const X = float32Npy([2, 2], [1, 2, 3, 4]);
const IDS = npyFile('<i8', [2, 3], bytesOf(BigInt64Array.of(1n, 2n, 3n, 4n, 5n, 6n)));

async function readBoth(zip: Uint8Array) {
  const set = await readSamples([named('a.npz', zip)], INPUTS);
  return { set, samples: await Promise.all([set.load(0), set.load(1)]) };
}

describe('.npz', () => {
  it.each([
    ['stored', 0],
    ['deflated', 6],
  ] as const)('reads %s entries by key', async (_, level) => {
    const { set, samples } = await readBoth(zipSync({ 'ids.npy': IDS, 'x.npy': X }, { level }));
    expect(set.count).toBe(2);
    expect(samples[1]).toEqual({
      x: { type: 'float32', dims: [1, 2], data: Float32Array.of(3, 4) },
      ids: { type: 'int64', dims: [1, 3], data: BigInt64Array.of(4n, 5n, 6n) },
    });
    expect(samples[0]?.ids?.data).toEqual(BigInt64Array.of(1n, 2n, 3n));
  });

  it('takes keys that are no names in the order of the inputs, and says so', async () => {
    const { set, samples } = await readBoth(zipSync({ 'arr_0.npy': X, 'arr_1.npy': IDS }));
    expect(samples[0]?.x?.data).toEqual(Float32Array.of(1, 2));
    expect(set.warnings.map((warning) => warning.code)).toEqual(['taken_in_order', 'several_samples']);
  });

  it('names the input that is missing and what was given', async () => {
    await expect(readBoth(zipSync({ 'x.npy': X }))).rejects.toMatchObject({
      message: 'a.npz has no value for input "ids", which needs int64 [1,length]; it has "x".',
      where: 'a.npz',
    });
  });

  it('says which entries were not used', async () => {
    const { set } = await readBoth(
      zipSync({ 'x.npy': X, 'ids.npy': IDS, 'label.npy': X, 'notes.txt': new Uint8Array(3) }),
    );
    expect(set.warnings.map((warning) => warning.message)).toEqual([
      'a.npz has an entry "notes.txt" that is no array.',
      'a.npz holds a value "label" that no input is called, which was ignored.',
      'a.npz holds 2 samples along its first dimension.',
    ]);
  });

  it('reads a large deflated entry, sample by sample', async () => {
    const rows = 40_000;
    const values = Array.from({ length: rows * 2 }, (_, i) => i % 997);
    const zip = zipSync({ 'x.npy': float32Npy([rows, 2], values) });
    const set = await readSamples([named('big.npz', zip)], [INPUTS[0]!]);
    for (const index of [0, 1, 20_000, rows - 1]) {
      expect((await set.load(index)).x?.data).toEqual(
        Float32Array.of((2 * index) % 997, (2 * index + 1) % 997),
      );
    }
  });

  it('reads sizes from zip64 fields', async () => {
    const zip = zipSync({ 'x.npy': X }, { level: 0 });
    const view = new DataView(zip.buffer);
    const end = zip.length - 22;
    const start = view.getUint32(end + 16, true);
    const nameBytes = view.getUint16(start + 28, true);
    const extra = new Uint8Array(20);
    const extraView = new DataView(extra.buffer);
    extraView.setUint16(0, 1, true);
    extraView.setUint16(2, 16, true);
    extraView.setBigUint64(4, BigInt(X.length), true);
    extraView.setBigUint64(12, BigInt(X.length), true);
    view.setUint32(start + 20, 0xffffffff, true);
    view.setUint32(start + 24, 0xffffffff, true);
    view.setUint16(start + 30, 20, true);
    const cut = start + 46 + nameBytes;
    const out = new Uint8Array([...zip.slice(0, cut), ...extra, ...zip.slice(cut)]);
    new DataView(out.buffer).setUint32(out.length - 22 + 12, end - start + 20, true);
    const set = await readSamples([named('x.npz', out)], [INPUTS[0]!]);
    expect((await set.load(1)).x?.data).toEqual(Float32Array.of(3, 4));
  });

  it('refuses an entry that unpacks to more, or less, than it says', async () => {
    const array = float32Npy([200_000, 2], new Array(400_000).fill(0));
    for (const [said, reason] of [
      [array.length - 8, 'should hold'],
      [2 ** 31, 'is larger than 2 GB'],
      [2 ** 30, 'should hold'],
    ] as const) {
      const zip = zipSync({ 'x.npy': array });
      const view = new DataView(zip.buffer);
      view.setUint32(view.getUint32(zip.length - 22 + 16, true) + 24, said, true);
      await expect(readSamples([named('a.npz', zip)], [INPUTS[0]!])).rejects.toMatchObject({
        code: 'invalid_sample',
        message: expect.stringContaining(reason),
      });
    }
    // A header that agrees with the lie gets past the first look and is caught when the values are unpacked.
    const honest = float32Npy([200_000, 2], new Array(400_000).fill(0)).length;
    const bomb = zipSync({
      'x.npy': Uint8Array.from([...float32Npy([200_000, 2], []), ...new Uint8Array(40)]),
    });
    const view = new DataView(bomb.buffer);
    view.setUint32(view.getUint32(bomb.length - 22 + 16, true) + 24, honest, true);
    const set = await readSamples([named('a.npz', bomb)], [INPUTS[0]!]);
    await expect(set.load(0)).rejects.toMatchObject({
      code: 'invalid_sample',
      message: expect.stringContaining("can't be unpacked"),
    });
  });

  it('refuses damaged data by its checksum', async () => {
    const zip = zipSync({ 'x.npy': X });
    const view = new DataView(zip.buffer);
    view.setUint32(view.getUint32(zip.length - 22 + 16, true) + 16, 12345, true);
    const set = await readSamples([named('a.npz', zip)], [INPUTS[0]!]);
    await expect(set.load(0)).rejects.toMatchObject({
      message: expect.stringContaining('its checksum is wrong'),
    });
  });

  it('gives an error, not a crash, for every cut and for every byte that is changed', async () => {
    const zip = zipSync({ 'x.npy': X });
    for (let length = 0; length < zip.length; length += 3) {
      await expect(readSamples([named('a.npz', zip.slice(0, length))], [INPUTS[0]!])).rejects.toMatchObject({
        code: 'invalid_sample',
      });
    }
    let refused = 0;
    for (let at = 0; at < zip.length; ++at) {
      const broken = zip.slice();
      broken[at] = (broken[at] ?? 0) ^ 0xff;
      try {
        const set = await readSamples([named('a.npz', broken)], [INPUTS[0]!]);
        for (let i = 0; i < set.count; ++i) await set.load(i);
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_sample' });
        ++refused;
      }
    }
    expect(refused).toBeGreaterThan(zip.length / 2);
  });
});
