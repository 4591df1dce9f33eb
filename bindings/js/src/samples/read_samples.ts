// Sample files to a set of samples: the same in a page and in Node. Files are looked at once, when the set is made, so that what
// doesn't fit is said before any long work; values are read when a sample is loaded, one sample at a time.
import type { Sample, SampleSet, SampleTensor } from '../types.js';
import { type Assignment, assignGroup, type InputInfo } from './assign.js';
import { collectGroups, type Group } from './collect.js';
import { conversion, convertElements } from './convert.js';
import { type Fit, fitDims } from './fit.js';
import type { ImageFile } from './image_file.js';
import { describeLayout, type ImageOptions, imageLayout } from './image_options.js';
import { Notices } from './notices.js';
import { invalidSample, shapeText } from './sample_error.js';
import type { NamedSource } from './source.js';
import { arrayTitle, type StoredArray } from './stored_array.js';

/** One input's value in every sample of a group. */
interface Column {
  input: string;
  samples: number;
  load(index: number): Promise<SampleTensor>;
}

interface Rows {
  title: string;
  /** Number of the group's first sample in the set. */
  first: number;
  samples: number;
  columns: Column[];
}

/**
 * `inputs` are the model's graph inputs without initializers. What was ignored, converted or assumed is in the set's warnings.
 * Errors: invalid_sample with the file in `where`.
 */
export async function readSamples(
  files: readonly NamedSource[],
  inputs: readonly InputInfo[],
  images: ImageOptions = {},
): Promise<SampleSet> {
  const notices = new Notices();
  const groups = await collectGroups(files, inputs, notices);
  const rows: Rows[] = [];
  let count = 0;
  for (const group of groups) {
    const added = groupRows(group, count, { inputs, images, notices });
    count += added.samples;
    rows.push(added);
  }
  if (count === 0) throw noSamples(files);
  const find = (index: number): Rows => {
    const found = rows[lastStartingAtOrBefore(rows, index)];
    if (found === undefined || index < 0 || index >= count)
      throw new RangeError(`no sample ${index} of ${count}`);
    return found;
  };
  return {
    count,
    warnings: notices.warnings(),
    random: false,
    name: (index) => sampleName(find(index), index),
    load: async (index) => loadSample(find(index), index),
  };
}

function noSamples(files: readonly NamedSource[]) {
  const what =
    files.length === 0 ? 'No sample files were given.' : `None of the ${files.length} files is a sample.`;
  const next = 'Give .npy, .npz, .pb, .json, PNG or JPEG files, or a folder of them.';
  return invalidSample(what, files[0]?.name ?? '', next);
}

/** Binary search: sets of many thousand files are read in any order. */
function lastStartingAtOrBefore(rows: readonly Rows[], index: number): number {
  let [low, high] = [0, rows.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.first ?? 0) <= index) low = middle;
    else high = middle;
  }
  return low;
}

function sampleName(rows: Rows, index: number): string {
  return rows.samples === 1 ? rows.title : `${rows.title}[${index - rows.first}]`;
}

async function loadSample(rows: Rows, index: number): Promise<Sample> {
  const sample: Sample = {};
  for (const column of rows.columns) sample[column.input] = await column.load(index - rows.first);
  return sample;
}

interface Context {
  inputs: readonly InputInfo[];
  images: ImageOptions;
  notices: Notices;
}

function groupRows(group: Group, first: number, context: Context): Rows {
  const assigned = assignGroup(group, context.inputs, context.notices);
  const columns = assigned.map((assignment) => makeColumn(assignment, context));
  const samples = columns[0]?.samples ?? 0;
  const other = columns.find((column) => column.samples !== samples);
  if (other !== undefined) {
    throw invalidSample(
      `${group.title} has ${samples} samples for input ${JSON.stringify(columns[0]?.input)} but ${other.samples} for input ${JSON.stringify(other.input)}.`,
      group.parts[0]?.file ?? '',
      'Give every input the same number of samples.',
    );
  }
  if (samples > 1)
    context.notices.add('several_samples', `holds ${samples} samples along its first dimension`, group.title);
  return { title: group.title, first, samples, columns };
}

function makeColumn({ input, part }: Assignment, context: Context): Column {
  if ('image' in part.value) return imageColumn(input, part.value.image, context);
  return arrayColumn(input, part.value.array, context.notices);
}

function imageColumn(input: InputInfo, image: ImageFile, { images, notices }: Context): Column {
  const layout = imageLayout(input, images, image.file);
  image.remark(layout, notices);
  if (images.scale === undefined && images.mean === undefined && images.std === undefined) {
    notices.add(
      'image_defaults',
      `was read with default image options: ${describeLayout(layout)}`,
      image.file,
    );
  }
  return { input: input.name, samples: 1, load: () => image.load(layout) };
}

function arrayColumn(input: InputInfo, array: StoredArray, notices: Notices): Column {
  const how = conversion(array.type, input.type);
  const fit = fitDims(input, array.dims);
  if (how === 'refused' || fit === null) throw mismatch(input, array, how === 'refused');
  if (fit.batchAdded)
    notices.add(
      'batch_added',
      `lacks the batch dimension of input ${JSON.stringify(input.name)}; a 1 was put in front`,
      array.file,
    );
  if (how !== 'none' && array.type !== 'number') {
    const rounded = how === 'rounded' ? ', rounded to the nearest' : '';
    notices.add(
      'type_converted',
      `holds ${array.type} for input ${JSON.stringify(input.name)} and was converted to ${input.type}${rounded}`,
      array.file,
    );
  }
  return { input: input.name, samples: fit.samples, load: (index) => loadRows(input, array, fit, index) };
}

async function loadRows(
  input: InputInfo,
  array: StoredArray,
  fit: Fit,
  index: number,
): Promise<SampleTensor> {
  const stored = await array.read(index * fit.rowsEach, fit.rowsEach);
  const { data, misfit } = convertElements(array.type, input.type, stored);
  if (misfit === undefined) return { type: input.type, dims: [...fit.dims], data };
  throw invalidSample(
    `${arrayTitle(array)} holds ${misfit}, which input ${JSON.stringify(input.name)} of type ${input.type} can't take.`,
    array.file,
    `Save the values as ${input.type}.`,
  );
}

function mismatch(input: InputInfo, array: StoredArray, byType: boolean) {
  const given = array.type === 'number' ? 'numbers' : array.type;
  const message =
    `Input ${JSON.stringify(input.name)} needs ${input.type} ${shapeText(input.shape)}, ` +
    `but ${arrayTitle(array)} holds ${given} ${shapeText(array.dims)}.`;
  const next = byType
    ? `Save the values as ${input.type}.`
    : 'Give arrays of that shape; a first dimension of N times the batch makes N samples.';
  return invalidSample(message, array.file, next);
}
