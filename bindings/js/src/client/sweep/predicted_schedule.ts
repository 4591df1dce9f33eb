// Which rows are measured where first-order predictions tell most: those that may be among the worst, on all samples.
import type { SampleRange } from './block.js';
import type { Predictions } from './predictions.js';
import type { Row } from './rows.js';
import {
  quantile,
  type Schedule,
  samplesOf,
  spread,
  type Task,
  type Top,
  TopSchedule,
  tasksFor,
} from './schedule.js';

/** Fewer than where nothing is known of rows: those that are complete tell the same. */
const PREDICTED_PILOTS = 12;
/** Rows of the first round, in wanted ones. */
const NEARBY = 1.5;

/**
 * The rows that are predicted to be the worst are measured first, and then those that are predicted to come near the last of the
 * wanted: nearer than a prediction is wrong with the wanted confidence. How wrong predictions are is measured on all rows that are
 * complete and, since those were chosen by their predictions, on pilots that weren't: spread evenly over the graph, on the one
 * sample that is predicted to be the hardest. A row that was chosen may be predicted too high, so errors count without their sign.
 *
 * A row that comes near is measured on the hardest sample first, which mostly decides; predictions of the others are then less wrong
 * together, as complete rows tell.
 *
 * Without predictions it is TopSchedule.
 */
export class PredictedSchedule implements Schedule {
  private readonly otherwise: TopSchedule;
  private predictions: Predictions | null | undefined;
  /** Those that aren't taken from earlier results. */
  private readonly fresh: Row[];
  private readonly pilots: Row[];
  private hardest: number | null = null;

  constructor(
    private readonly rows: Row[],
    private readonly top: Top,
    private readonly predict: (samples: readonly number[]) => Promise<Predictions | null>,
  ) {
    this.otherwise = new TopSchedule(rows, top);
    this.fresh = rows.filter((row) => row.resumed === 0);
    this.pilots = spread(this.fresh, PREDICTED_PILOTS);
  }

  async next(block: SampleRange): Promise<Task[]> {
    const samples = samplesOf(block);
    if (block.from === 0 && this.predictions === undefined) this.predictions = await this.predict(samples);
    const known = this.predictions ?? null;
    if (block.from > 0 || known === null) return this.otherwise.next(block);
    const unfinished = this.fresh.filter((row) => row.samples < samples.length);
    const [expected, hardest] = await Promise.all([
      this.expected(known, unfinished, samples),
      this.hardest ?? this.hardestOf(known, samples),
    ]);
    const behind = [...unfinished.keys()].sort((a, b) => expected[b]! - expected[a]! || a - b);
    if (this.hardest === null) {
      this.hardest = hardest;
      const begun = this.beginning(
        behind.map((i) => unfinished[i]!),
        samples,
      );
      if (begun.length > 0) return begun;
    }
    const complete = this.rows.filter((row) => row.samples >= samples.length);
    const scores = complete.map((row) => this.top.sensitivity(row)).sort((a, b) => b - a);
    const last = scores[this.top.count - 1];
    if (last === undefined) return tasksFor(this.rows, samples);
    const bounds = await this.bounds(known, complete, samples);
    const boundOf = (row: Row) => (row.has(this.hardest!) ? bounds.hardestKnown : bounds.allPredicted);
    const within = behind
      .filter((i) => expected[i]! + boundOf(unfinished[i]!) >= last)
      .map((i) => unfinished[i]!);
    const first = tasksFor(within, [this.hardest]);
    return first.length > 0 ? first : tasksFor(within, samples);
  }

  /** The likeliest on all samples, and on the hardest one pilots and those that come next, of which most would be asked for anyway. */
  private beginning(likeliest: readonly Row[], samples: number[]): Task[] {
    const { count } = this.top;
    const whole = new Set(likeliest.slice(0, count));
    const nearby = likeliest.slice(count, Math.ceil(NEARBY * count));
    const others = [...new Set([...this.pilots, ...nearby])].filter((row) => !whole.has(row));
    return [...tasksFor([...whole], samples), ...tasksFor(others, [this.hardest!])];
  }

  /** What rows are likely to score on all samples, given what was measured. */
  private expected(known: Predictions, rows: readonly Row[], samples: readonly number[]): Promise<number[]> {
    const terms = (row: Row, sample: number) =>
      row.has(sample) ? row.values([sample]) : known.terms(row, sample);
    return this.sensitivities(rows, samples, terms);
  }

  /** Of rows that aren't taken from earlier results, whose terms nobody has. */
  private sensitivities(
    rows: readonly Row[],
    samples: readonly number[],
    terms: (row: Row, sample: number) => Float64Array,
  ): Promise<number[]> {
    const joined = (row: Row) => Float64Array.from(samples.flatMap((sample) => [...terms(row, sample)]));
    return this.top.sensitivities(rows.map(joined));
  }

  /** How wrong predictions are, of all samples and of all but the hardest. */
  private async bounds(
    known: Predictions,
    complete: Row[],
    samples: readonly number[],
  ): Promise<{ allPredicted: number; hardestKnown: number }> {
    const fresh = complete.filter((row) => row.resumed === 0);
    const differences = async (rows: Row[], of: readonly number[], measuredOn: number | null) => {
      const [predicted, measured] = await Promise.all([
        this.sensitivities(rows, of, (row, sample) =>
          sample === measuredOn ? row.values([sample]) : known.terms(row, sample),
        ),
        this.sensitivities(rows, of, (row, sample) => row.values([sample])),
      ]);
      return rows.map((_, i) => Math.abs(measured[i]! - predicted[i]!));
    };
    const [pilots, whole, rest] = await Promise.all([
      differences(this.pilots, [this.hardest!], null),
      differences(fresh, samples, null),
      differences(fresh, samples, this.hardest),
    ]);
    // Of two signs the half that matters is above: with 90 % within, 95 % aren't above.
    const within = Math.max(2 * this.top.confidence - 1, 0);
    const allPredicted = quantile([...pilots, ...whole], within);
    const hardestKnown = quantile(rest, within);
    return { allPredicted, hardestKnown: Number.isFinite(hardestKnown) ? hardestKnown : allPredicted };
  }

  private async hardestOf(known: Predictions, samples: readonly number[]): Promise<number> {
    const predicted = (row: Row, sample: number) => known.terms(row, sample);
    const alone = samples.map((sample) => this.sensitivities(this.fresh, [sample], predicted));
    return hardestFirst(samples, await Promise.all(alone))[0]!;
  }
}

/** Samples, those first on which rows suffer most, on the average of their ranks. `sensitivities`: [sample][row]. */
function hardestFirst(samples: readonly number[], sensitivities: number[][]): number[] {
  const ranks = samples.map(() => 0);
  for (const row of sensitivities[0]?.keys() ?? []) {
    const ordered = [...samples.keys()].sort(
      (a, b) => sensitivities[b]![row]! - sensitivities[a]![row]! || a - b,
    );
    for (const [rank, at] of ordered.entries()) ranks[at]! += rank;
  }
  return [...samples.keys()].sort((a, b) => ranks[a]! - ranks[b]! || a - b).map((at) => samples[at]!);
}
