// What a classifier says before and after, sample by sample.
import type { ReportPrediction } from '../report/report_data.js';
import type { Model, SampleSet } from '../types.js';

export type Prediction = ReportPrediction;
type Answer = ReportPrediction['float'];

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
  const [before, after] = (await Promise.all(
    [float, quantized].map((model) => answers(model, samples, classifier, call)),
  )) as [Answer[], Answer[]];
  return before.map((answer, i) => {
    const other = after[i]!;
    return {
      sample: samples.name(i),
      float: answer,
      quantized: other,
      agree: answer.label === other.label,
    };
  });
}

async function answers(
  model: Model,
  samples: SampleSet,
  { output, labels }: Classifier,
  call: { signal: AbortSignal },
): Promise<Answer[]> {
  const found: Answer[] = [];
  for await (const outputs of model.runEach(samples, {
    outputs: [output],
    optimization: 'default',
    ...call,
  })) {
    const probabilities = outputs[output]?.data as Float32Array;
    let best = 0;
    probabilities.forEach((probability, i) => {
      if (probability > (probabilities[best] ?? 0)) best = i;
    });
    found.push({ label: labels[best] ?? String(best), probability: probabilities[best] ?? 0 });
  }
  return found;
}

export function agreementText(predictions: readonly Prediction[]): string {
  const agree = predictions.filter((prediction) => prediction.agree).length;
  return `${agree} of ${predictions.length} predictions agree`;
}

export function percent(probability: number): string {
  return `${(100 * probability).toFixed(1)} %`;
}
