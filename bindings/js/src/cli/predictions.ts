// What a classifier says before and after, sample by sample.
import type { Model, SampleSet } from '../types.js';

export interface Answer {
  label: string;
  /** Of the label, 0 to 1. */
  probability: number;
}

export interface Prediction {
  sample: string;
  float: Answer;
  quantized: Answer;
  agree: boolean;
}

export interface Classifier {
  output: string;
  labels: string[];
}

/** The quantized model runs as it would when deployed: with the runtime's default options. */
export async function predictBoth(
  float: Model,
  quantized: Model,
  samples: SampleSet,
  classifier: Classifier,
  call: { signal: AbortSignal },
): Promise<Prediction[]> {
  const predictions: Prediction[] = [];
  for (let i = 0; i < samples.count; ++i) {
    const [before, after] = (await Promise.all(
      [float, quantized].map((model) => answer(model, samples, i, classifier, call)),
    )) as [Answer, Answer];
    predictions.push({
      sample: samples.name(i),
      float: before,
      quantized: after,
      agree: before.label === after.label,
    });
  }
  return predictions;
}

async function answer(
  model: Model,
  samples: SampleSet,
  index: number,
  { output, labels }: Classifier,
  call: { signal: AbortSignal },
): Promise<Answer> {
  const sample = await samples.load(index);
  const outputs = await model.run(sample, {
    outputs: [output],
    optimization: 'default',
    signal: call.signal,
  });
  const probabilities = outputs[output]?.data as Float32Array;
  let best = 0;
  probabilities.forEach((probability, i) => {
    if (probability > (probabilities[best] ?? 0)) best = i;
  });
  return { label: labels[best] ?? String(best), probability: probabilities[best] ?? 0 };
}

export function agreementText(predictions: readonly Prediction[]): string {
  const agree = predictions.filter((prediction) => prediction.agree).length;
  return `${agree} of ${predictions.length} predictions agree`;
}

export function percent(probability: number): string {
  return `${(100 * probability).toFixed(1)} %`;
}
