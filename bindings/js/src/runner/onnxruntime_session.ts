// A session of onnxruntime's JavaScript interface, which both of its packages have.
import type { InferenceSession, Tensor, TypedTensor } from 'onnxruntime-common';
import { asHalftoneError, HalftoneError } from '../shared/errors.js';
import { type RunMode, sessionOptions } from '../shared/session_options.js';
import type { Sample, SampleTensor } from '../types.js';
import type { ExternalBytes, RunnerSession } from './runner.js';

export interface OnnxRuntime {
  InferenceSession: typeof InferenceSession;
  Tensor: typeof Tensor;
}

export async function createSession(
  runtime: OnnxRuntime,
  model: Uint8Array,
  external: ExternalBytes[],
  mode: RunMode,
  extra: InferenceSession.SessionOptions,
): Promise<RunnerSession> {
  const options: InferenceSession.SessionOptions = { ...sessionOptions(mode), ...extra };
  if (external.length > 0) options.externalData = external;
  let session: InferenceSession;
  try {
    session = await runtime.InferenceSession.create(model, options);
  } catch (thrown) {
    throw runtimeError(thrown, 'The runtime refused the model', 'unsupported_op');
  }
  return new OnnxRuntimeSession(runtime, session);
}

class OnnxRuntimeSession implements RunnerSession {
  readonly inputs: RunnerSession['inputs'];
  readonly outputs: RunnerSession['outputs'];
  readonly outputNames: ReadonlySet<string>;
  /** As the runtime has them: what switches quantizers off is fed in every run. */
  private readonly tensors = new WeakMap<SampleTensor, Tensor>();

  constructor(
    private readonly runtime: OnnxRuntime,
    private readonly session: InferenceSession,
  ) {
    this.inputs = session.inputMetadata.map((input) => ({
      name: input.name,
      type: input.isTensor ? input.type : 'other',
      shape: input.isTensor ? [...input.shape] : [],
    }));
    this.outputs = session.outputMetadata.map((output) => ({
      name: output.name,
      type: output.isTensor ? output.type : 'other',
    }));
    this.outputNames = new Set(session.outputNames);
  }

  async run(sample: Sample, outputs: readonly string[]): Promise<Record<string, SampleTensor>> {
    const feeds: Record<string, Tensor> = {};
    for (const name of this.session.inputNames) {
      const given = sample[name];
      if (given !== undefined) feeds[name] = this.tensor(name, given);
    }
    let results: InferenceSession.ReturnType;
    try {
      results = await this.session.run(feeds, [...outputs]);
    } catch (thrown) {
      throw runtimeError(thrown, 'The runtime could not run the sample', 'invalid_sample');
    }
    return Object.fromEntries(outputs.map((name) => [name, taken(name, results[name])]));
  }

  async release(): Promise<void> {
    await this.session.release();
  }

  private tensor(name: string, given: SampleTensor): Tensor {
    const known = this.tensors.get(given);
    if (known !== undefined) return known;
    try {
      const made = new this.runtime.Tensor(given.type as Tensor.Type, given.data as never, given.dims);
      this.tensors.set(given, made);
      return made;
    } catch (thrown) {
      throw new HalftoneError(
        'invalid_sample',
        `Input "${name}" can't be given to the runtime: ${wordsOf(thrown)}`,
        {
          where: name,
          next: 'Check its type and shape.',
          cause: thrown,
        },
      );
    }
  }
}

function taken(name: string, tensor: Tensor | undefined): SampleTensor {
  if (tensor === undefined)
    throw new HalftoneError('internal', `The runtime gave no value for "${name}".`, { where: name });
  if (tensor.type === 'string') {
    throw new HalftoneError('unsupported_type', `Output "${name}" holds strings.`, {
      where: name,
      next: 'Choose other outputs.',
    });
  }
  const { data } = tensor as TypedTensor<'float32'>;
  return { type: tensor.type, dims: [...tensor.dims], data };
}

function runtimeError(
  thrown: unknown,
  what: string,
  code: 'unsupported_op' | 'invalid_sample',
): HalftoneError {
  const known = asHalftoneError(thrown);
  if (known.code === 'out_of_memory') return known;
  return new HalftoneError(code, `${what}: ${wordsOf(thrown)}`, {
    next:
      code === 'invalid_sample'
        ? "Check the samples' names, types and shapes against the model's inputs."
        : 'Check the model with inspect; the runtime may not have this operator or type.',
    cause: thrown,
  });
}

const LONGEST = 300;

/** The runtime's own words in one line, without its source positions. */
function wordsOf(thrown: unknown): string {
  const text = (thrown instanceof Error ? thrown.message : String(thrown)).replace(/\s+/g, ' ').trim();
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
