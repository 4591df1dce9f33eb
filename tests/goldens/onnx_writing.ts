// Writes small ONNX models as wire bytes.

type Part = Uint8Array | string;

export function concat(...parts: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function varint(value: number): number[] {
  const bytes = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}

/** A field that holds an integer from 0. */
export const integer = (field: number, value: number) =>
  Uint8Array.from([...varint(field * 8), ...varint(value)]);

/** A field that holds text, bytes or a message. */
export function nested(field: number, ...parts: Part[]): Uint8Array {
  const content = concat(
    ...parts.map((part) => (typeof part === 'string' ? new TextEncoder().encode(part) : part)),
  );
  return concat(Uint8Array.from([...varint(field * 8 + 2), ...varint(content.length)]), content);
}

const FLOAT = 1;
const INT_ATTRIBUTE = 2;

/** A model of the default operator set around the fields of a graph. */
export function modelFile(opset: number, graph: readonly Uint8Array[]): Uint8Array {
  return concat(integer(1, 8), nested(7, nested(2, 'graph'), ...graph), nested(8, integer(2, opset)));
}

export function nodeField(
  op: string,
  name: string,
  inputs: readonly string[],
  output: string,
  ints: ReadonlyMap<string, number>,
): Uint8Array {
  return nested(
    1,
    ...inputs.map((input) => nested(1, input)),
    nested(2, output),
    nested(3, name),
    nested(4, op),
    ...[...ints].map(([key, value]) =>
      nested(5, nested(1, key), integer(3, value), integer(20, INT_ATTRIBUTE)),
    ),
  );
}

export function initializerField(name: string, dims: readonly number[], values: Float32Array): Uint8Array {
  const raw = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return nested(5, ...dims.map((dim) => integer(1, dim)), integer(2, FLOAT), nested(8, name), nested(9, raw));
}

/** A graph input; without dims an output, whose shape follows from the graph. */
export function valueField(name: string, dims?: readonly number[]): Uint8Array {
  const shape = dims === undefined ? [] : [nested(2, ...dims.map((dim) => nested(1, integer(1, dim))))];
  return nested(
    dims === undefined ? 12 : 11,
    nested(1, name),
    nested(2, nested(1, integer(1, FLOAT), ...shape)),
  );
}
