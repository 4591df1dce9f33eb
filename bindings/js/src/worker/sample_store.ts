// Samples, outputs and what crosses cuts, kept in a worker between runs. The client bounds how much that is
// (client/sweep/block.ts).
import { HalftoneError } from '../shared/errors.js';
import type { Reference, SampleRef } from '../shared/protocol.js';
import type { Sample, SampleTensor } from '../types.js';

export class SampleStore {
  private readonly samples = new Map<number, Sample>();
  private readonly references = new Map<string, SampleTensor[]>();
  private readonly crossings = new Map<string, Sample>();

  keepSample(index: number, sample: Sample): void {
    this.samples.set(index, sample);
  }

  /** The values that cross a cut for a sample; their bytes. */
  keepCrossing(cut: number, index: number, values: Sample): number {
    this.crossings.set(`${cut}/${index}`, values);
    return bytesOf(Object.values(values));
  }

  forgetCrossing(cut: number): void {
    for (const key of this.crossings.keys()) if (key.startsWith(`${cut}/`)) this.crossings.delete(key);
  }

  /** What a session is fed for a sample: the sample itself, or what crosses the cut that the session lies behind. */
  inputsOf(sample: SampleRef, cut: number | null): Sample {
    if (cut === null) return this.tensorsOf(sample);
    const values = this.crossings.get(`${cut}/${sample.index}`);
    if (values !== undefined) return values;
    throw new HalftoneError('internal', `The values at cut ${cut} of sample ${sample.name} are missing.`);
  }

  keepReference(which: Reference, index: number, outputs: SampleTensor[]): number {
    this.references.set(`${which}/${index}`, outputs);
    return bytesOf(outputs);
  }

  reference(which: Reference, sample: SampleRef): SampleTensor[] {
    const kept = this.references.get(`${which}/${sample.index}`);
    if (kept !== undefined) return kept;
    throw new HalftoneError('internal', `The ${which} outputs of sample ${sample.name} are missing.`);
  }

  clear(): void {
    this.samples.clear();
    this.references.clear();
    this.crossings.clear();
  }

  private tensorsOf(sample: SampleRef): Sample {
    const tensors = sample.tensors ?? this.samples.get(sample.index);
    if (tensors !== undefined) return tensors;
    throw new HalftoneError('internal', `Sample ${sample.name} isn't in the worker.`, {
      where: sample.name,
    });
  }
}

function bytesOf(tensors: SampleTensor[]): number {
  return tensors.reduce((sum, tensor) => sum + tensor.data.byteLength, 0);
}
