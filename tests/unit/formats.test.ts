// Number formats through the JavaScript API: bytes of the format's own vectors, streaming, errors, and figures of comparisons
// against a computation value by value.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { EncodeOptions, FormatFigures, TensorSource } from '../../bindings/js/src/index.js';
import { createEngine, npyHeader } from '../../bindings/js/src/index.js';
import { engine, rejection } from './test_engine.js';

const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const bytesOf = async (blob: Blob) => new Uint8Array(await blob.arrayBuffer());

async function value(source: TensorSource, options: EncodeOptions): Promise<Uint8Array> {
  const { parts } = await engine.encodeTensor(source, options);
  expect(parts.map(({ name }) => name)).toEqual(['value']);
  return bytesOf(parts[0]!.content);
}

async function decoded(bytes: Uint8Array): Promise<Float64Array> {
  const { content, type } = await engine.decodeTensor(bytes, { type: 'double' });
  expect(type).toBe('double');
  return new Float64Array(await content.arrayBuffer());
}

/** Numbers of a known sequence (xorshift32), about normal. */
function noise(count: number, seed = 0x2545f491): Float32Array {
  let state = seed;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
  return Float32Array.from({ length: count }, () => next() + next() + next() + next() - 2);
}

const CATALOGUE = Float32Array.of(-8, -3.3, 0.2, 7, -16, -1.2, 8.5, 14, 0.5, -0.25);
const GALLERY = Float32Array.of(-8, -3.3, 0.2, 7, -16, -1.2, 8.5, 14);

describe('vectors of onnx-light', () => {
  it('INT8 with an explicit scale and zero point', async () => {
    const x = Float32Array.of(-40, -1, -0.6, 0, 0.6, 1, 40);
    const bytes = await value(x, { format: 'int8', block: 7, name: 'Q', scales: [0.25], zeroPoints: [-3] });
    expect(bytes.length).toBe(456);
    expect(sha(bytes)).toBe('3d6c75c49878354cfbfedd6647545208cdc474b933ee5680a67caa576539e609');
    expect([...(await decoded(bytes))]).toEqual([-31.25, -1, -0.5, 0, 0.5, 1, 32.5]);
  });

  it('NF4 with automatic scales', async () => {
    const bytes = await value(GALLERY, { format: 'nf4', block: 4, name: 'Q' });
    expect(sha(bytes)).toBe('ca77193f2d9ba50ec916f6bdfe2dee479e87892e918d7687524e2c08db9a82af');
    expect([...(await decoded(bytes))]).toEqual([
      -8, -3.1593399047851562, 0, 8, -16, -1.4568005800247192, 9.001872062683105, 16,
    ]);
  });

  it('NF4 with explicit scales', async () => {
    const bytes = await value(GALLERY, { format: 'nf4', block: 4, name: 'Q', scales: [10, 20] });
    expect(sha(bytes)).toBe('361ba7a579764c93fe62c0d026456388facbdd8565cbb169d6b43c68adc22034');
    expect((await decoded(bytes))[7]).toBe(14.459136724472046);
  });

  it.each([
    ['int8', 672, '85008ef0ef3d1d37'],
    ['int4', 667, 'f4d180bcdbbfdef2'],
    ['gptq', 667, 'ce3ce446c738a5fa'],
    ['q3_k', 667, 'a0ebfcb05e0b41d9'],
    ['nf4', 1051, 'f7e94744c88573c4'],
    ['iq4_nl', 1054, '43a3f2a779a5e86c'],
    ['binary', 715, '75cc6ce16a67bc45'],
    ['ternary', 741, 'b21dece4ac0f10fe'],
    ['tq2_0', 739, '36fa19d72ea03645'],
    ['log', 1027, 'a8e771e6811842f3'],
    ['fp6_llm', 2210, 'a3c2a09867f8585e'],
    ['fp8_e4m3', 6777, 'd8582167561f5b29'],
    ['mxfp4', 1053, '6194f783b81b137f'],
    ['nvfp4', 1053, 'c6a2f4877c259bb9'],
    ['tiled_float', 709, '2ff712d347d610d3'],
  ])('%s of the catalogue', async (format, length, digest) => {
    const bytes = await value(CATALOGUE, { format, block: 4, name: 'Q' });
    expect([bytes.length, sha(bytes).slice(0, 16)]).toEqual([length, digest]);
  });

  it('explicit scales, zero points and offsets', async () => {
    const bytes = await value(Float32Array.of(3, 3.125, 3.5, 4), {
      format: 'gptq',
      block: 4,
      scales: [0.125],
      zeroPoints: [3],
      offsets: [2.25],
    });
    expect([...(await decoded(bytes))]).toEqual([3, 3.125, 3.5, 3.75]);
  });
});

describe('profiles that need more than values', () => {
  it('a learned code book', async () => {
    const table = Array.from({ length: 16 }, (_, i) => (i - 8) / 4);
    const bytes = await value(Float32Array.of(-2, 0.25, 1.75, 0.9), {
      format: 'squeezellm',
      block: 2,
      scales: [1],
      codebooks: table,
    });
    expect([...(await decoded(bytes))]).toEqual([-2, 0.25, 1.75, 1]);
    const error = await rejection(engine.encodeTensor(GALLERY, { format: 'squeezellm' }));
    expect(error.code).toBe('invalid_policy');
    expect(error.message).toContain('codebook');
  });

  it('a rotation, a permutation and outliers', async () => {
    const [c, s] = [Math.SQRT1_2, Math.SQRT1_2];
    const options = { forward: [c, -s, s, c], inverse: [c, s, -s, c] };
    const x = Float32Array.of(1, 2, 300, -4);
    const bytes = await value(x, {
      format: 'quarot',
      block: 2,
      permutation: [3, 2, 1, 0],
      outliers: [2],
      ...options,
    });
    const back = await decoded(bytes);
    expect(back[2]).toBe(300);
    // Half a step of the rotated values, and a rotation doesn't lengthen it: |x| <= 5, 15 steps.
    for (const i of [0, 1, 3]) expect(Math.abs(back[i]! - x[i]!)).toBeLessThan(0.5);
    const error = await rejection(engine.encodeTensor(x, { format: 'quarot', block: 2 }));
    expect(error.message).toContain('transforms');
  });

  it('onnxruntime’s matrices', async () => {
    const x = { data: noise(35 * 4), dims: [35, 4] };
    const bytes = await value(x, { format: 'ort_matmulnbits_int8', block: 16 });
    const back = await decoded(bytes);
    // Scales are absmax / 127.5 at most: |x| <= 2.
    for (let i = 0; i < back.length; ++i) expect(Math.abs(back[i]! - x.data[i]!)).toBeLessThan(2 / 127);
    const error = await rejection(engine.encodeTensor(x.data, { format: 'ort_matmulnbits_int8' }));
    expect(error.message).toContain('stores a matrix');
  });
});

describe('codes and scales apart', () => {
  const x = noise(4096 * 3 + 64);

  it.each([
    ['onnx_int8', 32],
    ['onnx_uint4', 32],
    ['onnx_int2', 17],
    ['onnx_int16', 128],
    ['onnx_float8e4m3fn', 128],
    ['onnx_float4e2m1', 16],
    ['gguf_q4_0', 0],
    ['gguf_q8_0', 0],
    ['ocp_mxfp4', 0],
    ['ocp_mxfp6_e3m2', 0],
    ['modelopt_nvfp4', 0],
    ['bnb_nf4', 0],
    ['bnb_fp4', 128],
  ])('%s comes back as comparing says', async (format, block) => {
    const encoded = await engine.encodeTensor(x, { format, block });
    const values = await engine.decodeParts(encoded);
    const [compared] = await engine.compareFormats([x], [format], block === 0 ? [] : [block]);
    const row = compared!.formats[0] as FormatFigures;
    expect(row.bytes).toBe(encoded.bytes);
    expect(row.bitsPerWeight).toBe((encoded.bytes * 8) / x.length);
    let [largest, squares] = [0, 0];
    for (let i = 0; i < x.length; ++i) {
      const error = Math.abs(values[i]! - x[i]!);
      largest = Math.max(largest, error);
      squares += error * error;
    }
    expect(row.maxError).toBe(largest);
    // Only the order of the additions differs.
    expect(row.rmsError).toBeCloseTo(Math.sqrt(squares / x.length), 12);
  });

  it('pieces are put together: several megabytes as a few values', async () => {
    const large = noise(2 ** 20 + 2 ** 18);
    for (const format of ['onnx_uint4', 'gguf_q4_1', 'modelopt_nvfp4']) {
      const encoded = await engine.encodeTensor(large, { format });
      const values = await engine.decodeParts(encoded);
      expect(values.length).toBe(large.length);
      // 16 levels over a block of values up to 2, and the FP4 steps of up to 2 / 6 of the largest.
      const worst = values.reduce((most, v, i) => Math.max(most, Math.abs(v - large[i]!)), 0);
      expect(worst).toBeLessThan(2 / 5);
      expect(worst).toBeGreaterThan(0);
    }
  });
});

describe('large arrays', () => {
  it('the whole is what blocks are: 3 pieces of float32, each block as if encoded alone', async () => {
    const large = noise(2 ** 21 + 4160);
    const bytes = await value(large, { format: 'nf4', block: 64 });
    const back = await engine.decodeTensor(bytes);
    const values = new Float32Array(await back.content.arrayBuffer());
    for (const first of [0, 2 ** 20 - 64, 2 ** 20, 2 ** 21, 2 ** 21 + 4096]) {
      const block = large.slice(first, first + 64);
      const alone = await decoded(await value(block, { format: 'nf4', block: 64 }));
      expect([...values.subarray(first, first + 64)]).toEqual([...Float32Array.from(alone)]);
    }
  });

  it.each(['nf4', 'onnx_uint4', 'modelopt_nvfp4'])(
    '%s takes the same memory for 4 times as much',
    async (format) => {
      const fresh = createEngine({ workers: 1 });
      try {
        const small = noise(2 ** 21);
        await fresh.encodeTensor(small, { format, write: () => {} });
        const taken = await fresh.memory();
        const large = new Float32Array(2 ** 23);
        for (let k = 0; k < 4; ++k) large.set(small, k * 2 ** 21);
        await fresh.encodeTensor(large, { format, write: () => {} });
        await fresh.compareFormats([large], [format]);
        const end = await fresh.memory();
        // What comparing takes is a piece of it, where the array alone has 32 MiB.
        expect(end - taken).toBeLessThan(8 * 2 ** 20);
      } finally {
        await fresh.close();
      }
    },
  );

  it('progress ends at the total, and a cancel leaves nothing behind', async () => {
    const seen: number[] = [];
    const large = noise(2 ** 21);
    await engine.encodeTensor(large, {
      format: 'int4',
      onProgress: ({ phase, done, total }) => {
        expect([phase, total]).toEqual(['encode', 2 ** 23]);
        seen.push(done);
      },
    });
    expect(seen.at(-1)).toBe(2 ** 23);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    const abort = new AbortController();
    const run = engine.encodeTensor(large, {
      format: 'int4',
      signal: abort.signal,
      write: () => abort.abort(),
    });
    expect((await rejection(run)).code).toBe('cancelled');
    const comparing = engine.compareFormats([large], ['nf4'], [], { signal: AbortSignal.abort() });
    expect((await rejection(comparing)).code).toBe('cancelled');
  });

  it('a writer that fails ends the work with its own error', async () => {
    const failing = engine.encodeTensor(noise(2 ** 20), {
      format: 'int4',
      write: () => Promise.reject(new Error('the disk is full')),
    });
    await expect(failing).rejects.toThrow('the disk is full');
  });
});

describe('arrays in files', () => {
  const npy = (type: string, dims: number[], values: ArrayBufferView): Uint8Array => {
    const head = npyHeader(type, dims);
    const bytes = new Uint8Array(head.length + values.byteLength);
    bytes.set(head);
    bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), head.length);
    return bytes;
  };

  it('double, and big endian', async () => {
    const file = npy('double', [2, 4], Float64Array.from(GALLERY));
    const plain = await value({ npy: file }, { format: 'nf4', block: 4, name: 'Q' });
    const { type, dims } = await engine.decodeTensor(plain);
    expect([type, dims]).toEqual(['double', [2, 4]]);
    const start = file.length - 64;
    for (let i = 0; i < 8; ++i) file.subarray(start + 8 * i, start + 8 * i + 8).reverse();
    file[file.indexOf(0x3c)] = 0x3e; // '<' becomes '>'
    expect(await value({ npy: file }, { format: 'nf4', block: 4, name: 'Q' })).toEqual(plain);
  });

  it('what formats can’t take is said', async () => {
    const integers = rejection(
      engine.encodeTensor({ npy: npy('int32', [2], Int32Array.of(1, 2)), name: 'i.npy' }, { format: 'nf4' }),
    );
    expect((await integers).message).toBe('i.npy holds int32 values, and formats hold floats.');
    const columns = npy('float32', [2, 2], Float32Array.of(1, 2, 3, 4));
    const text = new TextDecoder('latin1').decode(columns).replace('False', 'True ');
    const fortran = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const error = await rejection(engine.encodeTensor({ npy: fortran, name: 'f.npy' }, { format: 'nf4' }));
    expect(error.message).toBe('f.npy is stored column by column.');
  });

  it('scalars and empty arrays', async () => {
    const scalar = await value({ data: Float32Array.of(2), dims: [] }, { format: 'int8', scales: [1] });
    expect((await engine.decodeTensor(scalar)).dims).toEqual([]);
    expect([...(await decoded(scalar))]).toEqual([2]);
    const empty = await value({ data: new Float32Array(0), dims: [3, 0] }, { format: 'nf4' });
    const back = await engine.decodeTensor(empty);
    expect([back.dims, back.bytes, back.content.size]).toEqual([[3, 0], 0, 0]);
  });
});

describe('errors', () => {
  it('names what is wrong', async () => {
    const unknown = await rejection(engine.encodeTensor(GALLERY, { format: 'nf5' }));
    expect(unknown.message).toBe('There is no number format "nf5".');
    const block = await rejection(engine.encodeTensor(GALLERY, { format: 'gguf_q4_0', block: 64 }));
    expect(block.message).toContain('gguf_q4_0 has blocks of 32 elements');
    const scales = await rejection(
      engine.encodeTensor(GALLERY, { format: 'nf4', block: 4, scales: [1, 2, 3] }),
    );
    expect(scales.message).toContain('one per block');
    const nan = await rejection(engine.encodeTensor(Float32Array.of(1, Number.NaN), { format: 'nf4' }));
    expect([nan.code, nan.where]).toEqual(['non_finite', 'block 0, element 1']);
    const none = await rejection(engine.compareFormats([GALLERY], []));
    expect(none.message).toBe('No format was given.');
  });

  it('damaged files are refused, at every length', async () => {
    const bytes = await value(GALLERY, { format: 'int4', block: 4, name: 'Q' });
    for (let length = 0; length < bytes.length; length += 7) {
      const error = await rejection(engine.decodeTensor(bytes.slice(0, length)));
      expect(['truncated', 'invalid_graph']).toContain(error.code);
    }
    const longer = new Uint8Array([...bytes, 0xff]);
    expect((await rejection(engine.decodeTensor(longer))).code).toBe('truncated');
  });
});

describe('comparing', () => {
  /** NF4 by its definition: nearest entry at the block's absmax. */
  const TABLE = [
    -1, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
    -0.18477343022823334, -0.09105003625154495, 0, 0.07958029955625534, 0.16093020141124725,
    0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1,
  ];

  function slowly(x: Float32Array, block: number) {
    const levels = TABLE.map(() => 0);
    const normalised: number[] = [];
    const errors: number[] = [];
    for (let first = 0; first < x.length; first += block) {
      const part = [...x.subarray(first, first + block)];
      const scale = Math.max(...part.map(Math.abs));
      for (const v of part) {
        const code = TABLE.reduce(
          (best, entry, i) => (Math.abs(v / scale - entry) < Math.abs(v / scale - TABLE[best]!) ? i : best),
          0,
        );
        levels[code]! += 1;
        normalised.push(v / scale);
        errors.push(Math.fround(TABLE[code]! * scale) - v);
      }
    }
    return { levels, normalised, errors };
  }

  it('figures are those of a slow computation', async () => {
    const x = noise(20_000);
    const [compared] = await engine.compareFormats([{ data: x, name: 'w' }], ['nf4'], [64]);
    const row = compared!.formats[0] as FormatFigures;
    const { levels, normalised, errors } = slowly(x, 64);
    const squares = errors.reduce((sum, e) => sum + e * e, 0);
    const signal = x.reduce((sum, v) => sum + v * v, 0);
    expect([row.format, row.block, row.count]).toEqual(['nf4', 64, 20_000]);
    // 312 records of 24 + 128 + 32 bytes, and one of 24 + 128 + 16.
    expect(row.bytes).toBe(312 * 184 + 168);
    expect(row.maxError).toBe(Math.max(...errors.map(Math.abs)));
    // Other orders of addition.
    expect(row.rmsError).toBeCloseTo(Math.sqrt(squares / x.length), 12);
    expect(row.sqnr).toBeCloseTo(10 * Math.log10(signal / squares), 9);
    expect(row.levels).toEqual(TABLE);
    expect(row.levelCounts).toEqual(levels);
    const { low, high, counts, below, above } = row.values;
    expect([low, high, counts.length, below, above]).toEqual([-1.1, 1.1, 128, 0, 0]);
    const bins = Array.from({ length: 128 }, () => 0);
    for (const v of normalised) bins[Math.floor(((v - low) / (high - low)) * 128)]! += 1;
    expect(counts).toEqual(bins);
    const { limit } = row.errors;
    expect([Number.isInteger(Math.log2(limit)), row.maxError < limit, row.maxError >= limit / 2]).toEqual([
      true,
      true,
      true,
    ]);
    const errorBins = Array.from({ length: 64 }, () => 0);
    for (const e of errors) errorBins[Math.floor(((e / limit + 1) / 2) * 64)]! += 1;
    expect(row.errors.counts).toEqual(errorBins);
  });

  it('every format that needs nothing but values has sound figures', async () => {
    const known = (await engine.formats()).filter(({ needs }) => needs === '');
    expect(known.length).toBe(65);
    const x = noise(2560);
    const [compared] = await engine.compareFormats(
      [x],
      known.map(({ name }) => name),
    );
    for (const row of compared!.formats) {
      if ('error' in row) throw new Error(`${row.format}: ${row.error.message}`);
      const { levels, levelCounts, values, errors, count } = row;
      const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
      expect([row.format, count]).toEqual([row.format, 2560]);
      expect(row.bitsPerWeight).toBeCloseTo((row.bytes * 8) / 2560, 12);
      if (errors.limit > 0) expect([row.format, sum(errors.counts)]).toEqual([row.format, 2560]);
      if (levels.length === 0) continue;
      expect([row.format, sum(levelCounts)]).toEqual([row.format, 2560]);
      expect(sum(values.counts) + values.below + values.above).toBe(2560);
      // Scales are made so that values lie within the levels, or a rounding of the scale beyond.
      expect([row.format, values.below + values.above < 260]).toEqual([row.format, true]);
    }
  });

  it('the winner is the one that loses least within a size', async () => {
    const formats = ['int4', 'bnb_nf4', 'onnx_int8', 'gguf_q4_0', 'onnx_int4'];
    const x = noise(8192);
    const rows = (await engine.compareFormats([x], formats, [32, 64]))[0]!.formats as FormatFigures[];
    expect(rows.map(({ format, block }) => `${format}/${block}`)).toEqual([
      'int4/32',
      'int4/64',
      'bnb_nf4/32',
      'bnb_nf4/64',
      'onnx_int8/32',
      'onnx_int8/64',
      'gguf_q4_0/32',
      'onnx_int4/32',
      'onnx_int4/64',
    ]);
    const all = await engine.compareFormats([x], formats, [32, 64]);
    expect(all[0]!.winner).toEqual({ format: 'onnx_int8', block: 32 });
    const small = await engine.compareFormats([x], formats, [32, 64], { bitsPerWeight: 4.5 });
    const fitting = rows.filter(({ bitsPerWeight }) => bitsPerWeight <= 4.5);
    const best = fitting.reduce((a, b) => (b.rmsError < a.rmsError ? b : a));
    expect(small[0]!.winner).toEqual({ format: best.format, block: best.block });
    expect((await engine.compareFormats([x], formats, [], { bitsPerWeight: 1 }))[0]!.winner).toBeNull();
  });

  it('a format that can’t hold a tensor doesn’t stop the others', async () => {
    const [compared] = await engine.compareFormats([noise(40)], ['gguf_q4_0', 'bnb_nf4', 'quarot']);
    const [whole, fine, rotated] = compared!.formats;
    expect(whole).toMatchObject({ format: 'gguf_q4_0', error: { code: 'shape_mismatch' } });
    expect(fine).toMatchObject({ format: 'bnb_nf4', count: 40 });
    expect(rotated).toMatchObject({ error: { code: 'invalid_policy' } });
  });
});

describe('facts', () => {
  it('counts overhead', async () => {
    const known = new Map((await engine.formats()).map((format) => [format.name, format]));
    expect(known.size).toBe(43 + 13 + 19);
    expect(known.get('nf4')).toMatchObject({ bits: 4, block: 64, bitsPerWeight: 23, needs: '' });
    expect(known.get('bnb_nf4')).toMatchObject({ bits: 4, block: 64, bitsPerWeight: 4.5, anyBlock: true });
    expect(known.get('onnx_int4')).toMatchObject({ block: 128, bitsPerWeight: 4.25 });
    expect(known.get('gguf_q6_k')).toMatchObject({ block: 256, bitsPerWeight: 6.5625, anyBlock: false });
    expect(known.get('ort_matmulnbits_int4')).toMatchObject({ needs: 'matrix', bitsPerWeight: null });
    const blocks = new Map((await engine.formats(32)).map((format) => [format.name, format.bitsPerWeight]));
    expect([blocks.get('onnx_int4'), blocks.get('gguf_q6_k')]).toEqual([5, null]);
  });
});
