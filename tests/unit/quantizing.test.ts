// The written model: report, bytes, external data.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../bindings/js/src/index.js';
import { engine, rejection, withGraph } from './test_engine.js';

describe('quantizing', () => {
  it('gives a model that opens, has the pairs, and scores as simulated', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const { model: blob, report } = await model.quantize(plan, encodings);
      expect(blob.size).toBe(report.bytes);
      expect(report.float_bytes).toBe(28598);
      expect(report.quantized_nodes).toEqual({ Conv: 3 });
      expect(report.sizes_by_type.int8).toBeGreaterThan(0);
      const written = await engine.open(blob, { name: 'q.onnx' });
      const summary = await written.inspect();
      expect(summary.quantized.pairs).toBe(report.sites.quantized);
      const refused = await rejection(written.plan());
      expect(refused.code).toBe('invalid_state');
      expect(refused.message).toContain(String(summary.quantized.pairs));
      const { simulated, fused, scored } = await model.score(plan, encodings, samples);
      expect(scored).toEqual(summary.model.outputs.map((output) => output.name));
      expect(simulated).toBeGreaterThan(20);
      expect(Math.abs(simulated - fused)).toBeLessThan(6);
      await written.close();
    });
  });

  it('is the same to the last byte when done twice, from another engine', async () => {
    const bytes: Uint8Array[] = [];
    for (const workers of [1, 2]) {
      const other = createEngine({ workers });
      await withGraph(
        'g55_constant_nodes',
        async ({ model, plan, encodings }) => {
          bytes.push(new Uint8Array(await (await model.quantize(plan, encodings)).model.arrayBuffer()));
        },
        other,
      );
      await other.close();
    }
    expect(Buffer.compare(bytes[0]!, bytes[1]!)).toBe(0);
  });

  it('with external data: Node finds the second file beside the first, and both forms compute the same', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings, samples }) => {
      const apart = await model.quantize(plan, encodings, { externalData: 'w.data' });
      const folder = mkdtempSync(join(tmpdir(), 'halftone-external-'));
      const path = join(folder, 'apart.onnx');
      writeFileSync(path, new Uint8Array(await apart.model.arrayBuffer()));
      writeFileSync(join(folder, 'w.data'), new Uint8Array(await apart.externalData!.arrayBuffer()));
      const outputs = [];
      for (const source of [{ path }, (await model.quantize(plan, encodings)).model]) {
        const opened = await engine.open(source);
        const { y } = await opened.run(await samples.load(1), { optimization: 'default' });
        outputs.push([...(y!.data as Float32Array)]);
        await opened.close();
      }
      rmSync(folder, { recursive: true });
      expect(outputs[0]).toEqual(outputs[1]);
      expect(outputs[0]!.some((value) => value !== 0)).toBe(true);
    });
  });

  it('with external data: the second file is found by its name', async () => {
    await withGraph('g01_res_identity', async ({ model, plan, encodings }) => {
      const whole = await model.quantize(plan, encodings, { externalData: 'w.data' });
      expect(whole.externalData!.size).toBeGreaterThan(0);
      const missing = await rejection(engine.open(whole.model));
      expect(missing.code).toBe('external_data_missing');
      expect(missing.where).toBe('w.data');
      const opened = await engine.open(whole.model, { externalData: { 'w.data': whole.externalData! } });
      expect((await opened.inspect()).quantized.pairs).toBe(whole.report.sites.quantized);
      await opened.close();
    });
  });
});
