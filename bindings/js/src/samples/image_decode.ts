// PNG and JPEG to pixels, by the same JavaScript decoders in page and Node, so that both see the same numbers. Orientation
// tags, colour profiles and gamma are not applied.
import { decode as decodePng } from 'fast-png';
import decodeJpegBytes from 'jpeg-js/lib/decoder.js';
import { InflateError, zlibLength } from './inflate.js';

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
const NEEDED_CHUNKS = new Set(['IHDR', 'PLTE', 'IDAT', 'IEND']);

function pngPixels(bytes: Uint8Array): Pixels {
  const header = pngHeader(bytes);
  const { clean, imageData } = neededChunks(bytes);
  checkImageData(imageData, header);
  const decoded = decodePng(clean);
  const { width, height, depth } = header;
  if (header.colorType === INDEXED) {
    return {
      width,
      height,
      channels: 3,
      max: 255,
      data: paletteColors(unpacked(decoded.data, header), decoded.palette),
    };
  }
  const max = depth === 16 ? 65535 : 2 ** depth - 1;
  const data = depth < 8 ? unpacked(decoded.data, header) : (decoded.data as Uint8Array | Uint16Array);
  return { width, height, channels: CHANNELS[header.colorType] ?? 1, max, data };
}

function pngHeader(bytes: Uint8Array): PngHeader {
  if (bytes.length < 33 || chunkType(bytes, 8) !== 'IHDR') throw new ImageError('is a PNG without a header');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [width, height] = [view.getUint32(16), view.getUint32(20)];
  const [depth, colorType, interlaced] = [view.getUint8(24), view.getUint8(25), view.getUint8(28) !== 0];
  if (width === 0 || height === 0) throw new ImageError('is an empty image');
  if (width * height > MAX_PIXELS) throw new ImageError(`is ${width}x${height} pixels, more than 64 million`);
  if (!Object.hasOwn(CHANNELS, colorType) || ![1, 2, 4, 8, 16].includes(depth)) {
    throw new ImageError('is a PNG with an unknown kind of pixels');
  }
  if (depth < 8 && interlaced)
    throw new ImageError('is an interlaced PNG of fewer than 8 bits; save it without interlacing');
  return { width, height, depth, colorType, interlaced };
}

function chunkType(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at + 4, at + 8));
}

/** The file without chunks that don't change pixels: text, profiles and the like are hostile ground and of no use here. */
function neededChunks(bytes: Uint8Array): { clean: Uint8Array; imageData: Uint8Array } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kept: Uint8Array[] = [bytes.subarray(0, 8)];
  const data: Uint8Array[] = [];
  let type = '';
  for (let at = 8; type !== 'IEND'; ) {
    if (at + 12 > bytes.length) throw new ImageError('is a PNG that ends too early');
    const end = at + 12 + view.getUint32(at);
    if (end > bytes.length) throw new ImageError('is a PNG with a length that points outside the file');
    type = chunkType(bytes, at);
    if (NEEDED_CHUNKS.has(type)) kept.push(bytes.subarray(at, end));
    if (type === 'IDAT') data.push(bytes.subarray(at + 8, end - 4));
    at = end;
  }
  return { clean: joined(kept), imageData: joined(data) };
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

/** The decoder takes any amount of data and fills what is missing with zeros; both are refused here. */
function checkImageData(
  imageData: Uint8Array,
  { width, height, depth, colorType, interlaced }: PngHeader,
): void {
  const bits = depth * (CHANNELS[colorType] ?? 1);
  const lineBytes = (pixels: number) => 1 + Math.ceil((bits * pixels) / 8);
  const PASSES = [
    [0, 0, 8, 8],
    [4, 0, 8, 8],
    [0, 4, 4, 8],
    [2, 0, 4, 4],
    [0, 2, 2, 4],
    [1, 0, 2, 2],
    [0, 1, 1, 2],
  ];
  const passes = interlaced ? PASSES : [[0, 0, 1, 1]];
  let wanted = 0;
  for (const [x = 0, y = 0, stepX = 1, stepY = 1] of passes) {
    const [columns, rows] = [Math.ceil((width - x) / stepX), Math.ceil((height - y) / stepY)];
    if (columns > 0 && rows > 0) wanted += rows * lineBytes(columns);
  }
  let length: number;
  try {
    length = zlibLength(imageData, wanted);
  } catch (error) {
    if (error instanceof InflateError)
      throw new ImageError(`is a PNG that can't be unpacked: ${error.message}`);
    throw error;
  }
  if (length !== wanted)
    throw new ImageError(`is a PNG whose pixel data is too ${length < wanted ? 'short' : 'long'}`);
}

/** One byte a value from packed ones, the leftmost in the high bits; each line starts at a byte. */
function unpacked(packed: ArrayLike<number>, { width, height, depth }: PngHeader): Uint8Array {
  if (depth === 8) return Uint8Array.from(packed);
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

function paletteColors(indices: Uint8Array, palette: number[][] | undefined): Uint8Array {
  const out = new Uint8Array(indices.length * 3);
  indices.forEach((index, i) => {
    const color = palette?.[index];
    if (color === undefined) throw new ImageError('is a PNG with a colour that its palette lacks');
    out.set(color.slice(0, 3), i * 3);
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
