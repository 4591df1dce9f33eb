// Brings samples to workers: for one use, or to be kept for as long as a sweep works on them.
import { HalftoneError } from '../shared/errors.js';
import type { SampleRef } from '../shared/protocol.js';
import type { Sample, SampleSet, ValueInfo } from '../types.js';
import { checkSample } from './check_sample.js';
import type { CallOptions, Connection } from './connection.js';

export function requireSamples(samples: SampleSet): void {
  if (samples.count < 1) {
    throw new HalftoneError('invalid_sample', 'There are no samples.', {
      next: 'Give at least one sample of real input.',
    });
  }
}

export class SampleFeed {
  constructor(
    private readonly worker: Connection,
    private readonly samples: SampleSet,
    private readonly inputs: readonly ValueInfo[],
  ) {}

  /** For samples that are used once. */
  async once(index: number): Promise<{ sample: SampleRef; transfer: ArrayBuffer[] }> {
    const tensors = await this.samples.load(index);
    checkSample(this.inputs, tensors, this.samples.name(index));
    const { sample, transfer } = movable(tensors);
    return { sample: { index, name: this.samples.name(index), tensors: sample }, transfer };
  }

  /** Puts a sample into the worker, until it is reset; its bytes. `seen` sees it before it is handed over. */
  async keep(
    index: number,
    options: CallOptions,
    seen: (sample: Sample) => Promise<void>,
  ): Promise<{ sample: SampleRef; bytes: number }> {
    const loaded = await this.once(index);
    const tensors = loaded.sample.tensors!;
    await seen(tensors);
    const bytes = Object.values(tensors).reduce((sum, tensor) => sum + tensor.data.byteLength, 0);
    await this.worker.call('sample.put', { index, tensors }, { ...options, transfer: loaded.transfer });
    return { sample: { index, name: this.samples.name(index) }, bytes };
  }
}

/**
 * Buffers that a tensor fills alone are handed over; a view of a part of a buffer is copied, since the rest of it may be
 * another sample.
 */
export function movable(sample: Sample): { sample: Sample; transfer: ArrayBuffer[] } {
  const transfer = new Set<ArrayBuffer>();
  const moved: Sample = {};
  for (const [name, tensor] of Object.entries(sample)) {
    const { data } = tensor;
    const alone = data.buffer instanceof ArrayBuffer && data.byteLength === data.buffer.byteLength;
    const own = alone && !transfer.has(data.buffer as ArrayBuffer) ? data : copyOf(data);
    transfer.add(own.buffer as ArrayBuffer);
    moved[name] = { type: tensor.type, dims: [...tensor.dims], data: own };
  }
  return { sample: moved, transfer: [...transfer] };
}

function copyOf(view: ArrayBufferView): ArrayBufferView {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength).slice();
  if (view instanceof DataView) return new DataView(bytes.buffer);
  const Kind = view.constructor as new (buffer: ArrayBuffer) => ArrayBufferView;
  return new Kind(bytes.buffer);
}
