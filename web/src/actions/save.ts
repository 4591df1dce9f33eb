// Making the quantized model, and saying how good it is before anything is written to disk.
import type { Plan, Sample, SampleSet } from '../package';
import { announce } from '../state/announce';
import { type Prediction, type Saved, topClass } from '../state/saved';
import { encodings, plan, samples, saved, session, workKey } from '../state/store';
import { bytes } from '../text/format';
import { bench } from './context';
import { type JobContext, type Outcome, runJob } from './job';

/** The name of the model that is written: NAME.qdq.onnx. */
export function outputName(fileName: string): string {
  return `${fileName.replace(/(?<=.)\.[^.]*$/, '')}.qdq.onnx`;
}

/** Protobuf can't hold more in one file; weights then go into a second one. */
const kOneFileBytes = 2 ** 31 - 2 ** 24;

export async function quantize(): Promise<Outcome> {
  const [current, made, set, found] = [session.value, plan.value?.value, samples.value?.set, encodings.value];
  if (current === null || made === undefined || set === undefined || found === null) return 'failed';
  const key = workKey.value;
  const outcome = await runJob('save', 'Writing the model', async (context) => {
    const { signal, onProgress, begin } = context;
    const external =
      current.model.bytes > kOneFileBytes ? { externalData: `${outputName(current.fileName)}.data` } : {};
    const result = await current.model.quantize(made, found.value, {
      signal,
      onProgress,
      random: set.random,
      ...external,
    });
    const codes = takesCodes(made);
    saved.value = { value: { result, score: null, takesCodes: codes, predictions: null }, key };
    begin('Scoring the quantized model', 1);
    const score = await current.model.score(made, found.value, set, { levels: true, signal, onProgress });
    saved.value = { value: { result, score, takesCodes: codes, predictions: null }, key };
    if (codes || score.warnings.some(({ code }) => code === 'not_run_by_default')) return;
    begin('Comparing predictions', set.count);
    const predictions = await comparePredictions(result.model, outputName(current.fileName), set, context);
    saved.value = { value: { result, score, takesCodes: codes, predictions }, key };
  });
  if (outcome === 'done')
    announce(`The quantized model is ready: ${bytes(saved.value?.value.result.report.bytes ?? 0)}.`);
  return outcome;
}

/** Whether inputs and outputs of the written model are tensors of codes, whose other half of the pair is the caller's. */
function takesCodes(plan: Plan): boolean {
  return plan.options.direct_io === true;
}

/** Top classes of both models side by side, when the first outputs are probabilities; otherwise null after one sample. */
async function comparePredictions(
  quantized: Blob,
  name: string,
  set: SampleSet,
  { signal, onProgress }: JobContext,
): Promise<Saved['predictions']> {
  const model = session.value?.model;
  if (model === undefined) return null;
  const rows: Prediction[] = [];
  let output = '';
  let index = 0;
  const references = model.runEach(set, { optimization: 'default', signal })[Symbol.asyncIterator]();
  try {
    for await (const deployed of bench().runDeployed(quantized, name, set, signal)) {
      const reference = await references.next();
      const found = reference.done === true ? null : firstPrediction(reference.value, deployed);
      if (found === null) return null;
      output = found.output;
      rows.push({ sample: set.name(index), float: found.float, quantized: found.quantized });
      index += 1;
      onProgress({ done: index, total: set.count });
    }
  } finally {
    await references.return?.();
  }
  return rows.length === 0 ? null : { output, rows };
}

function firstPrediction(
  reference: Sample,
  deployed: Sample,
): (Omit<Prediction, 'sample'> & { output: string }) | null {
  for (const [output, tensor] of Object.entries(reference)) {
    const other = deployed[output];
    if (other === undefined) continue;
    const float = topClass(tensor.dims, numbers(tensor.data));
    const quantized = topClass(other.dims, numbers(other.data));
    if (float !== null && quantized !== null) return { output, float, quantized };
  }
  return null;
}

function numbers(data: ArrayBufferView): ArrayLike<number> {
  return data instanceof Float32Array || data instanceof Float64Array ? data : [];
}
