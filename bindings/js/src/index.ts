// The package's surface.
export { compare } from './client/compare.js';
export { createEngine, open } from './client/engine.js';
export type { Engine, EngineAssets, EngineInfo, EngineOptions, OpenOptions } from './client/engine_types.js';
export type { ReportData, ReportPrediction } from './report/report_data.js';
export { reportHtml } from './report/report_html.js';
export type { ImageOptions, InputInfo, NamedSource, RandomOptions } from './samples/index.js';
export { isSampleName, openPaths, randomSamples, readSamples } from './samples/index.js';
export { npyHeader } from './samples/npy.js';
export { ERROR_CODES, HalftoneError } from './shared/errors.js';
export { comparisonCsv, usualFormats } from './shared/format_choices.js';
export { beyond, inDecibels, metricTitle } from './shared/metric_text.js';
export { withFront } from './shared/pareto_front.js';
export { csvFile, jsonFile, sensitivityCsv } from './shared/result_files.js';
export type { RunMode } from './shared/session_options.js';
export type * from './types.js';
