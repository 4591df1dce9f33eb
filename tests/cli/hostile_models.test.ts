// Every hostile model through `halftone inspect`: status 1, one printable line with what to do next, the right code; or a
// summary for the sound ones. One engine is made per call, so a crash of one can't hide behind another.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../bindings/js/src/cli/main.js';
import { compare } from '../../bindings/js/src/client/compare.js';
import { createEngine } from '../../bindings/js/src/client/engine.js';
import { hostileModels } from '../hostile/make_models.mjs';

const models = hostileModels();
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'halftone-hostile-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

async function inspect(path: string, ...more: string[]) {
  let [out, err] = ['', ''];
  const status = await main(['inspect', path, ...more], {
    terminal: {
      out: (text) => (out += text),
      err: (text) => (err += text),
      errIsTty: false,
      now: () => performance.now(),
    },
    halftone: { version: '0.1.0', createEngine, compare },
    signal: new AbortController().signal,
  });
  return { status, out, err };
}

const UNPRINTABLE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u;

describe('hostile models on the command line', () => {
  it('are at least thirty', () => expect(models.length).toBeGreaterThanOrEqual(30));

  it.each(models)('$name: $expect', async ({ name, bytes, expect: expected }) => {
    const path = join(folder, `${name}.onnx`);
    writeFileSync(path, bytes);
    const { status, out, err } = await inspect(path, '--json');
    if (expected === 'ok') {
      expect([status, err]).toEqual([0, '']);
      expect(JSON.parse(out).nodes).toBeGreaterThanOrEqual(0);
      return;
    }
    expect(status).toBe(1);
    expect(out).toBe('');
    const { error } = JSON.parse(err);
    expect(expected.split('|')).toContain(error.code);
    expect(error.next).not.toBe('');
    const plain = await inspect(path);
    expect(plain.status).toBe(1);
    expect(plain.err.trimEnd().split('\n')).toHaveLength(1);
    expect(plain.err).not.toMatch(UNPRINTABLE);
  });
});
