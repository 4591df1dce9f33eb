// The rows of a sweep while it runs: what was measured of each group so far.
import type { RowScore, SweepGroup } from '../../shared/protocol.js';
import type { Plan, SensitivityRow } from '../../types.js';

export class Row {
  /** Terms or a user's values, of the samples so far. */
  private readonly parts: Float64Array[] = [];
  samples = 0;
  result: RowScore = { score: null, interval: null };
  /** Taken from the results that a run goes on from. */
  resumed = false;

  constructor(
    readonly group: SweepGroup,
    readonly order: number,
    private readonly role: 'activation' | 'weight' | undefined,
  ) {}

  add(part: Float64Array, samples: number): void {
    this.parts.push(part);
    this.samples += samples;
  }

  /** Everything so far, with more of a part that isn't complete yet. */
  values(more?: Float64Array): Float64Array {
    const parts = more === undefined ? this.parts : [...this.parts, more];
    if (parts.length === 1) return parts[0]!.slice();
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
