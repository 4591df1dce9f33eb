// First-order runs of samples, on all lanes of a sweep.
import { asHalftoneError } from '../../../shared/errors.js';
import type { Operations, Shapes } from '../../../shared/protocol.js';
import { tidy } from '../../session.js';
import { areQuiet, directionsOf } from '../directions.js';
import { isPredictable, type Prediction, Predictions } from '../predictions.js';
import type { SwitchedLane } from './lane.js';
import type { SwitchedSweep } from './switched_sweep.js';

/** What rows are expected to score on these samples; null where nothing can tell. */
export async function predict(sweep: SwitchedSweep, samples: readonly number[]): Promise<Predictions | null> {
  const { lanes, job } = sweep;
  const { lane, started, scoring, signal } = job;
  if (!isPredictable(scoring.metric!, lane.scored, lanes[0]!.scoredBytes / FLOAT_BYTES)) return null;
  const shares = lanes.map((_, i) => samples.filter((_sample, at) => at % lanes.length === i));
  const { core } = await lane.model.core({ signal });
  const sites = [...new Set(started.groups.flatMap((group) => group.sites))];
  const ask = (shapes: Shapes) =>
    core.call('sweep.first_order', { sweep: started.sweep, sites, shapes }, { signal });
  const roomy = sweep.most >= SESSIONS;
  // The core makes the model of the sweep first: lanes then open it while the core makes the one of predictions.
  sweep.askForParts();
  const opened = sweep.onLanes(async (one, i) => {
    await one.load(shares[i]!);
    if (roomy) await sweep.openAhead(one);
  });
  try {
    const likely = commonShapes(lanes);
    const [asked] = await Promise.all([ask(likely), opened]);
    const same = JSON.stringify(commonShapes(lanes)) === JSON.stringify(likely);
    const runs = new FirstOrderRuns(sweep, same ? asked : await ask([]), shares);
    try {
      await runs.all(samples[0]!, roomy);
    } finally {
      // Workers do so before anything that they are asked for later; it never fails.
      void runs.close();
    }
    return new Predictions(sites, runs.known);
  } catch (thrown) {
    await opened;
    if (!WITHOUT.includes(asHalftoneError(thrown).code)) throw thrown;
    return null;
  }
}

const FLOAT_BYTES = 4;
/** Of a lane meanwhile: it loads samples, has the part, and this one, which has the changes of weights beside the weights. */
const SESSIONS = 4;
/** An operator without a derivative, or one that the runtime refuses: rows are measured without predictions. */
const WITHOUT = [
  'unsupported_op',
  'unsupported_opset',
  'unsupported_type',
  'invalid_sample',
  'invalid_policy',
];

class FirstOrderRuns {
  readonly known = new Map<number, Prediction>();
  private readonly sessions = new Map<SwitchedLane, number>();

  constructor(
    private readonly sweep: SwitchedSweep,
    private readonly model: Operations['sweep.first_order']['out'],
    /** The samples of each lane. */
    private readonly shares: readonly number[][],
  ) {}

  /** All samples along the directions that they need; `probed` alone, whichever lane has it, tells which of those at need are. */
  async all(probed: number, roomy: boolean): Promise<void> {
    const { lanes } = this.sweep;
    const { always, atNeed } = directionsOf(lanes[0]!.scoredBytes / FLOAT_BYTES);
    await this.sweep.onLanes(async (lane, i) => {
      const share = this.shares[i]!;
      if (share.length === 0) return;
      if (!roomy) await lane.closeSessions();
      await this.open(lane);
      await this.run(lane, share, always);
      if (share.includes(probed)) await this.run(lane, [probed], atNeed);
    });
    const { effects } = this.known.get(probed)!;
    if (areQuiet(effects.slice(0, always.length), effects.slice(always.length))) return;
    await this.sweep.onLanes((lane, i) => {
      const others = this.shares[i]!.filter((sample) => sample !== probed);
      return this.run(lane, others, atNeed);
    });
  }

  private async open(lane: SwitchedLane): Promise<void> {
    const { job } = this.sweep;
    const { cotangent: _, effects: __, ...model } = this.model;
    const start = performance.now();
    // Run so seldom that improving it doesn't pay.
    const request = { model, files: job.lane.model.files, mode: 'disabled' as const };
    const { session } = await lane.worker.call('session.create', request, { signal: lane.signal });
    this.sessions.set(lane, session);
    job.costs({ sessions: 1, create_ms: performance.now() - start, runs: 0, run_ms: 0, metric_ms: 0 });
  }

  /** Adds to what is known of the samples. */
  private async run(
    lane: SwitchedLane,
    samples: readonly number[],
    directions: Float32Array[],
  ): Promise<void> {
    if (samples.length === 0 || directions.length === 0) return;
    const { job } = this.sweep;
    const { cotangent, effects } = this.model;
    const request = {
      session: this.sessions.get(lane)!,
      cotangent,
      effects,
      directions,
      samples: lane.refs(samples),
      tensor: job.lane.scored[0]!,
      metric: job.scoring.metric!,
    };
    const made = await lane.worker.call('first_order.run', request, { signal: lane.signal });
    job.costs(made.costs);
    for (const [at, sample] of samples.entries()) {
      const before = this.known.get(sample)?.effects ?? [];
      this.known.set(sample, { effects: [...before, ...made.effects[at]!], terms: made.terms[at]! });
    }
  }

  async close(): Promise<void> {
    const { signal } = this.sweep.job;
    const open = [...this.sessions];
    await Promise.all(
      open.map(([{ worker }, session]) => tidy(worker, 'session.release', { session }, signal)),
    );
  }
}

/** Of the inputs, if all samples have the same. */
function commonShapes(lanes: readonly SwitchedLane[]): Shapes {
  const [first, ...others] = lanes.map(({ shapes }) => JSON.stringify(shapes));
  return others.every((other) => other === first) ? (lanes[0]!.shapes ?? []) : [];
}
