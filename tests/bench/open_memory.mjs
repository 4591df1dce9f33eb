// Opens a model of 1 GB in the WebAssembly core and prints how large the core's memory became, as a multiple of the file.
//
//   node tests/bench/open_memory.mjs [--bytes N] [--folder DIR]
//
// The model is made here: a chain of MatMul over some hundred weights, written to a temporary folder and removed afterwards.
// It is read in slices of 16 MiB straight into memory that the core owns, as the package does. Memory of WebAssembly only
// grows, so what it has at the end is its peak. Opening again must not make it grow: a closed model's memory is used again.
import {
  closeSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const SLICE_BYTES = 16 * 2 ** 20;
const ROUNDS = 5;
const WIDTH = 1024;
const TENSOR_BYTES = WIDTH * WIDTH * 4;
const CORE = new URL('../../build/wasm/bindings/wasm/', import.meta.url);

const { values: options } = parseArgs({
  options: {
    bytes: { type: 'string', default: '1000000000' },
    folder: { type: 'string', default: tmpdir() },
  },
});

/** @param {number} value */
function varint(value) {
  const bytes = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

const integer = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const head = (field, length) => Buffer.concat([varint(field * 8 + 2), varint(length)]);
function nested(field, ...parts) {
  const content = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return Buffer.concat([head(field, content.length), content]);
}

function value(field, name) {
  const shape = nested(2, nested(1, integer(1, 1)), nested(1, integer(1, WIDTH)));
  return nested(field, nested(1, name), nested(2, nested(1, integer(1, 1), shape)));
}

function weightHead(index) {
  const fields = [integer(1, WIDTH), integer(1, WIDTH), integer(2, 1), nested(8, `w${index}`)];
  const start = Buffer.concat([...fields, head(9, TENSOR_BYTES)]);
  return Buffer.concat([head(5, start.length + TENSOR_BYTES), start]);
}

/** Weights that differ from tensor to tensor, so that no layer below can share their pages. */
function fillWeights(weights, index) {
  let state = (Math.imul(index, 2654435761) + 1) >>> 0;
  for (let i = 0; i < weights.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    weights[i] = (state >>> 8) / 2 ** 24 - 0.5;
  }
}

function writeModel(path, tensors) {
  const nodes = Array.from({ length: tensors }, (_, i) =>
    nested(1, nested(1, `t${i}`), nested(1, `w${i}`), nested(2, `t${i + 1}`), nested(4, 'MatMul')),
  );
  const structure = Buffer.concat([...nodes, nested(2, 'chain'), value(11, 't0'), value(12, `t${tensors}`)]);
  const heads = Array.from({ length: tensors }, (_, i) => weightHead(i));
  const graphBytes = heads.reduce((sum, bytes) => sum + bytes.length + TENSOR_BYTES, structure.length);
  const file = openSync(path, 'w');
  try {
    const all = (bytes) => {
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
    };
    all(Buffer.concat([integer(1, 8), nested(8, integer(2, 17)), head(7, graphBytes), structure]));
    const weights = new Float32Array(WIDTH * WIDTH);
    for (const [index, bytes] of heads.entries()) {
      fillWeights(weights, index);
      all(bytes);
      all(new Uint8Array(weights.buffer));
    }
  } finally {
    closeSync(file);
  }
}

async function loadCore() {
  const { default: createCore } = await import(new URL('halftone-core.mjs', CORE).href);
  const binary = readFileSync(new URL('halftone-core.wasm', CORE));
  let memory;
  const core = await createCore({
    instantiateWasm: (imports, done) => {
      WebAssembly.instantiate(binary, imports).then(({ instance, module }) => {
        memory = Object.values(instance.exports).find((entry) => entry instanceof WebAssembly.Memory);
        done(instance, module);
      });
      return {};
    },
  });
  return { core, memory };
}

function unwrap(result) {
  if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
  return result.value;
}

/** Calls `take` with slices of the file; it says where the next one goes. */
function readSlices(path, next, taken) {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    for (let offset = 0; offset < size; ) {
      const room = next(Math.min(SLICE_BYTES, size - offset));
      const read = readSync(file, room, 0, room.length, offset);
      if (read === 0) throw new Error('The file ends early.');
      taken(read);
      offset += read;
    }
    return size;
  } finally {
    closeSync(file);
  }
}

function openModel(core, path, bytes) {
  const model = unwrap(core.createModel(bytes));
  readSlices(
    path,
    (wanted) => model.next(wanted),
    (count) => unwrap(model.commit(count)),
  );
  unwrap(model.parse());
  unwrap(model.finish());
  return model;
}

function seconds(work) {
  const begin = performance.now();
  work();
  return (performance.now() - begin) / 1000;
}

function print(name, value, unit, ratioTo = null, yardstick = null) {
  const ratio = yardstick === null ? null : Number((value / yardstick).toFixed(4));
  console.log(JSON.stringify({ name, value, unit, ratio_to: ratioTo, ratio }));
}

async function measure(path, tensors) {
  const { core, memory } = await loadCore();
  const slice = new Uint8Array(SLICE_BYTES);
  let [size, reading, opening, first] = [0, Infinity, Infinity, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const read = seconds(() => {
      size = readSlices(
        path,
        (wanted) => slice.subarray(0, wanted),
        () => {},
      );
    });
    reading = Math.min(reading, read);
    let model;
    opening = Math.min(
      opening,
      seconds(() => (model = openModel(core, path, size))),
    );
    if (round === 0) {
      const summary = JSON.parse(unwrap(model.inspect('chain.onnx', '')));
      if (summary.nodes !== tensors) throw new Error(`The model has ${summary.nodes} nodes of ${tensors}.`);
      first = memory.buffer.byteLength;
    }
    model.delete();
  }
  print('open_memory', first, 'bytes', 'file', size);
  print('open_memory_after_five', memory.buffer.byteLength, 'bytes', 'file', size);
  print('open_time', opening, 's', 'reading the file', reading);
}

const folder = mkdtempSync(join(options.folder, 'halftone-open-'));
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const tensors = Math.max(1, Math.floor(Number(options.bytes) / TENSOR_BYTES));
const path = join(folder, 'chain.onnx');
writeModel(path, tensors);
await measure(path, tensors);
