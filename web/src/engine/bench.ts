// What the page asks of the package. The page talks to this interface only, so that its own logic can be tested
// without a worker; src/engine/halftone.ts is the one that ships.
import type { GraphLayout, LayoutRequest } from '../graph/layout';
import type {
  Encodings,
  Engine,
  Model,
  Plan,
  Progress,
  Sample,
  SampleSet,
  SensitivityResults,
  ValueInfo,
} from '../package';

/** How pictures become tensors: a pixel v becomes (v * scale - mean) / std. As the package's readers take it, all fields said. */
export interface ImageOptions {
  /** Left out: each image keeps its own size. */
  size?: [height: number, width: number];
  fit: 'stretch' | 'pad';
  layout: 'nchw' | 'nhwc';
  color: 'rgb' | 'bgr';
  scale: number;
  mean: number[];
  std: number[];
}

/** A file with the folder that it came in, if any: "digits/sample_0.npy". Files of one folder belong together. */
export interface PathFile {
  readonly path: string;
  readonly file: File;
}

export interface OpenRequest {
  externalData: readonly PathFile[];
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
}

/** A bundled sample: what is known before anything of it is fetched. */
export interface BundledSample {
  id: string;
  title: string;
  what: string;
  modelBytes: number;
  sampleBytes: number;
  sampleCount: number;
  sampleKind: string;
  /** Names of the classes, for a classifier. */
  labels: readonly string[] | null;
}

/** A bundled sample, fetched from this origin. */
export interface FetchedSample {
  model: File;
  samples: PathFile[];
  image: ImageOptions | null;
}

/** What the footer, error details and saved models say. */
export interface Build {
  version: string;
  commit: string;
}

export interface Bench {
  readonly bundled: readonly BundledSample[];
  /** Starts worker and core ahead of need, and says which core it is. */
  warm(): Promise<Build>;
  /** Loads all that a run needs, so that runs afterwards request nothing. */
  prepare(): Promise<void>;
  open(model: File, request: OpenRequest): Promise<Model>;
  fetchSample(id: string, signal: AbortSignal): Promise<FetchedSample>;
  readSamples(
    files: readonly PathFile[],
    inputs: readonly ValueInfo[],
    image: ImageOptions | null,
  ): Promise<SampleSet>;
  randomSamples(inputs: readonly ValueInfo[], count: number, seed: number): Promise<SampleSet>;
  /** Outputs of the quantized model for each sample in turn, run as a runtime does by default. */
  runDeployed(model: Blob, name: string, samples: SampleSet, signal: AbortSignal): AsyncIterable<Sample>;
  /** The files exactly as the command line writes them. */
  readonly write: {
    plan(plan: Plan): string;
    encodings(encodings: Encodings): string;
    sensitivity(results: SensitivityResults): string;
    sensitivityCsv(results: SensitivityResults): string;
  };
  /** Places of boxes and lines. Aborting gives the computation up. */
  layOut(request: LayoutRequest, signal: AbortSignal): Promise<GraphLayout>;
  /** Number formats of tensors. */
  readonly formats: Pick<Engine, 'formats' | 'compareFormats' | 'encodeTensor'>;
  /** Handles that the core holds right now. */
  liveObjects(): Promise<number>;
}
