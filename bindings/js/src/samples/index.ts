// Samples: files of many formats, and made-up ones, as sets that calibration and scoring read.
export type { InputInfo } from './assign.js';
export { isSampleName } from './file_names.js';
export type { ImageOptions } from './image_options.js';
export { type RandomOptions, randomSamples } from './random.js';
export { readSamples } from './read_samples.js';
export { openPaths } from './sample_paths.js';
export type { NamedSource } from './source.js';
