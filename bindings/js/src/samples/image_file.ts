// An image among the sample files: looked at when the set is made, decoded when the sample is loaded.

import type { SampleTensor } from '../types.js';
import { decodeImage, ImageError, imageKind, jpegOrientation } from './image_decode.js';
import type { ImageLayout } from './image_options.js';
import { imageTensor } from './image_tensor.js';
import type { Notices } from './notices.js';
import { invalidSample } from './sample_error.js';
import { readWhole, type SampleFile } from './source.js';

/** EXIF data and the PNG header stand at the beginning. */
const HEAD_BYTES = 1 << 16;
const PNG_COLOR_TYPE = 25;
const NEXT = 'Save it again as an 8-bit PNG.';

export interface ImageFile {
  readonly file: string;
  load(layout: ImageLayout): Promise<SampleTensor>;
  /** Says what of this image is ignored under that layout. */
  remark(layout: ImageLayout, notices: Notices): void;
}

/** Errors: invalid_sample if it is no image. */
export async function openImage(file: SampleFile): Promise<ImageFile> {
  const head = await file.slice(0, Math.min(HEAD_BYTES, file.size));
  const kind = imageKind(head);
  if (kind === null) throw invalidSample(`${file.name} is neither PNG nor JPEG.`, file.name, NEXT);
  const turned = jpegOrientation(head) !== 1;
  const alpha = kind === 'png' && ((head[PNG_COLOR_TYPE] ?? 0) & 4) !== 0;
  return {
    file: file.name,
    load: (layout) => loadImage(file, layout),
    remark: (layout, notices) => {
      if (turned)
        notices.add('orientation_ignored', 'carries an EXIF orientation, which is ignored', file.name);
      if (alpha && layout.channels !== 4)
        notices.add('alpha_ignored', 'has an alpha channel, which is ignored', file.name);
    },
  };
}

async function loadImage(file: SampleFile, layout: ImageLayout): Promise<SampleTensor> {
  const bytes = await readWhole(file);
  try {
    const { dims, data } = imageTensor(decodeImage(bytes), layout);
    return { type: layout.type, dims, data };
  } catch (error) {
    if (error instanceof ImageError) throw invalidSample(`${file.name} ${error.message}.`, file.name, NEXT);
    throw error;
  }
}
