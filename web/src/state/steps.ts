// The state of each step, derived from what exists and from what it was made of. Nothing here is stored.
import type { Step } from './address';

export type StepState = 'nothing yet' | 'ready' | 'running' | 'done' | 'stale';

/** Made from inputs that `key` names: it is stale as soon as the current inputs have another key. */
export interface Made<T> {
  readonly value: T;
  readonly key: string;
}

export interface Inputs {
  running: Step | null;
  hasModel: boolean;
  hasSamples: boolean;
  planKey: string;
  plan: Made<unknown> | null;
  encodingsKey: string;
  encodings: Made<unknown> | null;
  rankingKey: string;
  /** Of the encodings with what was raised since. */
  workKey: string;
  ranking: Made<unknown> | null;
  /** A cancelled ranking is shown, but its step is not done. */
  rankingComplete: boolean;
  saved: Made<unknown> | null;
  /** Of what is chosen to be compared. */
  formatsKey: string;
  compared: Made<unknown> | null;
}

export function stepStates(inputs: Inputs): Record<Step, StepState> {
  const planReady = inputs.plan !== null && inputs.plan.key === inputs.planKey;
  const encodingsFresh =
    planReady && inputs.encodings !== null && inputs.encodings.key === inputs.encodingsKey;
  const states: Record<Step, StepState> = {
    model: inputs.hasModel ? 'done' : 'nothing yet',
    plan: made(inputs.plan, inputs.planKey, inputs.hasModel),
    calibrate: made(inputs.encodings, inputs.encodingsKey, planReady && inputs.hasSamples),
    sensitivity: made(inputs.ranking, inputs.rankingKey, encodingsFresh),
    save: made(inputs.saved, inputs.workKey, encodingsFresh),
    formats: made(inputs.compared, inputs.formatsKey, inputs.hasModel),
  };
  if (states.sensitivity === 'done' && !inputs.rankingComplete) states.sensitivity = 'ready';
  if (inputs.running !== null) states[inputs.running] = 'running';
  return states;
}

function made(what: Made<unknown> | null, key: string, ready: boolean): StepState {
  if (what === null) return ready ? 'ready' : 'nothing yet';
  return what.key === key ? 'done' : 'stale';
}
