// The ONNX messages that the hostile models are made of, as wire bytes.
import { bytes, concat, number } from './wire.mjs';

export const FLOAT = 1;
export const STRING = 8;

/** @param {...Uint8Array} fields */
export const graph = (...fields) => concat(...fields);

/** A model around the wire bytes of a graph. */
export function model(
  /** @type {Uint8Array} */ graphBytes,
  { irVersion = 8, opset = 17, extra = new Uint8Array() } = {},
) {
  const version = irVersion === null ? new Uint8Array() : number(1, irVersion);
  const opsets = opset === null ? new Uint8Array() : bytes(8, number(2, opset));
  const body = graphBytes === null ? new Uint8Array() : bytes(7, graphBytes);
  return concat(version, bytes(2, 'hostile'), body, opsets, extra);
}

/** A field of a graph: one node. @param {string[]} inputs @param {string[]} outputs */
export function node(op, inputs, outputs, { name = '', domain = '', attributes = [] } = {}) {
  return bytes(
    1,
    concat(
      ...inputs.map((input) => bytes(1, input)),
      ...outputs.map((output) => bytes(2, output)),
      ...(name === '' ? [] : [bytes(3, name)]),
      bytes(4, op),
      ...attributes.map((attribute) => bytes(5, attribute)),
      ...(domain === '' ? [] : [bytes(7, domain)]),
    ),
  );
}

/** The type of a float tensor. @param {(number | bigint | string)[]} dims */
export function floatType(dims) {
  const shape = concat(
    ...dims.map((dim) => bytes(1, typeof dim === 'string' ? bytes(2, dim) : number(1, dim))),
  );
  return bytes(1, concat(number(1, FLOAT), bytes(2, shape)));
}

const value = (/** @type {number} */ field, name, dims) =>
  bytes(field, concat(bytes(1, name), bytes(2, floatType(dims))));
export const input = (name, dims = [1, 4]) => value(11, name, dims);
export const output = (name, dims = [1, 4]) => value(12, name, dims);

/** The wire bytes of a tensor; `data` are whole fields. */
export const tensor = (name, dims, data, type = FLOAT) =>
  concat(...dims.map((dim) => number(1, dim)), number(2, type), bytes(8, name), data);

/** A field of a graph: one initializer. */
export const initializer = (...args) => bytes(5, tensor(...args));

export const raw = (/** @type {number} */ count, fill = 0) => bytes(9, new Uint8Array(count).fill(fill));

/** Data fields of a tensor that lies in another file. @param {Record<string, string>} entries */
export function external(entries) {
  const pairs = Object.entries(entries).map(([key, text]) =>
    bytes(13, concat(bytes(1, key), bytes(2, text))),
  );
  return concat(...pairs, number(14, 1));
}

/** A sound model: y = x + w over a weight of 2 kB, and one small constant. */
export function soundModel() {
  return model(
    graph(
      node('Add', ['x', 'w'], ['sum'], { name: 'add' }),
      node('Mul', ['sum', 'half'], ['y'], { name: 'scale' }),
      bytes(2, 'sound'),
      initializer('w', [1, 512], raw(2048, 0x3f)),
      initializer('half', [1], raw(4, 0x3f)),
      input('x', [1, 512]),
      output('y', [1, 512]),
    ),
  );
}
