// What was dropped, sorted by what it is for: a model, its external data, samples. Pure: names in, a decision out.
import type { PathFile } from '../engine/bench';

export interface DropContext {
  hasModel: boolean;
  /** A model is waiting for its external data. */
  waiting: boolean;
}

export type Decision =
  | { kind: 'model'; model: PathFile; externalData: PathFile[]; samples: PathFile[] }
  | { kind: 'data'; externalData: PathFile[]; samples: PathFile[] }
  | { kind: 'samples'; samples: PathFile[] }
  | { kind: 'array'; array: PathFile }
  | { kind: 'refused'; message: string; next: string };

const kModel = /\.(onnx|ort)$/i;
const kSample = /\.(npy|npz|pb|png|jpe?g|json)$/i;
/** Files that systems leave in folders. */
const kLitter = /(^|\/)(\.[^/]*|Thumbs\.db|desktop\.ini)$/i;

const kDropModel = 'Drop one .onnx file, together with its external data files and samples if you have them.';

export function sortDrop(items: readonly PathFile[], context: DropContext): Decision {
  const files = items.filter((item) => !kLitter.test(item.path));
  const models = files.filter((item) => kModel.test(item.path));
  const samples = files.filter((item) => kSample.test(item.path));
  const others = files.filter((item) => !kModel.test(item.path) && !kSample.test(item.path));
  if (files.length === 0) return refuse('The folder is empty.', kDropModel);
  const [model, second] = models;
  if (model !== undefined && second !== undefined) {
    return refuse(`That were ${models.length} models: ${listNames(models)}.`, 'Drop one model at a time.');
  }
  if (model !== undefined) {
    if (!context.hasModel && inFolder(model)) {
      return refuse(
        `${folderOf(model)} is a folder.`,
        `Drop the file ${nameOf(model)} itself, with the files it needs beside it.`,
      );
    }
    return { kind: 'model', model, externalData: others, samples };
  }
  if (context.waiting && others.length > 0) return { kind: 'data', externalData: others, samples };
  if (samples.length > 0 && others.length === 0) return sortSamples(samples, context);
  return sortOthers(others, samples, context);
}

function sortSamples(samples: PathFile[], context: DropContext): Decision {
  if (context.hasModel) return { kind: 'samples', samples };
  const [first] = samples;
  // Without a model an array is what formats are tried on.
  if (first !== undefined && samples.length === 1 && /^[^/]*\.npy$/i.test(first.path))
    return { kind: 'array', array: first };
  const what =
    first !== undefined && inFolder(first)
      ? `${folderOf(first)} is a folder of samples, and no model is open.`
      : `${listNames(samples)} ${samples.length === 1 ? 'is a sample' : 'are samples'}, and no model is open.`;
  return refuse(what, 'Open a model first, or drop model and samples together.');
}

function sortOthers(others: PathFile[], samples: PathFile[], context: DropContext): Decision {
  const [first, second] = others;
  if (first === undefined) return refuse('Nothing was dropped that can be read here.', kDropModel);
  if (inFolder(first) && samples.length > 0 && context.hasModel) return { kind: 'samples', samples };
  if (inFolder(first))
    return refuse(`${folderOf(first)} is a folder without samples that can be read.`, kDropModel);
  if (second !== undefined || samples.length > 0) {
    return refuse(`None of these files is an ONNX model: ${listNames([...others, ...samples])}.`, kDropModel);
  }
  // One file of an unknown kind may be a model with another ending; the core says what it is not.
  return { kind: 'model', model: first, externalData: [], samples: [] };
}

function refuse(message: string, next: string): Decision {
  return { kind: 'refused', message, next };
}

function inFolder(item: PathFile): boolean {
  return item.path.includes('/');
}

function folderOf(item: PathFile): string {
  return item.path.slice(0, item.path.indexOf('/'));
}

function nameOf(item: PathFile): string {
  return item.path.slice(item.path.lastIndexOf('/') + 1);
}

function listNames(items: readonly PathFile[]): string {
  const shown = items.slice(0, 3).map(nameOf).join(', ');
  return items.length > 3 ? `${shown} and ${items.length - 3} more` : shown;
}
