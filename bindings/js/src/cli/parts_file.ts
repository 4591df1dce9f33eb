// A tensor in a format that keeps codes and scales apart, as files: a JSON file of facts, and beside it the bytes of each part
// as the format's source defines them.
import { readFileSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { HalftoneError } from '../shared/errors.js';
import { jsonFile } from '../shared/result_files.js';
import type { EncodedPartName, EncodedTensor, FormatFamily } from '../types.js';
import { checkOutput, GrowingOutput, writeOutput } from './output_files.js';
import { readJson } from './work.js';

const PARTS: readonly EncodedPartName[] = ['codes', 'scales', 'zero_points'];
const FLOAT_TYPES = ['float32', 'double', 'float16', 'bfloat16'];
const MAX_BLOCK = 2 ** 32 - 1;
const MAX_RANK = 64; // of NumPy

interface PartsFile {
  halftone: { version: string };
  format: string;
  family: FormatFamily;
  block: number;
  /** Of the array that was encoded; values come back as float32. */
  type: EncodedTensor['type'];
  dims: number[];
  bits_per_value: number;
  /** modelopt_nvfp4 only. */
  tensor_scale: number | null;
  /** Files in the same folder. */
  parts: { name: EncodedPartName; file: string; bytes: number }[];
}

/** Beside `output`, a JSON file's name. */
function partPath(output: string, part: EncodedPartName): string {
  return `${output.replace(/\.json$/i, '')}.${part}.bin`;
}

export function checkPartOutputs(output: string, inputs: readonly string[], force: boolean): void {
  for (const path of [output, ...PARTS.map((part) => partPath(output, part))])
    checkOutput(path, inputs, force);
}

/** Parts without bytes get no file. Nothing is there afterwards if anything failed. */
export async function writeParts(
  output: string,
  version: string,
  fill: (write: (bytes: Uint8Array, part: EncodedPartName) => void) => Promise<EncodedTensor>,
): Promise<EncodedTensor> {
  const files = new Map<EncodedPartName, GrowingOutput>();
  const written: string[] = [];
  try {
    const encoded = await fill((bytes, part) => {
      const file = files.get(part) ?? new GrowingOutput(partPath(output, part));
      files.set(part, file);
      file.write(bytes);
    });
    for (const [part, file] of files) {
      files.delete(part);
      file.finish();
      written.push(partPath(output, part));
    }
    await writeOutput(output, jsonFile(factsOf(encoded, output, version)));
    return encoded;
  } catch (error) {
    for (const file of files.values()) file.discard();
    for (const path of written) rmSync(path, { force: true });
    throw error;
  }
}

function factsOf(encoded: EncodedTensor, output: string, version: string): PartsFile {
  const { format, family, block, type, dims, bitsPerWeight, tensorScale, parts } = encoded;
  return {
    halftone: { version },
    format,
    family,
    block,
    type,
    dims,
    bits_per_value: bitsPerWeight,
    tensor_scale: tensorScale,
    parts: parts
      .filter(({ bytes }) => bytes > 0)
      .map(({ name, bytes }) => ({ name, file: basename(partPath(output, name)), bytes })),
  };
}

/** `files` are those of the parts. */
export function readParts(path: string): { encoded: EncodedTensor; files: string[] } {
  const facts = readJson<Partial<PartsFile>>(path);
  const { format, family, block, type, dims, tensor_scale: scale, parts } = facts;
  const sound =
    typeof format === 'string' &&
    isCount(block) &&
    block > 0 &&
    block <= MAX_BLOCK &&
    FLOAT_TYPES.includes(type ?? '') &&
    Array.isArray(dims) &&
    dims.length <= MAX_RANK &&
    dims.every(isCount) &&
    (scale === null || typeof scale === 'number') &&
    Array.isArray(parts) &&
    parts.every((part) => PARTS.includes(part?.name) && typeof part.file === 'string' && isCount(part.bytes));
  if (!sound) throw notWritten(path, 'it has no format, block, type, dims, tensor_scale and parts');
  if (new Set(parts!.map(({ name }) => name)).size < parts!.length)
    throw notWritten(path, 'it names a part twice');
  // Without it values would come out as if it were 1.
  if (format === 'modelopt_nvfp4' && scale === null)
    throw notWritten(path, `${format} has a tensor_scale, and it has none`);
  const count = dims!.reduce((product, dim) => product * dim, 1);
  if (!Number.isSafeInteger(count)) throw notWritten(path, 'its dims are beyond reason');
  const bytes = parts!.reduce((sum, part) => sum + part.bytes, 0);
  // Memory is asked for by the dims, which could say anything.
  if (count > bytes * 8)
    throw notWritten(path, `its dims make ${count} values, and its parts have ${bytes} bytes`);
  const encoded: EncodedTensor = {
    format: format!,
    family: family ?? 'block layout',
    block: block!,
    type: type!,
    dims: dims!,
    count,
    bytes,
    bitsPerWeight: facts.bits_per_value ?? 0,
    parts: parts!.map((part) => ({ name: part.name, ...contentOf(path, part) })),
    tensorScale: scale!,
  };
  return { encoded, files: parts!.map(({ file }) => join(dirname(path), file)) };
}

/** Never outside of the folder, whatever the JSON file says. */
function contentOf(path: string, { file, bytes }: PartsFile['parts'][number]) {
  if (file !== basename(file)) throw notWritten(path, `it names ${file}, which is not in its folder`);
  const place = join(dirname(path), file);
  let found: number;
  let content = Buffer.alloc(0);
  try {
    found = statSync(place).size;
    if (found === bytes) content = readFileSync(place);
  } catch (cause) {
    const next = 'Keep the files that were written together in one folder.';
    throw new HalftoneError('external_data_missing', `Can't read ${place}, which ${path} needs.`, {
      where: place,
      next,
      cause,
    });
  }
  if (found !== bytes) throw notWritten(path, `${file} has ${found} bytes where it says ${bytes}`);
  return { bytes, content: new Blob([content]) };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function notWritten(path: string, why: string): HalftoneError {
  return new HalftoneError('invalid_policy', `${path} doesn't describe an encoded array: ${why}.`, {
    where: path,
    next: 'Give the .json file that halftone encode wrote.',
  });
}
