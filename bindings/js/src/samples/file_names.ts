// What a sample file's name says: which sample it belongs to, and which input it is for.
import type { ValueInfo } from '../types.js';

export interface FileName {
  /** The name up to the last slash, '' without one. */
  folder: string;
  extension: string;
  /** The name without folder and extension. */
  stem: string;
  /** Number of the sample in `name.K.npy`, `sample_K_name.npy`, `prefix.sK.name.npy`; null without one. */
  sample: number | null;
  /** The input's name as far as the file's name tells it, characters outside [A-Za-z0-9_.-] perhaps as "_". */
  input: string;
  /** K of `input_K.pb` in a test data set. */
  position: number | null;
  /** `output_K.pb` of a test data set: what the model should answer, of no use here. */
  expectedOutput: boolean;
}

const IMAGES = new Set(['png', 'jpg', 'jpeg']);
const ARRAYS = new Set(['npy', 'npz', 'pb', 'json']);

export function isSampleName(name: string): boolean {
  const { extension } = parseFileName(name);
  return IMAGES.has(extension) || ARRAYS.has(extension);
}

export function isImageName(name: FileName): boolean {
  return IMAGES.has(name.extension);
}

export function parseFileName(name: string): FileName {
  const slash = name.lastIndexOf('/');
  const base = name.slice(slash + 1);
  const dot = base.lastIndexOf('.');
  const stem = dot <= 0 ? base : base.slice(0, dot);
  const set = /^(input|output)_(\d+)$/.exec(stem);
  const numbered =
    /^sample_(?<k>\d+)_(?<input>.+)$/.exec(stem) ??
    /^(?:.*\.)?s(?<k>\d+)\.(?<input>.+)$/.exec(stem) ??
    /^(?<input>.+)\.(?<k>\d+)$/.exec(stem);
  const extension = dot <= 0 ? '' : base.slice(dot + 1).toLowerCase();
  return {
    folder: slash < 0 ? '' : name.slice(0, slash),
    extension,
    stem,
    sample: numbered?.groups?.k === undefined ? null : Number(numbered.groups.k),
    input: numbered?.groups?.input ?? stem,
    position: extension === 'pb' && set?.[1] === 'input' ? Number(set[2]) : null,
    expectedOutput: extension === 'pb' && set?.[1] === 'output',
  };
}

function fileSafe(name: string): string {
  return name.replace(/[^A-Za-z0-9_.-]/g, '_');
}

/** The input of that name, or of the name that its file-safe spelling has; null if there is none. */
export function inputNamed(inputs: readonly ValueInfo[], name: string): ValueInfo | null {
  if (name === '') return null;
  const exact = inputs.find((input) => input.name === name);
  return exact ?? inputs.find((input) => fileSafe(input.name) === name) ?? null;
}

/** Runs of digits by value, the rest by code unit: "sample_2" before "sample_10", the same everywhere. */
export function compareNames(a: string, b: string): number {
  const [left, right] = [a.match(/\d+|\D+/g) ?? [], b.match(/\d+|\D+/g) ?? []];
  for (let i = 0; i < Math.min(left.length, right.length); ++i) {
    const [l = '', r = ''] = [left[i], right[i]];
    if (l === r) continue;
    const numbers = /^\d/.test(l) && /^\d/.test(r);
    const [ln, rn] = numbers ? [BigInt(l), BigInt(r)] : [0n, 0n];
    if (ln !== rn) return ln < rn ? -1 : 1;
    return l < r ? -1 : 1;
  }
  return left.length - right.length;
}
