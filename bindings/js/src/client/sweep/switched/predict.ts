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
  const bySample = new Map<number, Prediction>();
  try {
    const likely = commonShapes(lanes);
    const [asked] = await Promise.all([ask(likely), opened]);
    const same = JSON.stringify(commonShapes(lanes)) === JSON.stringify(likely);
    const model = same ? asked : await ask([]);
    const { always, atNeed } = directionsOf(lanes[0]!.scoredBytes / FLOAT_BYTES);
    const first = samples[0]!;
    const runs = new FirstOrderRuns(sweep, model);
    try {
      await sweep.onLanes(async (one, i) => {
        const share = shares[i]!;
        if (share.length === 0) return;
        if (!roomy) await one.closeSessions();
        await runs.open(one);
        await runs.run(one, share, always, bySample);
        if (share.includes(first)) await runs.run(one, [first], atNeed, bySample);
      });
      const { effects } = bySample.get(first)!;
      if (!areQuiet(effects.slice(0, always.length), effects.slice(always.length))) {
        await sweep.onLanes((one, i) =>
          runs.run(
            one,
            shares[i]!.filter((sample) => sample !== first),
            atNeed,
            bySample,
          ),
        );
      }
    } finally {
      await runs.close();
    }
  } catch (thrown) {
    await opened;
    if (!WITHOUT.includes(asHalftoneError(thrown).code)) throw thrown;
    return null;
  }
  return new Predictions(sites, bySample);
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
  private readonly sessions = new Map<SwitchedLane, number>();

  constructor(
    private readonly sweep: SwitchedSweep,
    private readonly model: Operations['sweep.first_order']['out'],
  ) {}

  async open(lane: SwitchedLane): Promise<void> {
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
  async run(
    lane: SwitchedLane,
    samples: readonly number[],
    directions: Float32Array[],
    known: Map<number, Prediction>,
  ): Promise<void> {
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
      const before = known.get(sample)?.effects ?? [];
      known.set(sample, { effects: [...before, ...made.effects[at]!], terms: made.terms[at]! });
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
