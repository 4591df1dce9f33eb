// How images become tensors. What isn't given comes from the input's shape, or from the defaults below, which are said.
import { HalftoneError } from '../shared/errors.js';
import type { ValueInfo } from '../types.js';

export interface ImageOptions {
  /** Height and width in pixels. Default: the input's, else each image's own. */
  size?: [height: number, width: number];
  /** 'stretch' fills the size; 'pad' keeps the proportions, fills from the top left, and leaves zeros right and below. */
  fit?: 'stretch' | 'pad';
  /** Default: where the input has 1, 3 or 4 channels. */
  layout?: 'nchw' | 'nhwc';
  /** Order of colours. One channel is always grey: 0.299 R + 0.587 G + 0.114 B. */
  color?: 'rgb' | 'bgr';
  /** A pixel v from 0 to 255 becomes (v * scale - mean) / std. Default: 1/255, 0 and 1 for float inputs, 1, 0 and 1 for integers. */
  scale?: number;
  /** One number, or one for each channel in the order of `color`. */
  mean?: number[];
  std?: number[];
}

/** Options as they apply to one input. Height and width are null where each image keeps its own. */
export interface ImageLayout {
  height: number | null;
  width: number | null;
  channels: number;
  fit: 'stretch' | 'pad';
  layout: 'nchw' | 'nhwc';
  /** False for inputs of rank 3. */
  batch: boolean;
  bgr: boolean;
  scale: number;
  mean: number[];
  std: number[];
  type: string;
}

const IMAGE_TYPES = new Set(['float32', 'uint8', 'int8']);

export function takesImages(input: ValueInfo): boolean {
  return (
    IMAGE_TYPES.has(input.type) &&
    (input.shape === null || input.shape.length === 4 || input.shape.length === 3)
  );
}

/** Errors: invalid_sample if the options don't fit the input. `where` is the first image. */
export function imageLayout(input: ValueInfo, options: ImageOptions, where: string): ImageLayout {
  const fail = (what: string): never => {
    throw new HalftoneError('invalid_sample', what, {
      where,
      next: 'Give other image options, or samples as .npy files.',
    });
  };
  const batch = input.shape?.length !== 3;
  const dims = batch ? (input.shape ?? [null, null, null, null]).slice(1) : (input.shape ?? []);
  const layout = options.layout ?? guessLayout(dims);
  const [channelDim, heightDim, widthDim] = layout === 'nchw' ? dims : [dims[2], dims[0], dims[1]];
  const channels = typeof channelDim === 'number' ? channelDim : 3;
  if (![1, 3, 4].includes(channels))
    fail(`Input ${JSON.stringify(input.name)} has ${channels} channels, and images have 1, 3 or 4.`);
  const fixed = (dim: unknown) => (typeof dim === 'number' ? dim : null);
  const [height, width] = [options.size?.[0] ?? fixed(heightDim), options.size?.[1] ?? fixed(widthDim)];
  if ((fixed(heightDim) ?? height) !== height || (fixed(widthDim) ?? width) !== width) {
    fail(
      `Input ${JSON.stringify(input.name)} needs images of ${heightDim}x${widthDim}, not ${height}x${width}.`,
    );
  }
  return {
    height,
    width,
    channels,
    layout,
    batch,
    fit: options.fit ?? 'stretch',
    bgr: options.color === 'bgr',
    scale: options.scale ?? (input.type === 'float32' ? 1 / 255 : 1),
    mean: eachChannel(options.mean, 0, channels, 'mean', fail),
    std: eachChannel(options.std, 1, channels, 'std', fail),
    type: input.type,
  };
}

/** Channels first, unless only the last dimension can be channels, or it is 3 and the first isn't. */
function guessLayout(dims: readonly (number | string | null)[]): 'nchw' | 'nhwc' {
  const isChannels = (dim: unknown) => dim === 1 || dim === 3 || dim === 4;
  const onlyLast = !isChannels(dims[0]) || (dims[2] === 3 && dims[0] !== 3);
  return onlyLast && isChannels(dims[2]) ? 'nhwc' : 'nchw';
}

function eachChannel(
  given: number[] | undefined,
  none: number,
  channels: number,
  name: string,
  fail: (what: string) => never,
): number[] {
  const values = given ?? [none];
  if (values.length !== 1 && values.length !== channels)
    fail(`${values.length} values of ${name} don't fit ${channels} channels.`);
  if (!values.every(Number.isFinite) || (name === 'std' && values.includes(0)))
    fail(`The image option ${name} has a value that can't be used.`);
  return Array.from({ length: channels }, (_, i) => (values.length === 1 ? values[0] : values[i]) as number);
}

/** One line for people: what happens to an image. */
export function describeLayout(layout: ImageLayout): string {
  const size =
    layout.height === null || layout.width === null
      ? 'own size'
      : `${layout.height}x${layout.width} ${layout.fit}`;
  const colors = layout.channels === 1 ? 'grey' : layout.bgr ? 'BGR' : 'RGB';
  const list = (values: number[]) => (new Set(values).size === 1 ? `${values[0]}` : `[${values.join(', ')}]`);
  const scale = layout.scale === 1 / 255 ? '/ 255' : `* ${layout.scale}`;
  return `${size}, ${layout.layout.toUpperCase()}, ${colors}, (v ${scale} - ${list(layout.mean)}) / ${list(layout.std)}`;
}
