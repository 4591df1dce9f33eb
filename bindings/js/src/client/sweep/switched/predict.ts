// First-order runs of samples, on all lanes of a sweep.
import { asHalftoneError } from '../../../shared/errors.js';
import type { Operations, Shapes } from '../../../shared/protocol.js';
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
    await sweep.onLanes(async (one, i) => {
      const share = shares[i]!;
      if (share.length === 0) return;
      if (!roomy) await one.closeSessions();
      const { effects, terms, costs } = await run(sweep, one, model, share);
      job.costs(costs);
      for (const [at, sample] of share.entries())
        bySample.set(sample, { effects: effects[at]!, terms: terms[at]! });
    });
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

function run(
  { job }: SwitchedSweep,
  lane: SwitchedLane,
  { cotangent, effects, ...model }: Operations['sweep.first_order']['out'],
  samples: readonly number[],
): Promise<Operations['first_order.run']['out']> {
  const request = {
    model,
    files: job.lane.model.files,
    // Run so seldom that improving it doesn't pay.
    mode: 'disabled' as const,
    cotangent,
    effects,
    samples: lane.refs(samples),
    tensor: job.lane.scored[0]!,
    metric: job.scoring.metric!,
  };
  return lane.worker.call('first_order.run', request, { signal: lane.signal });
}

/** Of the inputs, if all samples have the same. */
function commonShapes(lanes: readonly SwitchedLane[]): Shapes {
  const [first, ...others] = lanes.map(({ shapes }) => JSON.stringify(shapes));
  return others.every((other) => other === first) ? (lanes[0]!.shapes ?? []) : [];
}
