// Samples and float outputs that a worker keeps between runs, up to a limit each.
import { HalftoneError } from '../shared/errors.js';
import type { SampleRef } from '../shared/protocol.js';
import type { Sample } from '../types.js';

const SAMPLE_LIMIT_BYTES = 64 * 2 ** 20;
const REFERENCE_LIMIT_BYTES = 64 * 2 ** 20;

class LimitedMap<T> {
  private readonly entries = new Map<number, T>();
  private bytes = 0;

  constructor(private readonly limit: number) {}

  /** False if there is no room; then it isn't kept. */
  put(key: number, entry: T, bytes: number): boolean {
    if (this.bytes + bytes > this.limit) return false;
    this.entries.set(key, entry);
    this.bytes += bytes;
    return true;
  }

  get(key: number): T | undefined {
    return this.entries.get(key);
  }

  clear(): void {
    this.entries.clear();
    this.bytes = 0;
  }
}

export class SampleStore {
  private readonly samples = new LimitedMap<Sample>(SAMPLE_LIMIT_BYTES);
  private readonly references = new LimitedMap<Float32Array[]>(REFERENCE_LIMIT_BYTES);

  keepSample(index: number, sample: Sample): boolean {
    const bytes = Object.values(sample).reduce((sum, tensor) => sum + tensor.data.byteLength, 0);
    return this.samples.put(index, sample, bytes);
  }

  tensorsOf(sample: SampleRef): Sample {
    const tensors = sample.tensors ?? this.samples.get(sample.index);
    if (tensors === undefined) {
      throw new HalftoneError('internal', `Sample ${sample.name} isn't in the worker.`, {
        where: sample.name,
      });
    }
    return tensors;
  }

  keepReference(index: number, outputs: Float32Array[]): boolean {
    const bytes = outputs.reduce((sum, output) => sum + output.byteLength, 0);
    return this.references.put(index, outputs, bytes);
  }

  reference(index: number): Float32Array[] | undefined {
    return this.references.get(index);
  }

  clear(): void {
    this.samples.clear();
    this.references.clear();
  }
}
