// How the error grows through the model: float against fully quantized, tensor by tensor, in one pass.
import { announce } from '../state/announce';
import {
  encodings,
  encodingsKey,
  plan,
  planFresh,
  propagation,
  samples,
  session,
  workKey,
} from '../state/store';
import { counted } from '../text/format';
import { type Outcome, runJob } from './job';

export async function propagate(): Promise<Outcome> {
  const [model, made, set] = [session.value?.model, plan.value?.value, samples.value?.set];
  const found = encodings.value;
  if (model === undefined || made === undefined || set === undefined || found === null) return 'failed';
  if (!planFresh.value || found.key !== encodingsKey.value) return 'failed';
  const key = workKey.value;
  const outcome = await runJob('sensitivity', 'Comparing tensors', async ({ signal, onProgress }) => {
    const value = await model.propagation(made, found.value, set, { signal, onProgress });
    propagation.value = { value, key };
  });
  if (outcome === 'done') announce(`Compared ${counted(propagation.value?.value.length ?? 0, 'tensor')}.`);
  return outcome;
}
