// Samples as JSON: {"input": nested arrays} is one sample, a list of such objects is many, and bare nested arrays are the value
// of a model's only input. Numbers carry no type; they take the input's (see convert.ts).
import { invalidSample } from './sample_error.js';
import { readWhole, type SampleFile } from './source.js';
import { rowLayout, type StoredArray } from './stored_array.js';

const MAX_RANK = 64;
/** A text of more can't be one JavaScript string. */
const MAX_BYTES = 2 ** 29 - 24;

const NEXT = 'Write {"input": [[...]]}, or a list of such objects; .npy files are better for large samples.';

/** Arrays of each sample in the file, keyed by input name ('' for bare arrays). Errors: invalid_sample. */
export async function openJson(file: SampleFile): Promise<StoredArray[][]> {
  const fail = (what: string): never => {
    throw invalidSample(`${file.name} ${what}.`, file.name, NEXT);
  };
  if (file.size > MAX_BYTES) fail('is larger than 512 MB, too large for JSON');
  const text = new TextDecoder().decode(await readWhole(file));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // The engine's message quotes the text, line breaks and all.
    return fail(`is not JSON: ${(cause as Error).message.replace(/\s+/g, ' ')}`);
  }
  if (Array.isArray(value) && value.length > 0 && value.every(isObject)) {
    return value.map((sample) => objectArrays(sample as Record<string, unknown>, file.name, fail));
  }
  if (isObject(value)) return [objectArrays(value, file.name, fail)];
  return [[flatten(value, file.name, '', fail)]];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectArrays(
  sample: Record<string, unknown>,
  file: string,
  fail: (what: string) => never,
): StoredArray[] {
  return Object.entries(sample).map(([key, value]) => flatten(value, file, key, fail));
}

function flatten(value: unknown, file: string, key: string, fail: (what: string) => never): StoredArray {
  const place = key === '' ? '' : ` under ${JSON.stringify(key)}`;
  const dims: number[] = [];
  for (let inner = value; Array.isArray(inner); inner = inner[0]) {
    dims.push(inner.length);
    if (dims.length > MAX_RANK) fail(`nests more than ${MAX_RANK} arrays${place}`);
  }
  const numbers: number[] = [];
  const visit = (part: unknown, depth: number): void => {
    if (depth < dims.length) {
      if (!Array.isArray(part) || part.length !== dims[depth]) fail(`has rows of different lengths${place}`);
      for (const child of part as unknown[]) visit(child, depth + 1);
    } else if (typeof part === 'number') numbers.push(part);
    else if (typeof part === 'boolean') numbers.push(part ? 1 : 0);
    else
      fail(
        `has ${part === null ? 'null' : `a ${Array.isArray(part) ? 'list' : typeof part}`} where a number should be${place}`,
      );
  };
  visit(value, 0);
  const values = Float64Array.from(numbers);
  const { rowElements } = rowLayout(dims);
  const read = async (first: number, count: number) =>
    values.slice(first * rowElements, (first + count) * rowElements);
  return { file, key, type: 'number', dims, read };
}
