// Opens the files and sorts what is in them into groups: the values that belong to one sample, or to one row of samples.
import type { ValueInfo } from '../types.js';
import {
  compareNames,
  type FileName,
  inputNamed,
  isImageName,
  isSampleName,
  parseFileName,
} from './file_names.js';
import { type ImageFile, openImage } from './image_file.js';
import { openJson } from './json_sample.js';
import type { Notices } from './notices.js';
import { openNpy } from './npy.js';
import { openNpz } from './npz.js';
import { type NamedSource, openSampleFile, type SampleFile } from './source.js';
import type { StoredArray } from './stored_array.js';
import { openTensorProto } from './tensor_proto.js';

/** One value with what is known about the input that it is for. */
export interface Part {
  value: { array: StoredArray } | { image: ImageFile };
  file: string;
  /** Names that may be an input's, the likeliest first. */
  names: string[];
  /** K of `input_K.pb`. */
  position: number | null;
}

export interface Group {
  /** How the sample is called in messages. */
  title: string;
  parts: Part[];
}

/** Groups in the order of their first file, files in natural order whatever order they came in. Errors: invalid_sample. */
export async function collectGroups(
  files: readonly NamedSource[],
  inputs: readonly ValueInfo[],
  notices: Notices,
): Promise<Group[]> {
  const groups = new Map<string, Group>();
  const add = (key: string, title: string, part: Part) => {
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { title, parts: [part] });
    else known.parts.push(part);
  };
  const sorted = [...files].sort((a, b) => compareNames(a.name, b.name));
  const namedFolders = foldersWithInputNames(sorted, inputs);
  for (const source of sorted) {
    if (!isSampleName(source.name))
      notices.add('file_ignored', 'is no sample file and was ignored', source.name);
    else await addFile(source, { inputs, namedFolders, notices, add });
  }
  return [...groups.values()];
}

interface Context {
  inputs: readonly ValueInfo[];
  namedFolders: Set<string>;
  notices: Notices;
  add(key: string, title: string, part: Part): void;
}

/** Folders in which some file is called as an input is ("x.npy", "mask.npy"): there, all such files belong together. */
function foldersWithInputNames(files: readonly NamedSource[], inputs: readonly ValueInfo[]): Set<string> {
  const folders = new Set<string>();
  for (const { name } of files) {
    const parsed = parseFileName(name);
    const single = parsed.extension === 'npy' || parsed.extension === 'pb';
    if (single && parsed.sample === null && inputNamed(inputs, parsed.stem) !== null)
      folders.add(parsed.folder);
  }
  return folders;
}

async function addFile(source: NamedSource, context: Context): Promise<void> {
  const name = parseFileName(source.name);
  if (name.expectedOutput) return;
  const file = openSampleFile(source);
  if (isImageName(name)) {
    const image = await openImage(file);
    context.add(file.name, file.name, { value: { image }, file: file.name, names: [], position: null });
  } else if (name.extension === 'npz') {
    const { arrays, skipped } = await openNpz(file);
    for (const entry of skipped)
      context.notices.add(
        'entry_ignored',
        `has an entry ${JSON.stringify(entry)} that is no array`,
        file.name,
      );
    for (const array of arrays) context.add(file.name, file.name, keyed(array));
  } else if (name.extension === 'json') {
    const samples = await openJson(file);
    samples.forEach((arrays, i) => {
      const title = samples.length === 1 ? file.name : `${file.name}[${i}]`;
      for (const array of arrays) context.add(`${file.name}\n${i}`, title, keyed(array));
    });
  } else {
    await addSingle(file, name, context);
  }
}

function keyed(array: StoredArray): Part {
  return { value: { array }, file: array.file, names: [array.key], position: null };
}

/** A file with one array: .npy or .pb. */
async function addSingle(file: SampleFile, name: FileName, context: Context): Promise<void> {
  const array = name.extension === 'pb' ? await openTensorProto(file) : await openNpy(file, file.name);
  const part = {
    value: { array },
    file: file.name,
    names: [name.input, name.stem, array.key],
    position: name.position,
  };
  if (name.position !== null) {
    context.add(`set\n${name.folder}`, name.folder || file.name, { ...part, names: [array.key] });
  } else if (name.sample !== null) {
    const folder = name.folder === '' ? '' : `${name.folder}/`;
    context.add(`numbered\n${folder}${name.sample}`, `${folder}sample ${name.sample}`, part);
  } else if (context.inputs.length > 1 || context.namedFolders.has(name.folder)) {
    context.add(`folder\n${name.folder}`, name.folder || file.name, part);
  } else {
    context.add(file.name, file.name, part);
  }
}
