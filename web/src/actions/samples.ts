// Calibration samples: read from files, or made up when a person says so.
import type { ImageOptions, PathFile } from '../engine/bench';
import { alarm, announce } from '../state/announce';
import { problemFrom } from '../state/problem';
import { pending, planFresh, problem, type Samples, samples, session } from '../state/store';
import { counted } from '../text/format';
import { guessImageOptions } from '../text/image_input';
import { bench } from './context';
import { updatePlan } from './plan';

let revision = 0;

const kImage = /\.(png|jpe?g)$/i;

export function haveImages(files: readonly PathFile[]): boolean {
  return files.some((item) => kImage.test(item.path));
}

export async function takeSamples(
  files: readonly PathFile[],
  origin: 'bundled' | 'files',
  image: ImageOptions | null,
): Promise<void> {
  const current = session.value;
  if (current === null) return;
  const { inputs } = current.summary.model;
  const chosen = image ?? (haveImages(files) ? guessImageOptions(inputs) : null);
  await replaceSamples(async () => {
    const set = await bench().readSamples(files, inputs, chosen);
    return { set, files, image: chosen, origin };
  });
}

export async function changeImageOptions(image: ImageOptions): Promise<void> {
  const current = samples.value;
  if (current !== null)
    await takeSamples(current.files, current.origin === 'bundled' ? 'bundled' : 'files', image);
}

export async function useRandomSamples(count: number, seed: number): Promise<void> {
  const current = session.value;
  if (current === null) return;
  await replaceSamples(async () => {
    const set = await bench().randomSamples(current.summary.model.inputs, count, seed);
    return { set, files: [], image: null, origin: 'random' };
  });
}

async function replaceSamples(read: () => Promise<Omit<Samples, 'revision'>>): Promise<void> {
  pending.value += 1;
  try {
    const next = await read();
    revision += 1;
    samples.value = { ...next, revision };
    if (problem.value?.at !== 'plan') problem.value = null; // New samples don't mend a plan.
    announce(`${counted(next.set.count, 'sample')} ready for calibration.`);
    if (!planFresh.value) await updatePlan();
  } catch (cause) {
    const failure = problemFrom(cause, 'Reading samples');
    problem.value = { at: 'calibrate', problem: failure };
    alarm(`${failure.message} ${failure.next}`);
  } finally {
    pending.value -= 1;
  }
}
