// Does a sample fit a model's inputs? Says which input, what was given and what is needed, before a runtime says it worse.
import { HalftoneError } from '../shared/errors.js';
import type { Sample, ValueInfo } from '../types.js';

export function checkSample(inputs: readonly ValueInfo[], sample: Sample, name: string): void {
  for (const input of inputs) {
    const given = sample[input.name];
    // Inputs that the model can do without are decided by the runtime.
    if (given === undefined) continue;
    if (given.type !== input.type) {
      throw misfit(name, input, `it has type ${given.type}, and ${input.type} is needed`);
    }
    if (input.shape !== null && !fits(input.shape, given.dims)) {
      throw misfit(
        name,
        input,
        `it has shape [${given.dims.join(', ')}], and [${input.shape.map(dimension).join(', ')}] is needed`,
      );
    }
    const wanted = given.dims.reduce((product, dim) => product * dim, 1);
    const elements = elementCount(given.data);
    if (elements === 0 && wanted !== 0) {
      throw misfit(
        name,
        input,
        'its buffer is empty: it was handed over to a worker before. SampleSet.load has to return fresh buffers',
      );
    }
    if (elements !== wanted) {
      throw misfit(
        name,
        input,
        `it has ${elements} values, and its shape [${given.dims.join(', ')}] needs ${wanted}`,
      );
    }
  }
  const known = new Set(inputs.map((input) => input.name));
  for (const key of Object.keys(sample)) {
    if (!known.has(key)) {
      throw new HalftoneError(
        'invalid_sample',
        `Sample ${name} has a value for "${key}", which is no input of the model.`,
        {
          where: name,
          next: `The inputs are: ${inputs.map((input) => input.name).join(', ')}.`,
        },
      );
    }
  }
}

function fits(shape: readonly (number | string | null)[], dims: readonly number[]): boolean {
  return (
    shape.length === dims.length && shape.every((dim, axis) => typeof dim !== 'number' || dim === dims[axis])
  );
}

function dimension(dim: number | string | null): string {
  return typeof dim === 'number' ? String(dim) : dim === null || dim === '' ? '?' : dim;
}

function elementCount(data: ArrayBufferView): number {
  return data instanceof DataView ? data.byteLength : (data as Uint8Array).length;
}

function misfit(name: string, input: ValueInfo, what: string): HalftoneError {
  return new HalftoneError('invalid_sample', `Sample ${name} doesn't fit input "${input.name}": ${what}.`, {
    where: name,
    next: 'Give samples made for this model.',
  });
}
