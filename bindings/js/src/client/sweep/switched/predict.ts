// First-order runs of samples, on all lanes of a sweep.
import { asHalftoneError } from '../../../shared/errors.js';
import type { Operations } from '../../../shared/protocol.js';
import { isPredictable, type Prediction, Predictions } from '../predictions.js';
import type { SwitchedLane } from './lane.js';
import type { SwitchedSweep } from './switched_sweep.js';

/** What rows are expected to score on these samples; null where nothing can tell. */
export async function predict(sweep: SwitchedSweep, samples: readonly number[]): Promise<Predictions | null> {
  const { lanes, job } = sweep;
  const { lane, started, scoring, signal } = job;
  if (!isPredictable(scoring.metric!, lane.scored, lanes[0]!.scoredBytes / FLOAT_BYTES)) return null;
  const shares = lanes.map((_, i) => samples.filter((_sample, at) => at % lanes.length === i));
  await sweep.onLanes((one, i) => one.load(shares[i]!));
  const sites = [...new Set(started.groups.flatMap((group) => group.sites))];
  const { core } = await lane.model.core({ signal });
  const request = { sweep: started.sweep, sites, shapes: commonShapes(lanes) };
  const bySample = new Map<number, Prediction>();
  try {
    const model = await core.call('sweep.first_order', request, { signal });
    await sweep.onLanes(async (one, i) => {
      const share = shares[i]!;
      if (share.length === 0) return;
      const { effects, terms, costs } = await run(sweep, one, model, share);
      job.costs(costs);
      for (const [at, sample] of share.entries())
        bySample.set(sample, { effects: effects[at]!, terms: terms[at]! });
    });
  } catch (thrown) {
    if (!WITHOUT.includes(asHalftoneError(thrown).code)) throw thrown;
    return null;
  }
  return new Predictions(sites, bySample);
}

const FLOAT_BYTES = 4;
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
function commonShapes(lanes: readonly SwitchedLane[]) {
  const [first, ...others] = lanes.map(({ shapes }) => JSON.stringify(shapes));
  return others.every((other) => other === first) ? (lanes[0]!.shapes ?? []) : [];
}
