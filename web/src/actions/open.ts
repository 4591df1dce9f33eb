// Opening a model: from files, from a drop, from the bundled samples. The previous model stays until the new one is there.

import type { BundledSample, ImageOptions, PathFile } from '../engine/bench';
import type { Model } from '../package';
import { alarm, announce } from '../state/announce';
import { type Problem, problemFrom } from '../state/problem';
import {
  arrayFile,
  forgetResults,
  job,
  notice,
  opening,
  pending,
  problem,
  selected,
  session,
  step,
  waitingForData,
} from '../state/store';
import { markOpened } from '../state/traffic';
import { bytes, counted, printable } from '../text/format';
import { bench } from './context';
import { cancelJob, type JobContext, type Outcome, runJob } from './job';
import { knownFormat } from './known_formats';
import { updatePlan } from './plan';
import { runAll } from './run';
import { takeSamples } from './samples';
import { sortDrop } from './sort_drop';

let revision = 0;

interface OpenFiles {
  model: File;
  externalData: readonly PathFile[];
  samples: readonly PathFile[];
  image?: ImageOptions | null;
  bundled?: BundledSample;
}

/** Whatever a person dropped or chose. */
export async function takeFiles(files: readonly PathFile[]): Promise<void> {
  const waiting = waitingForData.value;
  const decision = sortDrop(files, { hasModel: session.value !== null, waiting: waiting !== null });
  switch (decision.kind) {
    case 'refused':
      refuse(decision.message, decision.next);
      return;
    case 'samples':
      await whenNothingRuns();
      await takeSamples(decision.samples, 'files', null);
      return;
    case 'array':
      await whenNothingRuns();
      forgetResults();
      problem.value = null;
      arrayFile.value = decision.array.file;
      return;
    case 'data':
      if (waiting === null) return;
      await openFiles({
        model: waiting.model,
        externalData: [...waiting.have, ...decision.externalData],
        samples: [...waiting.samples, ...decision.samples],
      });
      return;
    case 'model':
      await openFiles({
        model: decision.model.file,
        externalData: decision.externalData,
        samples: decision.samples,
      });
  }
}

/** Says why something was not taken, and changes nothing else. */
export function refuse(message: string, next: string): void {
  const refused: Problem = {
    code: 'not_taken',
    message: printable(message, 400),
    next,
    where: '',
    during: 'Opening',
  };
  notice.value = null;
  problem.value = { at: 'model', problem: refused };
  alarm(`${refused.message} ${refused.next}`);
}

async function whenNothingRuns(): Promise<void> {
  cancelJob();
  while (job.value !== null) await nextChange();
}

function nextChange(): Promise<void> {
  return new Promise((resolve) => {
    let first = true;
    const stop = job.subscribe(() => {
      if (first) first = false;
      else
        queueMicrotask(() => {
          stop();
          resolve();
        });
    });
  });
}

async function openFiles(files: OpenFiles): Promise<Outcome> {
  waitingForData.value = null;
  opening.value = { name: printable(files.model.name), size: files.model.size };
  await whenNothingRuns();
  notice.value = null;
  const outcome = await runJob('model', `Opening ${printable(files.model.name)}`, (context) =>
    openInto(files, context),
  );
  opening.value = null;
  if (outcome === 'failed') await explainFailure(files);
  if (outcome === 'done' && files.samples.length > 0) {
    await takeSamples(files.samples, files.bundled ? 'bundled' : 'files', files.image ?? null);
  }
  return outcome;
}

async function openInto(files: OpenFiles, context: JobContext): Promise<void> {
  const model = await bench().open(files.model, {
    externalData: files.externalData,
    signal: context.signal,
    onProgress: context.onProgress,
  });
  try {
    const summary = await model.inspect();
    context.signal.throwIfAborted();
    replaceSession(model, files, summary);
  } catch (cause) {
    await model.close();
    throw cause;
  }
  await updatePlan();
}

function replaceSession(
  model: Model,
  files: OpenFiles,
  summary: Awaited<ReturnType<Model['inspect']>>,
): void {
  const previous = session.value;
  forgetResults();
  waitingForData.value = null;
  revision += 1;
  session.value = { model, fileName: files.model.name, summary, revision, bundled: files.bundled ?? null };
  if (previous !== null) {
    selected.value = null;
    step.value = 'model'; // The first model keeps what the address said.
    void previous.model.close();
  }
  void prepareRuns();
  const name = printable(files.model.name);
  announce(`${name} is open: ${bytes(summary.model.bytes)}, ${counted(summary.nodes, 'node')}.`);
}

/** Fetches the runtime now, so that a run requests nothing. If that fails, the run says why. */
async function prepareRuns(): Promise<void> {
  pending.value += 1;
  await bench()
    .prepare()
    .catch(() => undefined);
  markOpened();
  pending.value -= 1;
}

/** Adds what the page knows: other formats by their first bytes, and the model that waits for its data. */
async function explainFailure(files: OpenFiles): Promise<void> {
  const current = problem.value;
  if (current === null) return;
  const { code } = current.problem;
  if (code === 'external_data_missing') {
    waitingForData.value = { model: files.model, have: files.externalData, samples: files.samples };
    return;
  }
  if (code !== 'not_onnx' && code !== 'truncated' && code !== 'invalid_graph') return;
  const head = new Uint8Array(
    await files.model
      .slice(0, 16)
      .arrayBuffer()
      .catch(() => new ArrayBuffer(0)),
  );
  const known = knownFormat(head, files.model.name);
  if (known === null) return;
  const message = `${printable(files.model.name)} is ${known.what}, not an ONNX model.`;
  problem.value = { at: 'model', problem: { ...current.problem, message, next: known.next } };
  alarm(`${message} ${known.next}`);
}

/** A bundled sample goes the whole way on its own: its calibration data comes with it. */
export async function openBundled(sample: BundledSample): Promise<void> {
  pending.value += 1;
  try {
    await openAndRun(sample);
  } finally {
    pending.value -= 1;
  }
}

async function openAndRun(sample: BundledSample): Promise<void> {
  opening.value = { name: sample.title, size: sample.modelBytes };
  await whenNothingRuns();
  let files: OpenFiles | null = null;
  const fetched = await runJob('model', `Fetching ${sample.title}`, async ({ signal }) => {
    const found = await bench().fetchSample(sample.id, signal);
    files = {
      model: found.model,
      externalData: [],
      samples: found.samples,
      image: found.image,
      bundled: sample,
    };
  });
  opening.value = null;
  if (fetched !== 'done' || files === null) return;
  if ((await openFiles(files)) === 'done' && problem.value === null) await runAll();
}

export async function closeModel(): Promise<void> {
  await whenNothingRuns();
  const previous = session.value;
  session.value = null;
  selected.value = null;
  step.value = 'model';
  forgetResults();
  if (previous === null) return;
  try {
    await previous.model.close();
    announce('The model is closed.');
  } catch (cause) {
    problem.value = { at: 'model', problem: problemFrom(cause, 'Closing the model') };
  }
}
