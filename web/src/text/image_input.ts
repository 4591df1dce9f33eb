// Whether a model takes pictures, and how. What a person sees before correcting it; the readers refuse what doesn't fit.

import type { ImageOptions } from '../engine/bench';
import type { ValueInfo } from '../package';

type Dim = number | string | null | undefined;

/** The first input that has the shape of a picture: rank 4 with one, three or four channels in second or last place. */
export function imageInput(inputs: readonly ValueInfo[]): ValueInfo | null {
  return inputs.find((input) => layoutOf(input) !== null) ?? null;
}

function layoutOf(input: ValueInfo): 'nchw' | 'nhwc' | null {
  if (input.shape?.length !== 4) return null;
  if (isChannels(input.shape[1])) return 'nchw';
  return isChannels(input.shape[3]) ? 'nhwc' : null;
}

function isChannels(dim: Dim): boolean {
  return dim === 1 || dim === 3 || dim === 4;
}

/** Every option with its default said. A size that the input leaves open stays open: each image then keeps its own. */
export function guessImageOptions(inputs: readonly ValueInfo[]): ImageOptions | null {
  const input = imageInput(inputs);
  const layout = input === null ? null : layoutOf(input);
  if (input?.shape == null || layout === null) return null;
  const [height, width] = layout === 'nchw' ? input.shape.slice(2) : input.shape.slice(1);
  const scale = input.type === 'float32' ? 1 / 255 : 1;
  const guess: ImageOptions = { fit: 'stretch', layout, color: 'rgb', scale, mean: [0], std: [1] };
  if (typeof height === 'number' && typeof width === 'number') guess.size = [height, width];
  return guess;
}
