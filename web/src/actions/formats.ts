// The format bench: what number formats do to a model's weights or to one array, and the result as a file.
import { signal } from '@preact/signals';
import { download } from '../exports/download';
import { type FormatFigures, type StorageFormat, type TensorComparison, usualFormats } from '../package';
import { announce } from '../state/announce';
import { problemFrom } from '../state/problem';
import {
  arrayFile,
  compared,
  forgetResults,
  formatChoice,
  formatsKey,
  job,
  pending,
  problem,
  session,
} from '../state/store';
import { bytes, printable } from '../text/format';
import { bench } from './context';
import { cancelJob, type Outcome, runJob } from './job';

/** Smaller tensors are biases and the like, where nothing is to be saved. */
const kLeastValues = 1024;

export interface Known {
  /** Those that need nothing but values. */
  readonly formats: readonly StorageFormat[];
  /** Of the model; none for an array. */
  readonly weights: readonly string[];
  readonly usualWeights: readonly string[];
}

export const known = signal<Known | null>(null);
/** What a weight may take to win. */
export const mostBits = signal(4.5);
export const encodeAs = signal({ format: 'nf4', block: 0, standard: false });
/** What was written last, as a sentence. */
export const written = signal('');

export async function learn(): Promise<void> {
  pending.value += 1;
  known.value = null;
  written.value = '';
  const model = session.peek()?.model;
  try {
    const formats = await bench().formats.formats();
    const weights = (await model?.weights(1)) ?? [];
    if (session.peek()?.model !== model) return;
    known.value = {
      formats: formats.filter(({ needs }) => needs === ''),
      weights: weights.map(({ tensor }) => tensor),
      usualWeights: weights.filter(({ count }) => count >= kLeastValues).map(({ tensor }) => tensor),
    };
  } catch (cause) {
    problem.value = { at: 'formats', problem: problemFrom(cause, 'Reading the weights') };
  } finally {
    pending.value -= 1;
  }
}

export function chosenFormats({ formats }: Known): readonly string[] {
  return formatChoice.value.formats ?? usualFormats(formats);
}

export function chosenWeights({ usualWeights }: Known): readonly string[] {
  return formatChoice.value.tensors ?? usualWeights;
}

export async function compare(about: Known): Promise<Outcome> {
  const model = session.peek()?.model;
  const file = arrayFile.peek();
  const sources = model
    ? chosenWeights(about).map((tensor) => ({ model, tensor }))
    : file
      ? [{ npy: file, name: file.name }]
      : [];
  const names = chosenFormats(about);
  const { blocks } = formatChoice.peek();
  const key = formatsKey.peek();
  return runJob('formats', 'Comparing formats', async ({ signal: stop, onProgress }) => {
    // One tensor after the other: of each, progress begins anew.
    let finished = 0;
    let share = 0;
    const value = await bench().formats.compareFormats(sources, names, blocks, {
      signal: stop,
      onProgress: ({ done, total }) => {
        const now = total === 0 ? 1 : done / total;
        if (now < share) finished += 1;
        share = now;
        onProgress({ done: finished + share, total: sources.length });
      },
    });
    compared.value = { value, key };
    announce('Formats compared.');
  });
}

export function isFigures(row: TensorComparison['formats'][number]): row is FormatFigures {
  return !('error' in row);
}

/** As the package chooses it, for a size that may change afterwards. */
export function withWinner(one: TensorComparison, most: number): TensorComparison {
  const [best] = one.formats
    .filter(isFigures)
    .filter((row) => row.count > 0 && row.bitsPerWeight <= most)
    .sort((a, b) => a.rmsError - b.rmsError || a.bitsPerWeight - b.bitsPerWeight);
  return { ...one, winner: best === undefined ? null : { format: best.format, block: best.block } };
}

/** A model with its chosen weights in the chosen format, or the array as codes. */
export async function encode(about: Known): Promise<Outcome> {
  const { format, block, standard } = encodeAs.peek();
  const current = session.peek();
  const file = arrayFile.peek();
  const stem = (current?.fileName ?? file?.name ?? '').replace(/\.(onnx|npy)$/i, '');
  return runJob('formats', `Encoding as ${format}`, async (context) => {
    const options = { format, block, signal: context.signal, onProgress: context.onProgress };
    if (current !== null) {
      const { model, externalData, report } = await current.model.encodeWeights({
        ...options,
        tensors: chosenWeights(about),
        least: 1,
        ...(standard && { standard: true, transpose: true }),
      });
      download(`${stem}.${format}.onnx`, model, '');
      if (externalData !== undefined) download(`${stem}.${format}.onnx.data`, externalData, '');
      written.value = `${bytes(report.bytesBefore)} became ${bytes(report.bytes)}.`;
    } else if (file !== null) {
      const made = await bench().formats.encodeTensor(
        { npy: file, name: file.name },
        { ...options, name: stem },
      );
      for (const { name, content } of made.parts)
        download(`${stem}.${format}.${name === 'value' ? 'pb' : `${name}.bin`}`, content, '');
      const scale = made.tensorScale === null ? '' : ` The tensor's scale is ${made.tensorScale}.`;
      written.value = `${bytes(file.size)} became ${bytes(made.bytes)}.${scale}`;
    }
    announce(`${printable(stem)} is encoded. ${written.value}`);
  });
}

export function closeArray(): void {
  if (job.peek() !== null) cancelJob();
  forgetResults();
}
