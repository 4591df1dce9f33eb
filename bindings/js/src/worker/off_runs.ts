// Runs of parts with everything off. What they gave is kept as long as there is room, so that a sample is run so once and not
// again before every few rows.
import type { Sample } from '../types.js';
import type { SampleSwitches, SwitchedRow, SwitchedSession } from './sample_switches.js';

/** Of one worker. */
export const KEPT_BYTES = 128 * 2 ** 20;

interface KeptPart {
  samples: Map<number, SampleSwitches>;
  /** Of what its runs gave. */
  given: { tensors: number; bytes: number };
}

export class OffRuns {
  private readonly parts = new Map<SwitchedSession, KeptPart>();
  private room: number;

  constructor(room = KEPT_BYTES) {
    this.room = room;
  }

  /** The sample's switches, if it was run with everything off and that is kept. */
  find(part: SwitchedSession, sample: number): SampleSwitches | undefined {
    return this.parts.get(part)?.samples.get(sample);
  }

  /**
   * What a run should give that is made because `missing` is: as much as any row of the part may need, if what is known of its
   * tensors' sizes says that there is room for it.
   */
  wanted(part: SwitchedSession, switches: SampleSwitches, missing: string[]): string[] {
    const given = this.parts.get(part)?.given;
    if (given === undefined || given.tensors === 0) return missing;
    const all = switches.missing(everyRow(part));
    return (given.bytes / given.tensors) * all.length <= this.room ? all : missing;
  }

  /** Takes in what a run gave, and keeps it if it fits. */
  observe(
    part: SwitchedSession,
    sample: number,
    switches: SampleSwitches,
    tensors: readonly string[],
    given: Sample,
  ): void {
    const kept = this.parts.get(part) ?? { samples: new Map(), given: { tensors: 0, bytes: 0 } };
    this.parts.set(part, kept);
    if (kept.samples.delete(sample)) this.room += switches.bytes;
    const before = switches.bytes;
    switches.observe(tensors, given);
    kept.given.tensors += tensors.length;
    kept.given.bytes += switches.bytes - before;
    if (switches.bytes > this.room) return;
    kept.samples.set(sample, switches);
    this.room -= switches.bytes;
  }

  /** When its session is closed. */
  drop(part: SwitchedSession): void {
    for (const { bytes } of this.parts.get(part)?.samples.values() ?? []) this.room += bytes;
    this.parts.delete(part);
  }

  /** When samples are. */
  clear(): void {
    for (const part of [...this.parts.keys()]) this.drop(part);
  }
}

function everyRow({ switches, stages }: SwitchedSession): SwitchedRow[] {
  const sites = [...switches.keys()];
  return [{ sites, skips: 0 }, ...stages.borders.map((_, i) => ({ sites: [], skips: i + 1 }))];
}
