// What a results file says about what it was made from, so that parts of different runs are never joined: SHA-256 of the plan,
// the encodings, and the samples in their order.
import type { Encodings, Plan, Sample, SampleSet } from '../../types.js';
import type { Connection } from '../connection.js';

export interface Identity {
  plan_sha256: string;
  encodings_sha256: string;
  samples_sha256: string;
}

export class SampleDigests {
  private readonly digests: (Promise<string> | undefined)[] = [];

  constructor(private readonly core: Connection) {}

  /** Before the sample's buffers are handed over. A sample is hashed once, whoever loads it. */
  async see(index: number, sample: Sample): Promise<void> {
    if (this.digests[index] !== undefined) return;
    const parts: BlobPart[] = [];
    for (const [name, { type, dims, data }] of Object.entries(sample)) {
      parts.push(JSON.stringify([name, type, dims]), data as ArrayBufferView<ArrayBuffer>);
    }
    this.digests[index] = this.core.call('hash', { source: new Blob(parts) });
  }

  /** What no run needed, because every row was known already. */
  async seeRest(samples: SampleSet): Promise<void> {
    for (let i = 0; i < samples.count; ++i)
      if (this.digests[i] === undefined) await this.see(i, await samples.load(i));
  }

  /** Of the samples that were seen. */
  async all(): Promise<string> {
    return textHash(this.core, (await Promise.all(this.digests)).join('\n'));
  }
}

export async function identityOf(
  core: Connection,
  plan: Plan,
  encodings: Encodings,
  samples: SampleDigests,
): Promise<Identity> {
  const [plan_sha256, encodings_sha256, samples_sha256] = await Promise.all([
    textHash(core, JSON.stringify(plan)),
    textHash(core, JSON.stringify(encodings)),
    samples.all(),
  ]);
  return { plan_sha256, encodings_sha256, samples_sha256 };
}

function textHash(core: Connection, text: string): Promise<string> {
  return core.call('hash', { source: new Blob([text]) });
}
