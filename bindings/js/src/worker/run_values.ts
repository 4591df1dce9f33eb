// Values of tensors for one sample: some come from the runtime, graph inputs from the sample itself.
import type { RunnerSession } from '../runner/runner.js';
import { HalftoneError } from '../shared/errors.js';
import type { Sample, SampleTensor } from '../types.js';

export async function valuesOf(
  session: RunnerSession | null,
  sample: Sample,
  tensors: readonly string[],
): Promise<Sample> {
  const made = (tensor: string) => session?.outputNames.has(tensor) === true;
  const fetched = tensors.filter(made);
  const values: Sample = session !== null && fetched.length > 0 ? await session.run(sample, fetched) : {};
  for (const tensor of tensors) {
    if (made(tensor)) continue;
    const given = sample[tensor];
    if (given === undefined) {
      throw new HalftoneError('invalid_sample', `There is no value for "${tensor}".`, {
        where: tensor,
        next: 'Give a sample with a value for each input.',
      });
    }
    values[tensor] = given;
  }
  return values;
}

export function floatsOf(tensor: string, value: SampleTensor | undefined): Float32Array {
  if (value?.data instanceof Float32Array) return value.data;
  throw new HalftoneError(
    'unsupported_type',
    `"${tensor}" holds ${value?.type ?? 'nothing'}, and float32 is needed.`,
    {
      where: tensor,
      next: 'Choose a float tensor.',
    },
  );
}

/** `bad` is the index of the first value that is NaN or infinite, or null. */
export function finiteOrThrow(
  tensor: string,
  sample: string,
  values: Float32Array,
  bad: number | null,
): void {
  if (bad === null) return;
  const what = Number.isNaN(values[bad]) ? 'NaN' : 'infinity';
  throw new HalftoneError('non_finite', `"${tensor}" has ${what} at element ${bad} for sample ${sample}.`, {
    where: tensor,
    next: 'Leave this sample out, or find out why the model computes it.',
  });
}
