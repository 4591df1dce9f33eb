// Tensors that a program gives, as a worker reads them.
import { toWireSource } from '../platform/source.js';
import { npyData } from '../samples/npy.js';
import { openSampleFile } from '../samples/source.js';
import { HalftoneError } from '../shared/errors.js';
import type { ArrayData } from '../shared/protocol.js';
import type { ByteSource, FloatTypeName, TensorSource, TensorValues } from '../types.js';

const WIDTH: Record<FloatTypeName, number> = { float32: 4, double: 8, float16: 2, bfloat16: 2 };

export interface NamedArray {
  name: string;
  array: ArrayData;
}

/** Errors: invalid_sample, unsupported_type, shape_mismatch. */
export async function arrayOf(source: TensorSource): Promise<NamedArray> {
  if (source instanceof Float32Array) return valuesOf({ data: source });
  if ('npy' in source) return npyArray(source.npy, source.name ?? nameOf(source.npy));
  return valuesOf(source);
}

export function countOf(dims: readonly number[]): number {
  return dims.reduce((product, dim) => product * dim, 1);
}

function nameOf(source: ByteSource): string {
  if (source instanceof Uint8Array) return 'array';
  if ('path' in source) return source.path;
  return typeof File !== 'undefined' && source instanceof File ? source.name : 'array';
}

async function valuesOf({ name = 'tensor', type, dims, data }: TensorValues): Promise<NamedArray> {
  const own = defaultType(data);
  const chosen = type ?? own;
  if (own === undefined || chosen === undefined || data.BYTES_PER_ELEMENT !== WIDTH[chosen]) {
    throw new HalftoneError('unsupported_type', `These values are no ${chosen ?? 'floats'}.`, {
      where: name,
      next: 'Give a Float32Array, a Float64Array, or a Uint16Array of float16 or bfloat16.',
    });
  }
  const shape = dims ?? [data.length];
  if (!shape.every((dim) => Number.isSafeInteger(dim) && dim >= 0) || countOf(shape) !== data.length) {
    throw new HalftoneError(
      'shape_mismatch',
      `${data.length} values are no tensor of [${shape.join(', ')}].`,
      {
        where: name,
        next: 'Give the dimensions of these values.',
      },
    );
  }
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength) as Uint8Array<ArrayBuffer>;
  return {
    name,
    array: { source: new Blob([bytes]), offset: 0, type: chosen, dims: [...shape], bigEndian: false },
  };
}

function defaultType(data: unknown): FloatTypeName | undefined {
  if (data instanceof Float32Array) return 'float32';
  if (data instanceof Float64Array) return 'double';
  return data instanceof Uint16Array ? 'float16' : undefined;
}

async function npyArray(source: ByteSource, name: string): Promise<NamedArray> {
  const { type, dims, offset, bigEndian, fortran } = await npyData(openSampleFile({ name, source }), name);
  if (!(type in WIDTH)) {
    throw new HalftoneError('unsupported_type', `${name} holds ${type} values, and formats hold floats.`, {
      where: name,
      next: 'Save it with array.astype("float32").',
    });
  }
  if (fortran && dims.filter((dim) => dim > 1).length > 1) {
    throw new HalftoneError('unsupported_type', `${name} is stored column by column.`, {
      where: name,
      next: 'Save it with numpy.ascontiguousarray(array).',
    });
  }
  const wire = await toWireSource(source);
  return { name, array: { source: wire, offset, type: type as FloatTypeName, dims, bigEndian } };
}
