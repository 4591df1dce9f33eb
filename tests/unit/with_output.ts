// Adds graph outputs to an ONNX file without reading it: a protobuf message that follows another of the same field is merged
// into it, so a second `graph` that holds nothing but outputs extends the first.

const MODEL_GRAPH = 7;
const GRAPH_OUTPUT = 12;
const VALUE_NAME = 1;

export function varint(value: number): number[] {
  const bytes = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}

/** A length-delimited field of a protobuf message. */
export function field(number: number, content: number[]): number[] {
  return [...varint(number * 8 + 2), ...varint(content.length), ...content];
}

export function withOutputs(model: Uint8Array, names: string[]): Uint8Array {
  const outputs = names.flatMap((name) =>
    field(GRAPH_OUTPUT, field(VALUE_NAME, [...new TextEncoder().encode(name)])),
  );
  const extension = field(MODEL_GRAPH, outputs);
  const extended = new Uint8Array(model.length + extension.length);
  extended.set(model);
  extended.set(extension, model.length);
  return extended;
}
