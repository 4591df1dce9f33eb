// The switches of a part for one sample: what its session is fed so that some are on, in a run that begins behind some stages.
import type { SiteSwitch, Stages } from '../shared/protocol.js';
import type { Sample, SampleTensor } from '../types.js';
import { type Core, unwrap } from './core.js';
import { floatsOf } from './run_values.js';

export interface SwitchedSession {
  session: number;
  switches: Map<string, SiteSwitch>;
  stages: Stages;
  encodings: Record<string, string>;
  /** What is fed while all switches are off and nothing is skipped, but for inputs, whose own values do that. */
  off: Sample;
}

/** The sites that are on, and the stages that aren't run. */
export interface SwitchedRow {
  sites: string[];
  skips: number;
}

interface OnValue {
  tensor: SampleTensor;
  exact: boolean;
}

export class SampleSwitches {
  /** What is fed with everything off. */
  readonly off: Sample;
  private readonly made = new Map<string, OnValue>();
  private readonly values: Sample = {};
  /** Of what a run with everything off gave. */
  bytes = 0;

  constructor(
    private readonly core: Core,
    private readonly part: SwitchedSession,
    inputs: Sample,
  ) {
    this.off = { ...inputs, ...part.off };
  }

  /** The tensors whose values `rows` need from a run with everything off, and that weren't observed yet. */
  missing(rows: readonly SwitchedRow[]): string[] {
    const { switches, stages } = this.part;
    const addends = rows
      .flatMap(({ sites }) => sites)
      .filter((site) => switches.get(site)?.kind === 'addend' && this.off[site] === undefined);
    const behind = new Set(rows.map(({ skips }) => skips));
    const crossing = stages.borders
      .filter((_, i) => behind.has(i + 1))
      .flatMap((border) => border.crossing.map((feed) => stages.feeds[feed]!.tensor));
    return [...new Set([...addends, ...crossing])].filter((tensor) => this.values[tensor] === undefined);
  }

  /** Takes in what a run with everything off gave. */
  observe(tensors: readonly string[], given: Sample): void {
    for (const tensor of tensors) {
      const value = given[tensor]!;
      this.values[tensor] = value;
      this.bytes += value.data.byteLength;
    }
  }

  /** What to feed for a row; `exact`: whether its values could be fed exactly. */
  on({ sites, skips }: SwitchedRow): { feeds: Sample; exact: boolean } {
    const feeds = { ...this.off, ...this.startBehind(skips) };
    let exact = true;
    for (const site of sites) {
      const known = this.part.switches.get(site);
      if (known === undefined) return { feeds, exact: false };
      if (known.kind === 'values') {
        feeds[known.feed] = { type: 'float32', dims: known.dims, data: known.on };
        continue;
      }
      const made = this.activation(known);
      feeds[known.feed] = made.tensor;
      exact &&= made.exact;
    }
    return { feeds, exact };
  }

  /** What a run that skips so many stages is fed instead of them. */
  private startBehind(stages: number): Sample {
    const { start, feeds, borders } = this.part.stages;
    if (stages === 0) return {};
    const fed: Sample = { [start]: skipping(stages) };
    for (const at of borders[stages - 1]!.crossing) {
      const { tensor, feed } = feeds[at]!;
      fed[feed] = this.values[tensor]!;
    }
    return fed;
  }

  /** Lets go of what was switched on: a row runs once on a sample, so it would hardly be asked for again. */
  rest(): void {
    this.made.clear();
  }

  private activation({ tensor: name, kind }: SiteSwitch): OnValue {
    let made = this.made.get(name);
    if (made === undefined) {
      const value = this.values[name] ?? this.off[name];
      const floats = floatsOf(name, value);
      const dims = [...(value?.dims ?? [])];
      const encoding = this.part.encodings[name] ?? '';
      const { values, exact } = unwrap(this.core.switchOn(kind, floats, dims, encoding));
      made = { tensor: { type: 'float32', dims, data: values }, exact };
      this.made.set(name, made);
    }
    return made;
  }
}

export function skipping(stages: number): SampleTensor {
  return { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(stages)) };
}
