// The package's surface.
export { compare } from './client/compare.js';
export { createEngine, open } from './client/engine.js';
export type { Engine, EngineAssets, EngineInfo, EngineOptions, OpenOptions } from './client/engine_types.js';
export { ERROR_CODES, HalftoneError } from './shared/errors.js';
export type { RunMode } from './shared/session_options.js';
export { encodingsJson, jsonText, planJson, sensitivityCsv, sensitivityJson } from './shared/files.js';
export type * from './types.js';
