// Which cuts of a sweep may be used. Behind a cut only what a group can change runs again, from values that were kept. A runtime optimises a part of a graph differently from the whole, so each cut is tried first with what variants
// differ from by their group only (the float model, or the simulated one): it is used only if it gives the outputs of the whole
// model bit for bit, for every sample that is loaded. Cuts therefore change the time
// of a sweep, and never its numbers.
import { asHalftoneError } from '../../shared/errors.js';

export class ProvenCuts {
  private readonly proofs: Promise<boolean>[] = [];

  constructor(private readonly count: number) {}

  /** Proves the cuts that no other lane took on. A cut that the runtime refuses isn't usable; a cancel ends all. */
  async prove(attempt: (cut: number) => Promise<boolean>): Promise<void> {
    while (this.proofs.length < this.count) {
      const proof = attempt(this.proofs.length).catch((thrown) => {
        const error = asHalftoneError(thrown);
        if (error.code === 'cancelled') throw error;
        return false;
      });
      proof.catch(() => {});
      this.proofs.push(proof);
      await proof;
    }
  }

  /** The last usable cut that is `wanted` or in front of it; null for the whole model. */
  async usable(wanted: number, kept: ReadonlySet<number>): Promise<number | null> {
    for (let cut = wanted; cut >= 0; cut--) {
      if (kept.has(cut) && (await this.proofs[cut]) === true) return cut;
    }
    return null;
  }
}
