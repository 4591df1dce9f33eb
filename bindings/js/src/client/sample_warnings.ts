// What a result says about the samples it rests on.
import type { SampleSet, Warning } from '../types.js';

export function sampleWarnings(samples: SampleSet): Warning[] {
  if (!samples.random) return [...samples.warnings];
  const told = samples.warnings.some((warning) => warning.code === 'random_data');
  const random: Warning = {
    code: 'random_data',
    message: 'The samples are random numbers: ranges and scores say little about real input.',
    where: '',
  };
  return told ? [...samples.warnings] : [random, ...samples.warnings];
}
