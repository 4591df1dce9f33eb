// Pixels to a tensor: colours, bilinear resize, normalisation, layout, in this order, in float32 between the steps.
import { type ElementArray, emptyElements } from '../shared/element_types.js';
import type { Pixels } from './image_decode.js';
import type { ImageLayout } from './image_options.js';

/** Planes one after the other, values 0 to 255. */
interface Planes {
  width: number;
  height: number;
  planes: Float32Array[];
}

/** The value for one sample, with its dims (the batch of 1 included where the input has one). */
export function imageTensor(pixels: Pixels, layout: ImageLayout): { dims: number[]; data: ElementArray } {
  const colored = colorPlanes(pixels, layout);
  const height = layout.height ?? pixels.height;
  const width = layout.width ?? pixels.width;
  const share = layout.fit === 'pad' ? Math.min(height / pixels.height, width / pixels.width) : null;
  const inner =
    share === null
      ? [height, width]
      : [pixels.height, pixels.width].map((size) => Math.max(1, Math.round(size * share)));
  const innerHeight = Math.min(height, inner[0] ?? height);
  const innerWidth = Math.min(width, inner[1] ?? width);
  const data = emptyElements(layout.type, layout.channels * height * width);
  colored.planes.forEach((plane, channel) => {
    const resized = resizeBilinear(plane, colored.height, colored.width, innerHeight, innerWidth);
    normalize(resized, layout, channel);
    place(resized, innerHeight, innerWidth, { data, height, width, channel, layout });
  });
  const shape =
    layout.layout === 'nchw' ? [layout.channels, height, width] : [height, width, layout.channels];
  return { dims: layout.batch ? [1, ...shape] : shape, data };
}

/** Alpha is kept only for inputs of 4 channels; grey becomes three equal colours and colours become grey as needed. */
function colorPlanes(pixels: Pixels, { channels, bgr }: ImageLayout): Planes {
  const { width, height, data, max } = pixels;
  const count = width * height;
  const toByte = 255 / max;
  const channel = (index: number) => {
    const plane = new Float32Array(count);
    for (let i = 0; i < count; ++i) plane[i] = (data[i * pixels.channels + index] ?? 0) * toByte;
    return plane;
  };
  const grey = pixels.channels < 3;
  if (channels === 1)
    return { width, height, planes: [grey ? channel(0) : luma(channel(0), channel(1), channel(2))] };
  const colors = grey ? Array.from({ length: 3 }, () => channel(0)) : [channel(0), channel(1), channel(2)];
  if (bgr) colors.reverse();
  if (channels === 4)
    colors.push(pixels.channels % 2 === 0 ? channel(pixels.channels - 1) : new Float32Array(count).fill(255));
  return { width, height, planes: colors };
}

function luma(red: Float32Array, green: Float32Array, blue: Float32Array): Float32Array {
  return red.map((value, i) => 0.299 * value + 0.587 * (green[i] ?? 0) + 0.114 * (blue[i] ?? 0));
}

/**
 * Bilinear with half-pixel centres: output pixel o looks at (o + 0.5) * in / out - 0.5, clamped to the image. No antialias:
 * shrinking by more than two skips pixels. This is ONNX Resize "linear", "half_pixel".
 */
export function resizeBilinear(
  plane: Float32Array,
  height: number,
  width: number,
  outHeight: number,
  outWidth: number,
): Float32Array {
  if (height === outHeight && width === outWidth) return plane;
  const columns = taps(width, outWidth);
  const rows = taps(height, outHeight);
  const out = new Float32Array(outHeight * outWidth);
  for (let y = 0; y < outHeight; ++y) {
    const [top, bottom, down] = [(rows.low[y] ?? 0) * width, (rows.high[y] ?? 0) * width, rows.share[y] ?? 0];
    for (let x = 0; x < outWidth; ++x) {
      const [left, right, along] = [columns.low[x] ?? 0, columns.high[x] ?? 0, columns.share[x] ?? 0];
      const upper = (plane[top + left] ?? 0) * (1 - along) + (plane[top + right] ?? 0) * along;
      const lower = (plane[bottom + left] ?? 0) * (1 - along) + (plane[bottom + right] ?? 0) * along;
      out[y * outWidth + x] = upper * (1 - down) + lower * down;
    }
  }
  return out;
}

/** For each output position the two input positions and the second one's share. */
function taps(size: number, outSize: number): { low: Int32Array; high: Int32Array; share: Float32Array } {
  const [low, high, share] = [new Int32Array(outSize), new Int32Array(outSize), new Float32Array(outSize)];
  for (let o = 0; o < outSize; ++o) {
    const at = Math.min(Math.max(((o + 0.5) * size) / outSize - 0.5, 0), size - 1);
    low[o] = Math.floor(at);
    high[o] = Math.min(Math.floor(at) + 1, size - 1);
    share[o] = at - Math.floor(at);
  }
  return { low, high, share };
}

/** In double, rounded to float32 once; division by 255 where the scale is 1/255, as training code writes it. */
function normalize(plane: Float32Array, { scale, mean, std }: ImageLayout, channel: number): void {
  const [center, spread] = [mean[channel] ?? 0, std[channel] ?? 1];
  const by255 = scale === 1 / 255;
  for (let i = 0; i < plane.length; ++i) {
    const value = plane[i] ?? 0;
    plane[i] = ((by255 ? value / 255 : value * scale) - center) / spread;
  }
}

interface Place {
  data: ElementArray;
  height: number;
  width: number;
  channel: number;
  layout: ImageLayout;
}

function place(plane: Float32Array, planeHeight: number, planeWidth: number, to: Place): void {
  const { data, height, width, channel, layout } = to;
  const store = layout.type === 'float32' ? (value: number) => value : integerStore(layout.type);
  const planar = layout.layout === 'nchw';
  const [base, step] = planar ? [channel * height * width, 1] : [channel, layout.channels];
  for (let y = 0; y < planeHeight; ++y) {
    for (let x = 0; x < planeWidth; ++x) {
      data[base + (y * width + x) * step] = store(plane[y * planeWidth + x] ?? 0) as never;
    }
  }
}

/** Nearest, ties to even, saturated. */
function integerStore(type: string): (value: number) => number {
  const [low, high] = type === 'int8' ? [-128, 127] : [0, 255];
  return (value) => {
    const floor = Math.floor(value);
    const rest = value - floor;
    const rounded = rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
    return Math.min(Math.max(rounded, low), high);
  };
}
