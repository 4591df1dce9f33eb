// How a sweep divides its rows: one session serves the quantizers of a part, and its model has stages, of which a run skips those
// in front of the quantizers that it switches on.
import type { SiteSwitch, Skeleton, Stages, SweepInfo } from '../../../shared/protocol.js';
import type { Connection } from '../../connection.js';
import type { Row } from '../rows.js';

export interface Part {
  rows: Row[];
  /** The cuts of the sweep that stages should end at. */
  stages: number[];
}

/** Measured on the float model, in milliseconds. */
export interface RunPrices {
  create: number;
  run: number;
}

/** What a run takes for each switch that it leaves off, and for each stage that it doesn't skip. */
const SWITCH_MS = 0.003;
const STAGE_MS = 0.012;

/**
 * How many parts pay for a worker that makes `runs` runs of `samples` samples: a run of a part is fed all its switches, and each
 * part costs a session, and each sample once with everything off.
 */
export function bestPartCount(
  prices: RunPrices,
  switches: number,
  { runs, samples }: { runs: number; samples: number },
): number {
  const each = prices.create + samples * prices.run;
  return Math.max(1, Math.round(Math.sqrt((runs * switches * SWITCH_MS) / Math.max(each, 0.1))));
}

/** How many borders pay: n of them leave 1 / 2n of the whole to be run for nothing, and half of the stages are run. */
export function bestBorderCount({ run }: RunPrices): number {
  return Math.round(Math.sqrt(run / STAGE_MS));
}

/** Rows that begin behind neighbouring cuts, about as many in each part, and the borders where they begin. */
export function partsOf(rows: readonly Row[], { cutOf }: SweepInfo, count: number, borders: number): Part[] {
  const cut = (row: Row) => cutOf[row.order] ?? -1;
  const ordered = [...rows].sort((a, b) => cut(a) - cut(b) || a.order - b.order);
  const parts: Part[] = pieces(ordered, count, cut).map((some) => ({ rows: some, stages: [] }));
  for (const part of parts) {
    const begins = pieces(part.rows, Math.ceil((borders + 1) / parts.length), cut).map(([row]) => cut(row!));
    part.stages = begins.filter((one) => one >= 0);
  }
  return parts;
}

/** About `count` pieces of equal size, of which none begins among rows of the same cut. */
function pieces(ordered: readonly Row[], count: number, cut: (row: Row) => number): Row[][] {
  const each = ordered.length / count;
  const made: Row[][] = [];
  for (const [i, row] of ordered.entries()) {
    const fresh = i === 0 || cut(row) !== cut(ordered[i - 1]!);
    if (i === 0 || (fresh && i + 0.5 > made.length * each)) made.push([]);
    made.at(-1)!.push(row);
  }
  return made;
}

/**
 * What is left to try for a part that doesn't give the float outputs, because a runtime joins operators across a border: the more
 * tensors cross there the likelier. null: nothing is left.
 */
export function withFewerStages(part: Part, { cuts }: SweepInfo): Part | null {
  if (part.stages.length === 0) return null;
  const single = part.stages.filter((cut) => cuts[cut]!.length === 1);
  return { ...part, stages: single.length < part.stages.length ? single : [] };
}

export type SwitchedSkeleton = Skeleton & { switches: SiteSwitch[] } & Stages;

/** The models of parts, from the core, each asked for once. */
export class PartModels {
  private readonly known = new Map<Part, Promise<SwitchedSkeleton>>();

  constructor(
    private readonly core: Connection,
    private readonly sweep: number,
    private readonly signal: AbortSignal | undefined,
  ) {}

  get(part: Part): Promise<SwitchedSkeleton> {
    let asked = this.known.get(part);
    if (asked === undefined) {
      asked = this.ask(part);
      // Heard by whoever awaits it; if nobody does, the sweep has ended anyway.
      asked.catch(() => {});
      this.known.set(part, asked);
    }
    return asked;
  }

  /** For parts that are given up: a model holds its switches' values. */
  forget(part: Part): void {
    this.known.delete(part);
  }

  private ask({ rows, stages }: Part): Promise<SwitchedSkeleton> {
    const { signal } = this;
    const groups = rows.map((row) => row.order);
    return this.core.call('sweep.switched', { sweep: this.sweep, groups, stages }, { signal });
  }
}
