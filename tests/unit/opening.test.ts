// Opening a model in Node: sources, refusals, closing.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { graphPath } from './golden_models.js';
import { engine, rejection } from './test_engine.js';

describe('opening', () => {
  it('gives the same summary from bytes, a Blob and a path, and leaves the bytes alone', async () => {
    const bytes = new Uint8Array(readFileSync(graphPath('g01_res_identity')));
    const sources = [bytes, new Blob([bytes]), { path: graphPath('g01_res_identity') }];
    const summaries = [];
    for (const source of sources) {
      const model = await engine.open(source, { name: 'a.onnx' });
      summaries.push(await model.inspect());
      expect(model.bytes).toBe(28598);
      await model.close();
    }
    expect(bytes.byteLength).toBe(28598);
    expect(summaries[1]).toEqual(summaries[0]);
    expect(summaries[2]).toEqual(summaries[0]);
    expect(summaries[0]!.model.sha256).toMatch(/^[0-9a-f]{64}$/);
    expect(summaries[0]!.operators).toEqual({ Conv: 3, Relu: 3, Add: 1 });
  });

  it.each<[string, Uint8Array | { path: string }, string]>([
    ['an empty file', new Uint8Array(0), 'not_onnx'],
    ['text', new TextEncoder().encode('hello there, this is not a model at all'), 'not_onnx'],
    ['a path that is not there', { path: '/nowhere/x.onnx' }, 'invalid_state'],
    ['a folder', { path: '/' }, 'invalid_state'],
  ])('refuses %s with one sentence and a next step', async (_what, source, code) => {
    const error = await rejection(engine.open(source));
    expect(error.code).toBe(code);
    expect(error.message).toMatch(/^[^\n]+[.]$/);
    expect(error.next).not.toBe('');
  });

  it('refuses a file above the limit before reading it, with both numbers', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'halftone-large-'));
    const path = join(folder, 'large.onnx');
    closeSync(openSync(path, 'w'));
    truncateSync(path, 5 * 2 ** 30);
    const error = await rejection(engine.open({ path }));
    rmSync(folder, { recursive: true });
    expect(error.code).toBe('too_large');
    expect(error.message).toContain('5.37 GB');
    expect(error.message).toContain('4.03 GB');
  });

  it('a closed model says so, and closing twice is nothing', async () => {
    const model = await engine.open({ path: graphPath('g01_res_identity') });
    await model.close();
    await model.close();
    expect((await rejection(model.inspect())).code).toBe('invalid_state');
  });
});
