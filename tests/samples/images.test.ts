import { readFileSync } from 'node:fs';
import { encode as encodePng } from 'fast-png';
import { zlibSync } from 'fflate';
import jpeg from 'jpeg-js';
import { describe, expect, it } from 'vitest';
import { resizeBilinear } from '../../bindings/js/src/samples/image_tensor.js';
import { type ImageOptions, readSamples } from '../../bindings/js/src/samples/index.js';
import type { ValueInfo } from '../../bindings/js/src/types.js';
import { named } from './make_files.js';

const nchw = (channels: number | string, height: number | string, width: number | string): ValueInfo => ({
  name: 'x',
  type: 'float32',
  shape: ['N', channels, height, width],
});

async function load(file: Uint8Array, input: ValueInfo, options: ImageOptions = {}, name = 'a.png') {
  const set = await readSamples([named(name, file)], [input], options);
  const tensor = (await set.load(0)).x!;
  return { dims: tensor.dims, values: Array.from(tensor.data as Float32Array), set };
}

/** Two pixels side by side: red-ish and blue-ish. */
const RGB = encodePng({
  width: 2,
  height: 1,
  channels: 3,
  depth: 8,
  data: Uint8Array.of(255, 51, 0, 0, 102, 204),
});
const RAW = { scale: 1, mean: [0], std: [1] };

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; ++bit) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

function pngChunk(type: string, data: Uint8Array): number[] {
  const body = [...new TextEncoder().encode(type), ...data];
  let crc = 0xffffffff;
  for (const byte of body) crc = CRC[(crc ^ byte) & 255]! ^ (crc >>> 8);
  const number = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255];
  return [...number(data.length), ...body, ...number((crc ^ 0xffffffff) >>> 0)];
}

/** A PNG byte by byte; `lines` carry their filter bytes. */
function rawPng(
  width: number,
  height: number,
  depth: number,
  colorType: number,
  lines: Uint8Array,
  chunks: number[] = [],
  interlace = 0,
): Uint8Array {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([depth, colorType, 0, 0, interlace], 8);
  const signature = [0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10];
  return Uint8Array.from([
    ...signature,
    ...pngChunk('IHDR', header),
    ...chunks,
    ...pngChunk('IDAT', zlibSync(lines)),
    ...pngChunk('IEND', new Uint8Array(0)),
  ]);
}

describe('pixels to tensors', () => {
  it('planes of RGB divided by 255, by default, and says so', async () => {
    const { dims, values, set } = await load(RGB, nchw(3, 1, 2));
    expect(dims).toEqual([1, 3, 1, 2]);
    expect(values).toEqual([1, 0, 0.2, 0.4, 0, 0.8].map(Math.fround));
    expect(set.warnings).toEqual([
      {
        code: 'image_defaults',
        message: 'a.png was read with default image options: 1x2 stretch, NCHW, RGB, (v / 255 - 0) / 1.',
        where: 'a.png',
      },
    ]);
  });

  it('BGR, mean and std for each channel, in the order of the channels', async () => {
    const { values } = await load(RGB, nchw(3, 1, 2), {
      color: 'bgr',
      scale: 1,
      mean: [4, 2, 5],
      std: [2, 1, 10],
    });
    expect(values).toEqual([-2, 100, 49, 100, 25, -0.5]);
  });

  it('NHWC where the last dimension is the channels', async () => {
    const { dims, values } = await load(RGB, { name: 'x', type: 'float32', shape: [1, 1, 2, 3] }, RAW);
    expect([dims, values]).toEqual([
      [1, 1, 2, 3],
      [255, 51, 0, 0, 102, 204],
    ]);
  });

  it('keeps the size of an image where nothing fixes it', async () => {
    expect((await load(RGB, nchw(3, 'h', 'w'), RAW)).dims).toEqual([1, 3, 1, 2]);
  });

  it('inputs of rank 3 get no batch', async () => {
    expect((await load(RGB, { name: 'x', type: 'float32', shape: [3, 1, 2] }, RAW)).dims).toEqual([3, 1, 2]);
  });

  it('uint8 inputs take pixels as they are, rounded half to even after resizing', async () => {
    const file = encodePng({ width: 2, height: 1, channels: 1, depth: 8, data: Uint8Array.of(1, 2) });
    const { values } = await load(file, { name: 'x', type: 'uint8', shape: [1, 1, 1, 4] });
    expect(values).toEqual([1, 1, 2, 2]);
    const half = await load(file, { name: 'x', type: 'uint8', shape: [1, 1, 1, 1] });
    expect(half.values).toEqual([2]);
  });

  it('pads right and below with zeros after normalising, and keeps the proportions', async () => {
    const white = encodePng({ width: 2, height: 1, channels: 1, depth: 8, data: Uint8Array.of(255, 255) });
    const { values } = await load(white, nchw(1, 2, 6), { fit: 'pad', mean: [0.5], std: [0.5] });
    expect(values).toEqual([1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0]);
    const tall = await load(white, nchw(1, 3, 2), { fit: 'pad' });
    expect(tall.values).toEqual([1, 1, 0, 0, 0, 0]);
  });

  it('grey is luma, and becomes three equal planes', async () => {
    expect((await load(RGB, nchw(1, 1, 2), RAW)).values).toEqual(
      [0.299 * 255 + 0.587 * 51, 0.587 * 102 + 0.114 * 204].map(Math.fround),
    );
    const grey = encodePng({ width: 1, height: 1, channels: 1, depth: 8, data: Uint8Array.of(7) });
    expect((await load(grey, nchw(3, 1, 1), RAW)).values).toEqual([7, 7, 7]);
  });

  it('ignores alpha and says so, keeps it for four channels', async () => {
    const file = encodePng({
      width: 1,
      height: 1,
      channels: 4,
      depth: 8,
      data: Uint8Array.of(10, 20, 30, 40),
    });
    const { values, set } = await load(file, nchw(3, 1, 1), RAW);
    expect(values).toEqual([10, 20, 30]);
    expect(set.warnings.map((warning) => warning.code)).toEqual(['alpha_ignored']);
    expect((await load(file, nchw(4, 1, 1), RAW)).values).toEqual([10, 20, 30, 40]);
    const greyAlpha = encodePng({ width: 1, height: 1, channels: 2, depth: 8, data: Uint8Array.of(9, 1) });
    expect((await load(greyAlpha, nchw(3, 1, 1), RAW)).values).toEqual([9, 9, 9]);
  });

  it('16 bits keep their precision on the scale of 0 to 255', async () => {
    const file = encodePng({ width: 2, height: 1, channels: 1, depth: 16, data: Uint16Array.of(65535, 257) });
    expect((await load(file, nchw(1, 1, 2), RAW)).values).toEqual([255, 1]);
  });

  it('unpacks 1, 2 and 4 bits, and palettes', async () => {
    expect(
      (
        await load(rawPng(3, 2, 1, 0, Uint8Array.of(0, 0b10100000, 0, 0b01000000)), nchw(1, 2, 3), {
          ...RAW,
          layout: 'nchw',
        })
      ).values,
    ).toEqual([255, 0, 255, 0, 255, 0]);
    expect((await load(rawPng(2, 1, 4, 0, Uint8Array.of(0, 0x3f)), nchw(1, 1, 2), RAW)).values).toEqual([
      51, 255,
    ]);
    const palette = pngChunk('PLTE', Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9));
    expect(
      (await load(rawPng(3, 1, 2, 3, Uint8Array.of(0, 0b10_00_01_00), palette), nchw(3, 1, 3), RAW)).values,
    ).toEqual([7, 1, 4, 8, 2, 5, 9, 3, 6]);
  });

  it('decodes JPEG, the same in page and Node', async () => {
    const data = Buffer.alloc(16 * 16 * 4, 128);
    const file = new Uint8Array(jpeg.encode({ width: 16, height: 16, data }, 90).data);
    const { dims, values, set } = await load(file, nchw(3, 16, 16), RAW, 'a.jpg');
    expect(dims).toEqual([1, 3, 16, 16]);
    expect(new Set(values)).toEqual(new Set([128]));
    expect(set.warnings).toEqual([]);
  });

  it('ignores an EXIF orientation and says so', async () => {
    const plain = new Uint8Array(jpeg.encode({ width: 8, height: 8, data: Buffer.alloc(256, 10) }, 90).data);
    const tiff = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0];
    const exif = [0xff, 0xe1, 0, 2 + 6 + tiff.length, 0x45, 0x78, 0x69, 0x66, 0, 0, ...tiff];
    const turned = Uint8Array.from([...plain.slice(0, 2), ...exif, ...plain.slice(2)]);
    const { set, values } = await load(turned, nchw(3, 8, 8), RAW, 'a.jpg');
    expect(set.warnings.map((warning) => warning.message)).toEqual([
      'a.jpg carries an EXIF orientation, which is ignored.',
    ]);
    expect(values).toEqual((await load(plain, nchw(3, 8, 8), RAW, 'a.jpg')).values);
  });
});

describe('bilinear resize', () => {
  it('uses half-pixel centres and clamps', () => {
    expect([...resizeBilinear(Float32Array.of(0, 1), 1, 2, 1, 4)]).toEqual([0, 0.25, 0.75, 1]);
    expect([...resizeBilinear(Float32Array.of(0, 1, 2, 3), 1, 4, 1, 2)]).toEqual([0.5, 2.5]);
    expect([...resizeBilinear(Float32Array.of(1, 2, 3, 4), 2, 2, 1, 1)]).toEqual([2.5]);
    expect([...resizeBilinear(Float32Array.of(1, 2, 3, 4), 2, 2, 3, 3)]).toEqual([
      1, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4,
    ]);
  });
});

describe('images that are refused', () => {
  const bomb = rawPng(1, 1, 8, 0, new Uint8Array(3_000_000));
  const huge = rawPng(1, 1, 8, 0, Uint8Array.of(0, 0));
  new DataView(huge.buffer).setUint32(16, 0x7fffffff);
  new DataView(huge.buffer).setUint32(20, 0x7fffffff);
  it.each([
    ['text', new TextEncoder().encode('not an image'), 'a.png is neither PNG nor JPEG.'],
    ['more data than pixels', bomb, 'a.png is a PNG whose pixel data is too long.'],
    [
      'less data than pixels',
      rawPng(4, 4, 8, 0, new Uint8Array(10)),
      'a.png is a PNG whose pixel data is too short.',
    ],
    ['huge dimensions', huge, 'a.png is 2147483647x2147483647 pixels, more than 64 million.'],
    ['no pixels', rawPng(0, 4, 8, 0, new Uint8Array(0)), 'a.png is an empty image.'],
    [
      'a colour beyond the palette',
      rawPng(1, 1, 8, 3, Uint8Array.of(0, 200), pngChunk('PLTE', Uint8Array.of(1, 2, 3))),
      'a.png is a PNG with a colour that its palette lacks.',
    ],
    [
      'interlaced bits',
      rawPng(2, 2, 1, 0, new Uint8Array(8), [], 1),
      'a.png is an interlaced PNG of fewer than 8 bits; save it without interlacing.',
    ],
  ])('%s', async (_, file, message) => {
    await expect(load(file, nchw(1, 'h', 'w'), RAW)).rejects.toMatchObject({
      code: 'invalid_sample',
      message,
      where: 'a.png',
    });
  });

  it('every cut of a PNG and of a JPEG', async () => {
    const photo = new Uint8Array(
      jpeg.encode({ width: 16, height: 16, data: Buffer.alloc(1024, 90) }, 80).data,
    );
    for (const [file, step] of [
      [RGB, 1],
      [photo, 7],
    ] as const) {
      for (let length = 0; length < file.length - 12; length += step) {
        await expect(load(file.slice(0, length), nchw(3, 'h', 'w'), RAW)).rejects.toMatchObject({
          code: 'invalid_sample',
        });
      }
    }
  });

  it('changed bytes never crash', async () => {
    const file = new Uint8Array(readFileSync('web/samples/text_direction/line_1.png'));
    for (let at = 0; at < file.length; at += 3) {
      const broken = file.slice();
      broken[at] = (broken[at] ?? 0) ^ 0x55;
      await load(broken, nchw(3, 48, 192), RAW).catch((error) =>
        expect(error).toMatchObject({ code: 'invalid_sample' }),
      );
    }
  });

  it('options that do not fit the input', async () => {
    await expect(load(RGB, nchw(3, 48, 192), { size: [32, 192] })).rejects.toMatchObject({
      message: 'Input "x" needs images of 48x192, not 32x192.',
    });
    await expect(load(RGB, nchw(3, 1, 2), { mean: [1, 2] })).rejects.toMatchObject({
      message: "2 values of mean don't fit 3 channels.",
    });
    await expect(load(RGB, nchw(3, 1, 2), { std: [0] })).rejects.toMatchObject({
      message: "The image option std has a value that can't be used.",
    });
    await expect(load(RGB, nchw(2, 1, 2))).rejects.toMatchObject({
      message: 'Input "x" has 2 channels, and images have 1, 3 or 4.',
    });
    await expect(load(RGB, { name: 'x', type: 'int64', shape: [1, 4] })).rejects.toMatchObject({
      message: 'No input of the model takes images: "x" int64 [1,4].',
    });
  });
});
