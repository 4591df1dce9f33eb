// The rows of a sweep while it runs: what was measured of each group so far.
import type { RowScore, SweepGroup } from '../../shared/protocol.js';
import type { Plan, SensitivityRow } from '../../types.js';

export class Row {
  /** Terms or a user's values, by sample. */
  private readonly parts = new Map<number, Float64Array>();
  result: RowScore = { score: null, interval: null };
  /** Samples that `result` is of: fewer than were measured, while a score is being made. */
  scoredSamples = 0;
  /** Taken from the results that a run goes on from, which are of this many samples. */
  resumed = 0;

  constructor(
    readonly group: SweepGroup,
    readonly order: number,
    private readonly role: 'activation' | 'weight' | undefined,
  ) {}

  /** How many samples the row is of so far. */
  get samples(): number {
    return this.resumed > 0 ? this.resumed : this.parts.size;
  }

  has(sample: number): boolean {
    return this.resumed > 0 || this.parts.has(sample);
  }

  /** What was measured on these samples, each in an equal part of `values`. */
  add(samples: readonly number[], values: Float64Array): void {
    const each = values.length / samples.length;
    for (const [i, sample] of samples.entries())
      this.parts.set(sample, values.subarray(i * each, (i + 1) * each));
  }

  /** Of some samples or all so far, in the order of samples, whatever order they were measured in. */
  values(of: readonly number[] = [...this.parts.keys()]): Float64Array {
    const parts = [...of].sort((a, b) => a - b).map((sample) => this.parts.get(sample)!);
    const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  }

  /** As a caller sees it. */
  public(result: RowScore = this.result, samples: number = this.samples): SensitivityRow {
    const { key, sites } = this.group;
    const row: SensitivityRow = {
      name: key,
      score: result.score ?? Number.NaN,
      sites: [...sites],
      order: this.order,
      interval: result.interval,
      samples,
    };
    return this.role === undefined ? row : { ...row, role: this.role };
  }
}

export function rowsOf(groups: SweepGroup[], plan: Plan, byQuantizer: boolean): Row[] {
  const roles = new Map(plan.sites.map((site) => [site.tensor, site.role]));
  return groups.map((group, order) => {
    const role = byQuantizer ? roles.get(group.sites[0] ?? '') : undefined;
    return new Row(group, order, role === 'bias' ? undefined : role);
  });
}
