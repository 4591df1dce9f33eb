import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as ort from 'onnxruntime-node';
import { describe, expect, it } from 'vitest';
import { openPaths, readSamples } from '../../bindings/js/src/samples/index.js';
import { copySamples, modelPath } from '../../web/samples/copy.mjs';
import list from '../../web/samples/samples.json' with { type: 'json' };

const [direction, embedding] = list.samples as [(typeof list.samples)[0], (typeof list.samples)[0]];
const X = {
  name: 'x',
  type: 'float32',
  shape: ['p2o.DynamicDimension.0', 3, 'p2o.DynamicDimension.1', 'p2o.DynamicDimension.2'],
};
const OPTIONS = direction.images as unknown as {
  size: [number, number];
  fit: 'pad';
  color: 'bgr';
  mean: number[];
  std: number[];
};

async function answers(paths: string[]): Promise<number[]> {
  const set = await readSamples(openPaths(paths), [X], OPTIONS);
  const session = await ort.InferenceSession.create(modelPath(direction.model));
  const found: number[] = [];
  for (let i = 0; i < set.count; ++i) {
    const { x } = await set.load(i);
    const result = await session.run({ x: new ort.Tensor('float32', x!.data as Float32Array, x!.dims) });
    const [upright = 0, turned = 0] = result['softmax_0.tmp_0']!.data as Float32Array;
    expect(Math.max(upright, turned)).toBeGreaterThan(0.9);
    found.push(turned > upright ? 1 : 0);
  }
  return found;
}

describe('the bundled samples', () => {
  it('the float model sees all eight drawn lines as they are', async () => {
    expect(await answers(['web/samples/text_direction'])).toEqual(direction.expected);
  });

  it('the same for the peers’ eight samples, which are arrays', async () => {
    expect(await answers(['tests/golden/samples/ocr_cls'])).toEqual([0, 1, 0, 1, 0, 1, 0, 1]);
  });

  it('the eight windows of speech fit the embedding', async () => {
    const input = { name: 'input_1', type: 'float32', shape: ['unk__314', 76, 32, 1] };
    const set = await readSamples(openPaths(['web/samples/wake_embedding']), [input]);
    expect([set.count, set.warnings]).toEqual([8, []]);
    expect((await set.load(7)).input_1?.dims).toEqual([1, 76, 32, 1]);
  });

  it('are described by what is there', () => {
    for (const sample of list.samples) {
      const folder = join('web/samples', sample.folder);
      expect(sample.files).toEqual(readdirSync(folder).sort());
      expect(sample.sampleBytes).toBe(
        sample.files.reduce((sum, file) => sum + readFileSync(join(folder, file)).length, 0),
      );
      expect(sample.model.bytes).toBe(readFileSync(modelPath(sample.model)).length);
      const pinned = JSON.parse(readFileSync('package.json', 'utf8')).devDependencies[sample.model.package];
      expect(sample.model.version).toBe(pinned);
    }
    expect(embedding.images).toBeNull();
  });

  it('are copied into the page as they are listed', async () => {
    const target = mkdtempSync(join(tmpdir(), 'halftone-page-'));
    try {
      await copySamples(target);
      for (const sample of list.samples) {
        expect(readdirSync(join(target, sample.id)).sort()).toEqual(
          [sample.model.name, ...sample.files].sort(),
        );
      }
    } finally {
      rmSync(target, { recursive: true });
    }
  });
});
