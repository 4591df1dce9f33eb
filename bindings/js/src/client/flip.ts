// Raising what hurts most, and what a plan costs. Nothing is run, but for shapes that the graph doesn't tell.
import { HalftoneError } from '../shared/errors.js';
import type { FlipChanges, MixedPrecision } from '../shared/protocol.js';
import type {
  Encodings,
  Flip,
  FlipOptions,
  ModelCost,
  Plan,
  Precision,
  SampleSet,
  SensitivityResults,
  Warning,
} from '../types.js';
import type { ModelHandle } from './model.js';
import { costShapes } from './sample_shapes.js';

export async function flip(
  model: ModelHandle,
  plan: Plan,
  encodings: Encodings,
  results: SensitivityResults,
  options: FlipOptions,
): Promise<Flip> {
  const of = (results as Partial<SensitivityResults>).halftone?.model_sha256 ?? '';
  if (of !== '' && of !== (await model.facts()).sha256) {
    throw new HalftoneError('invalid_policy', 'The ranking is of another model.', {
      where: 'model_sha256',
      next: 'Rank this model, or open the one that was ranked.',
    });
  }
  const { core, model: handle } = await model.core();
  const request = {
    worst: numberOf('worst', options.worst),
    percent: numberOf('percent', options.percent),
    threshold: numberOf('threshold', options.threshold),
    names: options.names ?? null,
    ...precisionOf(options.to),
  };
  const shapes = await costShapes(model, options.samples);
  const { changes, ...figures } = await core.call('flip', {
    model: handle,
    plan,
    encodings,
    results,
    request,
    shapes,
  });
  return { ...flipped({ plan, encodings }, changes), ...figures };
}

/** The files with the changes of a flip. What didn't change is the same object, so that many of them take little memory. */
export function flipped(
  base: { plan: Plan; encodings: Encodings },
  { sites, inputs, encodings, dropped, warnings }: FlipChanges,
): { plan: Plan; encodings: Encodings; warnings: Warning[] } {
  const bySite = new Map(sites.map((site) => [site.tensor, site]));
  const byInput = new Map(inputs.map((input) => [JSON.stringify([input.node, input.input]), input]));
  const gone = new Set(dropped);
  const kept = Object.entries(base.encodings.encodings).filter(([tensor]) => !gone.has(tensor));
  return {
    plan: {
      ...base.plan,
      sites: base.plan.sites.map((site) => bySite.get(site.tensor) ?? site),
      inputs: base.plan.inputs.map(
        (input) => byInput.get(JSON.stringify([input.node, input.input])) ?? input,
      ),
    },
    encodings: {
      ...base.encodings,
      encodings: { ...Object.fromEntries(kept), ...encodings },
    },
    warnings,
  };
}

export async function cost(model: ModelHandle, plan: Plan, samples?: SampleSet): Promise<ModelCost> {
  const { core, model: handle } = await model.core();
  const shapes = await costShapes(model, samples);
  return core.call('cost', { model: handle, plan, shapes });
}

export function precisionOf(to: Precision): MixedPrecision {
  const { activations, weights } = to;
  for (const [name, value] of Object.entries({ activations, weights })) {
    if (value === undefined || typeof value === 'string') continue;
    throw new HalftoneError('invalid_policy', `The precision of ${name} has to be the name of a format.`, {
      where: name,
    });
  }
  return { activations: activations ?? '', weights: weights ?? '' };
}

function numberOf(name: string, value: number | undefined): number | null {
  if (value === undefined || typeof value === 'number') return value ?? null;
  throw new HalftoneError('invalid_policy', `${name} has to be a number, not ${String(value)}.`, {
    where: name,
  });
}
