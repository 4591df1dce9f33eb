// Shapes as one sample makes them, for a plan that asks for what the graph alone doesn't tell.
import type { PlanOptions, SampleSet } from '../types.js';
import { checkSample } from './check_sample.js';
import type { ModelHandle } from './model.js';
import { runModel } from './run_model.js';
import { requireSamples } from './sample_feed.js';

/** The options with the shapes that are missing, from the first sample; as they are if none is missing. */
export async function withSampleShapes(
  model: ModelHandle,
  options: PlanOptions,
  samples: SampleSet,
): Promise<PlanOptions> {
  const { core, model: handle } = await model.core();
  const wanted = await core.call('plan.shapes', { model: handle, options });
  if (wanted.length === 0) return options;
  requireSamples(samples);
  const { inputs } = (await model.inspect()).model;
  const sample = await samples.load(0);
  checkSample(inputs, sample, samples.name(0));
  const shapes = new Map(Object.entries(sample).map(([name, { dims }]) => [name, [...dims]]));
  const computed = wanted.filter((tensor) => !shapes.has(tensor));
  if (computed.length > 0) {
    const outputs = await runModel(model, sample, { outputs: computed });
    for (const [name, { dims }] of Object.entries(outputs)) shapes.set(name, [...dims]);
  }
  const measured = wanted.flatMap((tensor): [string, number[]][] => {
    const shape = shapes.get(tensor);
    return shape === undefined ? [] : [[tensor, shape]];
  });
  return { ...options, sampleShapes: [...(options.sampleShapes ?? []), ...measured] };
}
