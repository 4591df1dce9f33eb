// Which parts of a model a sweep switches quantizers in: each lies behind a cut, and one session of it serves all quantizers up
// to the next cut. More parts make runs shorter, and each costs a session.
import type { SiteSwitch, Skeleton, SweepInfo } from '../../../shared/protocol.js';
import type { ModelHandle } from '../../model.js';
import type { Row } from '../rows.js';

export interface Part {
  /** Of the sweep; null: the whole model. */
  cut: number | null;
  /** What it is fed crosses no cut: these are the model's own inputs. The first part is always of this kind. */
  front: boolean;
  rows: Row[];
}

/** What was measured before it is known which parts pay. */
export interface RunPrices {
  /** Of a session of the whole model. */
  createMs: number;
  /** Of a run of it. */
  runMs: number;
}

/**
 * How many parts pay for a worker that makes `runs` runs of `samples` samples, which without a cut would be of the whole model: n
 * parts, with rows spread evenly over them, take (runs + n * samples) * (1/2 + 1/2n) * runMs + n * createMs, as each runs every
 * sample once with everything off.
 */
export function bestPartCount({ createMs, runMs }: RunPrices, runs: number, samples: number): number {
  const each = 2 * createMs + samples * runMs;
  return Math.max(1, Math.round(Math.sqrt((runs * runMs) / Math.max(each, 0.1))));
}

/**
 * About `count` parts of the rows, cut where about the same number of rows lies between, and never where more than `most`
 * tensors cross. `inputs`: of the model.
 */
export function partsOf(
  rows: readonly Row[],
  { cutOf, cuts }: SweepInfo,
  count: number,
  inputs: ReadonlySet<string>,
  most = Number.POSITIVE_INFINITY,
): Part[] {
  const first = cuts[0]?.every((tensor) => inputs.has(tensor)) ? 0 : null;
  const byCut = new Map<number, Row[]>();
  for (const row of rows) {
    let cut = cutOf[row.order] ?? -1;
    while (cut > (first ?? -1) && cuts[cut]!.length > most) cut--;
    byCut.set(cut, [...(byCut.get(cut) ?? []), row]);
  }
  const parts: Part[] = [{ cut: first, front: true, rows: [] }];
  const each = rows.length / count;
  let seen = 0;
  for (const cut of [...byCut.keys()].sort((a, b) => a - b)) {
    const here = byCut.get(cut)!;
    // A part begins at the cut nearest to where it should.
    const begins = seen + here.length / 2 >= parts.length * each;
    if (begins && cut > (first ?? -1)) parts.push({ cut, front: false, rows: [...here] });
    else parts.at(-1)!.rows.push(...here);
    seen += here.length;
  }
  return parts;
}

export type SwitchedSkeleton = Skeleton & { switches: SiteSwitch[] };

/** The models of parts, from the core, each asked for once. */
export class PartModels {
  private readonly known = new Map<Part, Promise<SwitchedSkeleton>>();

  constructor(
    private readonly model: ModelHandle,
    private readonly sweep: number,
    private readonly signal: AbortSignal | undefined,
    /** That cross the cuts of other parts: outputs of the first. */
    private readonly crossing: (part: Part) => string[],
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

  private async ask(part: Part): Promise<SwitchedSkeleton> {
    const { signal } = this;
    const { cut, rows } = part;
    const { core } = await this.model.core({ signal });
    const groups = rows.map((row) => row.order);
    const also = this.crossing(part);
    return core.call('sweep.switched', { sweep: this.sweep, cut, groups, also }, { signal });
  }
}
