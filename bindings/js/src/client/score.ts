// The score of the whole quantized model: as the exact options compute it, and as the runtime runs it when nobody asks.
import { asHalftoneError } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import type { Encodings, ModelScore, Plan, SampleSet, SensitivityOptions, Warning } from '../types.js';
import type { ModelHandle } from './model.js';
import { requireSamples } from './sample_feed.js';
import { ScoreLane } from './score_lane.js';
import { SweepModels } from './sweep_models.js';

export async function score(
  model: ModelHandle,
  plan: Plan,
  encodings: Encodings,
  samples: SampleSet,
  options: SensitivityOptions,
): Promise<ModelScore> {
  requireSamples(samples);
  const { signal } = options;
  const { core, model: handle } = await model.core(options);
  const { sweep, scored } = await core.call(
    'sweep.start',
    { model: handle, plan: fedWithFloats(plan), encodings, score: options.score ?? '' },
    { signal },
  );
  try {
    const { inputs } = (await model.inspect()).model;
    const progress = new ProgressReporter('score', 'runs', 2 * samples.count, options.onProgress);
    const tick = () => progress.advance(1);
    const scores: ModelScore = { simulated: Number.NaN, fused: Number.NaN, scored, warnings: [] };
    // One worker: two variants only, and their float outputs are computed once.
    await model.engine.pool.run(1, signal, async (worker, laneSignal) => {
      const lane = new ScoreLane(
        model,
        worker,
        samples,
        inputs,
        new SweepModels(model, sweep),
        scored,
        laneSignal,
      );
      await lane.use(async () => {
        scores.simulated = await lane.score({ kind: 'simulated' }, 'exact', tick);
        try {
          scores.fused = await lane.score({ kind: 'quantized' }, 'default', tick);
          if (Math.abs(scores.fused - scores.simulated) > CLOSE_DB) scores.warnings.push(farApart(scores));
        } catch (thrown) {
          scores.warnings.push(cannotFuse(thrown));
        }
      });
    });
    progress.finish();
    return scores;
  } finally {
    if (core.connected) await core.call('sweep.end', { sweep }).catch(() => {});
  }
}

/** Samples are floats: a model that takes and gives codes is scored with the pairs that its caller will have. */
function fedWithFloats(plan: Plan): Plan {
  return plan.options.direct_io === true ? { ...plan, options: { ...plan.options, direct_io: false } } : plan;
}

/** Fused integer kernels round elsewhere, which moves a score by less. */
const CLOSE_DB = 6;

function farApart({ simulated, fused }: ModelScore): Warning {
  return {
    code: 'fused_differs',
    message: `As onnxruntime runs the model by default it scores ${fused.toFixed(2)} dB, and ${simulated.toFixed(2)} dB as its pairs say: its optimizer changes what the model means (with float8 it takes a Relu away that the codes need). Deploy it on another runtime, or with graph optimization disabled.`,
    where: '',
  };
}

/** What the runtime's fused kernels refuse (float8, for one) may still be right for another runtime. */
function cannotFuse(thrown: unknown): Warning {
  const error = asHalftoneError(thrown);
  if (error.code !== 'unsupported_op' && error.code !== 'invalid_sample') throw error;
  return {
    code: 'not_run_by_default',
    message: `onnxruntime's default options can't run the quantized model, so there is no score for them: ${error.message}`,
    where: '',
  };
}
