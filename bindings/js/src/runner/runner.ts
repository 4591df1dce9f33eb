// What runs models. The core never does; a worker has one of these.
import type { RunMode } from '../shared/session_options.js';
import type { Sample, SampleTensor } from '../types.js';

export interface RunnerSession {
  readonly inputs: { name: string; type: string; shape: (number | string)[] }[];
  readonly outputs: { name: string; type: string }[];
  readonly outputNames: ReadonlySet<string>;
  /** Values of the named outputs, in buffers of their own. */
  run(sample: Sample, outputs: readonly string[]): Promise<Record<string, SampleTensor>>;
  release(): Promise<void>;
}

/** A file's bytes under the path that a skeleton's references say. */
export interface ExternalBytes {
  path: string;
  data: Uint8Array;
}

export interface Runner {
  create(model: Uint8Array, external: ExternalBytes[], mode: RunMode): Promise<RunnerSession>;
}
