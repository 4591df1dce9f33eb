// PNG and JPEG to pixels, by the same JavaScript in page and Node, so that both see the same numbers. Orientation
// tags, colour profiles and gamma are not applied.
import decodeJpegBytes from 'jpeg-js/lib/decoder.js';
import { InflateError, zlibUpTo } from './inflate.js';
import { crc32, lineBytesOf, type PngLayout, pixelBytes } from './png_lines.js';

/** Rows from the top, pixels from the left, channels together. Values run from 0 to `max`. */
export interface Pixels {
  width: number;
  height: number;
  /** 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA. */
  channels: number;
  max: number;
  data: Uint8Array | Uint16Array;
}

/** Larger images are refused before anything is allocated for them. */
export const MAX_PIXELS = 1 << 26;

/** The message is the rest of a sentence that starts with the file's name. */
export class ImageError extends Error {}

export type ImageKind = 'png' | 'jpeg';

export function imageKind(bytes: Uint8Array): ImageKind | null {
  if (bytes[0] === 0x89 && bytes[1] === 0x50 && bytes[2] === 0x4e && bytes[3] === 0x47) return 'png';
  return bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff ? 'jpeg' : null;
}

/** Errors: ImageError. */
export function decodeImage(bytes: Uint8Array): Pixels {
  const kind = imageKind(bytes);
  if (kind === null) throw new ImageError('is neither PNG nor JPEG');
  try {
    return kind === 'png' ? pngPixels(bytes) : jpegPixels(bytes);
  } catch (error) {
    if (error instanceof ImageError) throw error;
    throw new ImageError(`is a ${kind.toUpperCase()} that can't be decoded: ${(error as Error).message}`);
  }
}

function jpegPixels(bytes: Uint8Array): Pixels {
  const options = { useTArray: true, formatAsRGBA: false, tolerantDecoding: false } as const;
  const limits = { maxResolutionInMP: MAX_PIXELS / 1e6, maxMemoryUsageInMB: 1024 };
  const { width, height, data } = decodeJpegBytes(bytes, { ...options, ...limits });
  if (width === 0 || height === 0) throw new ImageError('is an empty image');
  return { width, height, channels: 3, max: 255, data };
}

interface PngHeader {
  width: number;
  height: number;
  depth: number;
  colorType: number;
  interlaced: boolean;
}

const INDEXED = 3;
const CHANNELS: Record<number, number> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
/** By kind of colour, as the specification allows them. */
const DEPTHS: Record<number, number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};

function pngPixels(bytes: Uint8Array): Pixels {
  const header = pngHeader(bytes);
  const { width, height, depth, colorType } = header;
  const { imageData, palette } = neededChunks(bytes);
  const packed = pngBytes(imageData, header);
  if (colorType === INDEXED) {
    const data = paletteColors(unpacked(packed, header), palette);
    return { width, height, channels: 3, max: 255, data };
  }
  const channels = CHANNELS[colorType] ?? 1;
  if (depth === 16) return { width, height, channels, max: 65535, data: wideValues(packed) };
  return { width, height, channels, max: 2 ** depth - 1, data: unpacked(packed, header) };
}

function pngHeader(bytes: Uint8Array): PngHeader {
  if (bytes.length < 33 || chunkType(bytes, 8) !== 'IHDR') throw new ImageError('is a PNG without a header');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const [depth, colorType, interlaced] = [view.getUint8(24), view.getUint8(25), view.getUint8(28) !== 0];
  if (width === 0 || height === 0) throw new ImageError('is an empty image');
  if (width * height > MAX_PIXELS) throw new ImageError(`is ${width}x${height} pixels, more than 64 million`);
  if (!(DEPTHS[colorType] ?? []).includes(depth)) {
    throw new ImageError('is a PNG with an unknown kind of pixels');
  }
  if (depth < 8 && interlaced)
    throw new ImageError('is an interlaced PNG of fewer than 8 bits; save it without interlacing');
  return { width, height, depth, colorType, interlaced };
}

function chunkType(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at + 4, at + 8));
}

/** Chunks that change pixels. Text, profiles and the like are hostile ground and of no use here. */
function neededChunks(bytes: Uint8Array): { imageData: Uint8Array; palette: Uint8Array } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const data: Uint8Array[] = [];
  let palette = new Uint8Array(0);
  let type = '';
  for (let at = 8; type !== 'IEND'; ) {
    if (at + 12 > bytes.length) throw new ImageError('is a PNG that ends too early');
    const end = at + 12 + view.getUint32(at);
    if (end > bytes.length) throw new ImageError('is a PNG with a length that points outside the file');
    type = chunkType(bytes, at);
    const content = bytes.slice(at + 8, end - 4);
    const needed = ['IHDR', 'PLTE', 'IDAT', 'IEND'].includes(type);
    if (needed && crc32(bytes.subarray(at + 4, end - 4)) !== view.getUint32(end - 4))
      throw new ImageError(`is a PNG that is damaged: the check of its ${type} part fails`);
    if (type === 'PLTE') palette = content;
    if (type === 'IDAT') data.push(content);
    at = end;
  }
  return { imageData: joined(data), palette };
}

function joined(parts: Uint8Array[]): Uint8Array {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Pixels as the file packs them. Data that is longer or shorter than the pixels is refused. */
function pngBytes(
  imageData: Uint8Array,
  { width, height, depth, colorType, interlaced }: PngHeader,
): Uint8Array {
  const layout: PngLayout = { width, height, bitsPerPixel: depth * (CHANNELS[colorType] ?? 1), interlaced };
  const wanted = lineBytesOf(layout);
  let inflated: ReturnType<typeof zlibUpTo>;
  try {
    inflated = zlibUpTo(imageData, wanted);
  } catch (error) {
    if (error instanceof InflateError)
      throw new ImageError(`is a PNG that can't be unpacked: ${error.message}`);
    throw error;
  }
  if (inflated.length !== wanted)
    throw new ImageError(`is a PNG whose pixel data is too ${inflated.length < wanted ? 'short' : 'long'}`);
  const pixels = pixelBytes(inflated.bytes, layout);
  if (pixels === null) throw new ImageError('is a PNG with lines filtered in an unknown way');
  return pixels;
}

/** Two bytes a value, the high one first. */
function wideValues(packed: Uint8Array): Uint16Array {
  return Uint16Array.from(
    { length: packed.length / 2 },
    (_, i) => (packed[2 * i] ?? 0) * 256 + (packed[2 * i + 1] ?? 0),
  );
}

/** One byte a value from packed ones, the leftmost in the high bits; each line starts at a byte. */
function unpacked(packed: Uint8Array, { width, height, depth }: PngHeader): Uint8Array {
  if (depth === 8) return packed;
  const lineBytes = Math.ceil((width * depth) / 8);
  const out = new Uint8Array(width * height);
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) {
      const bit = x * depth;
      const byte = packed[y * lineBytes + (bit >> 3)] ?? 0;
      out[y * width + x] = (byte >> (8 - depth - (bit & 7))) & (2 ** depth - 1);
    }
  }
  return out;
}

function paletteColors(indices: Uint8Array, palette: Uint8Array): Uint8Array {
  const out = new Uint8Array(indices.length * 3);
  indices.forEach((index, i) => {
    if (3 * index + 3 > palette.length) throw new ImageError('is a PNG with a colour that its palette lacks');
    out.set(palette.subarray(3 * index, 3 * index + 3), i * 3);
  });
  return out;
}

/** EXIF's orientation, 1 (upright) if there is none. `bytes` may be just the beginning of the file. */
export function jpegOrientation(bytes: Uint8Array): number {
  if (imageKind(bytes) !== 'jpeg') return 1;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 2; at + 4 <= bytes.length && view.getUint8(at) === 0xff; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint8(at + 1);
    if (marker === 0xda) break;
    const exif = marker === 0xe1 && at + 18 <= bytes.length && view.getUint32(at + 4) === 0x45786966;
    if (exif) return tiffOrientation(bytes.subarray(at + 10, at + 2 + view.getUint16(at + 2)));
  }
  return 1;
}

function tiffOrientation(tiff: Uint8Array): number {
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const little = tiff[0] === 0x49;
  if (tiff.length < 8) return 1;
  const start = view.getUint32(4, little);
  if (start + 2 > tiff.length) return 1;
  const count = view.getUint16(start, little);
  for (let i = 0; i < count && start + 2 + (i + 1) * 12 <= tiff.length; ++i) {
    const entry = start + 2 + i * 12;
    if (view.getUint16(entry, little) === 0x0112) return view.getUint16(entry + 8, little);
  }
  return 1;
}
