// Shapes as one sample makes them, for plans and costs that ask for what the graph alone doesn't tell.
import type { Shapes } from '../shared/protocol.js';
import type { Cancellable, PlanOptions, SampleSet } from '../types.js';
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
  const measured = await sampleShapes(model, wanted, samples);
  return { ...options, sampleShapes: [...(options.sampleShapes ?? []), ...measured] };
}

/** What a cost needs to know of shapes. Without samples, what the graph doesn't tell stays unknown. */
export async function costShapes(
  model: ModelHandle,
  samples: SampleSet | undefined,
  options: Cancellable = {},
): Promise<Shapes> {
  if (samples === undefined) return [];
  const { core, model: handle } = await model.core();
  return sampleShapes(model, await core.call('cost.shapes', { model: handle }), samples, options);
}

/** The shapes of these tensors for the first sample, as far as it tells them. */
async function sampleShapes(
  model: ModelHandle,
  wanted: string[],
  samples: SampleSet,
  options: Cancellable = {},
): Promise<Shapes> {
  if (wanted.length === 0) return [];
  requireSamples(samples);
  const { inputs } = (await model.inspect()).model;
  const sample = await samples.load(0);
  checkSample(inputs, sample, samples.name(0));
  const shapes = new Map(Object.entries(sample).map(([name, { dims }]) => [name, [...dims]]));
  const computed = wanted.filter((tensor) => !shapes.has(tensor));
  if (computed.length > 0) {
    const outputs = await runModel(model, sample, { outputs: computed, signal: options.signal });
    for (const [name, { dims }] of Object.entries(outputs)) shapes.set(name, [...dims]);
  }
  return wanted.flatMap((tensor): Shapes => {
    const shape = shapes.get(tensor);
    return shape === undefined ? [] : [[tensor, shape]];
  });
}
