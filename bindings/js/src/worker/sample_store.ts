// Samples and float outputs that a worker keeps between runs, up to a limit each.
import { HalftoneError } from '../shared/errors.js';
import { CUT_BUDGET_BYTES, type SampleRef } from '../shared/protocol.js';
import type { Sample } from '../types.js';

const SAMPLE_LIMIT_BYTES = 64 * 2 ** 20;
const REFERENCE_LIMIT_BYTES = 64 * 2 ** 20;

class LimitedMap<K, T> {
  private readonly entries = new Map<K, T>();
  private bytes = 0;

  constructor(private readonly limit: number) {}

  /** False if there is no room; then it isn't kept. */
  put(key: K, entry: T, bytes: number): boolean {
    if (this.bytes + bytes > this.limit) return false;
    this.entries.set(key, entry);
    this.bytes += bytes;
    return true;
  }

  get(key: K): T | undefined {
    return this.entries.get(key);
  }

  clear(): void {
    this.entries.clear();
    this.bytes = 0;
  }
}

export class SampleStore {
  private readonly samples = new LimitedMap<number, Sample>(SAMPLE_LIMIT_BYTES);
  private readonly references = new LimitedMap<number, Float32Array[]>(REFERENCE_LIMIT_BYTES);

  private readonly crossings = new LimitedMap<string, Sample>(CUT_BUDGET_BYTES);

  keepSample(index: number, sample: Sample): boolean {
    return this.samples.put(index, sample, bytesOf(sample));
  }

  /** The values that cross a cut for a sample; their bytes, or null if there is no room. */
  keepCrossing(cut: number, index: number, values: Sample): number | null {
    const bytes = bytesOf(values);
    return this.crossings.put(`${cut}/${index}`, values, bytes) ? bytes : null;
  }

  /** What a session is fed for a sample: the sample itself, or what crosses the cut that the session lies behind. */
  inputsOf(sample: SampleRef, cut: number | null): Sample {
    if (cut === null) return this.tensorsOf(sample);
    const values = this.crossings.get(`${cut}/${sample.index}`);
    if (values !== undefined) return values;
    throw new HalftoneError('internal', `The values at cut ${cut} of sample ${sample.name} are missing.`);
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
    this.crossings.clear();
  }
}

function bytesOf(sample: Sample): number {
  return Object.values(sample).reduce((sum, tensor) => sum + tensor.data.byteLength, 0);
}
