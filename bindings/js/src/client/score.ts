// The score of the whole quantized model: as the exact options compute it, and as the runtime runs it when nobody asks.
import { ProgressReporter } from '../shared/progress.js';
import type { Encodings, Plan, SampleSet, SensitivityOptions } from '../types.js';
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
): Promise<{ simulated: number; fused: number; scored: string[] }> {
  requireSamples(samples);
  const { signal } = options;
  const { core, model: handle } = await model.core(options);
  const { sweep, scored } = await core.call(
    'sweep.start',
    { model: handle, plan, encodings, score: options.score ?? '' },
    { signal },
  );
  try {
    const { inputs } = (await model.inspect()).model;
    const progress = new ProgressReporter('score', 'runs', 2 * samples.count, options.onProgress);
    const tick = () => progress.advance(1);
    const scores = { simulated: Number.NaN, fused: Number.NaN };
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
        scores.fused = await lane.score({ kind: 'quantized' }, 'default', tick);
      });
    });
    progress.finish();
    return { ...scores, scored };
  } finally {
    if (core.connected) await core.call('sweep.end', { sweep }).catch(() => {});
  }
}
