// Every score of both bundled samples against the slow way.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createEngine,
  type Engine,
  type ImageOptions,
  openPaths,
  readSamples,
  type SensitivityResults,
} from '../../bindings/js/src/index.js';
import { modelPath } from '../../web/samples/copy.mjs';
import list from '../../web/samples/samples.json' with { type: 'json' };
import { bruteForce, singles, startRuntime } from './brute_force.js';

const TOLERANCE_DB = 0.001;

let engine: Engine;

beforeAll(() => {
  startRuntime();
  engine = createEngine({ workers: 2 });
});

afterAll(() => engine.close());

describe.each(list.samples)('$title', (sample) => {
  it('every row equals the brute force within 0.001 dB, in the same order wherever scores differ by more', async () => {
    const path = modelPath(sample.model);
    const model = await engine.open({ path });
    const { inputs } = (await model.inspect()).model;
    const images = sample.images as ImageOptions | null;
    const samples = await readSamples(
      openPaths([`web/samples/${sample.folder}`]),
      inputs,
      images ?? undefined,
    );
    const plan = await model.plan();
    const encodings = await model.calibrate(plan, samples);
    const results: SensitivityResults = await model.sensitivity(plan, encodings, samples).results();
    const file = new Uint8Array(readFileSync(path));
    const reference = await bruteForce(
      model,
      file,
      singles(plan),
      encodings,
      samples,
      results.halftone.scored,
    );

    const rows = results.ranking.map(({ name, score }) => ({
      name,
      score: score!,
      reference: reference.get(name)!,
    }));
    expect(rows.map((row) => row.name).sort()).toEqual([...reference.keys()].sort());
    const differences = rows.map((row) => Math.abs(row.score - row.reference));
    const distinct = new Set(rows.map((row) => row.score)).size;
    console.log(
      `${sample.title}: ${rows.length} rows, largest difference ${Math.max(...differences).toExponential(2)} dB, ` +
        `${differences.filter((difference) => difference === 0).length} equal to the last bit, ${distinct} distinct scores, ` +
        `${rows[0]!.score.toFixed(3)} to ${rows.at(-1)!.score.toFixed(3)} dB`,
    );
    for (const row of rows) {
      expect(Math.abs(row.score - row.reference), row.name).toBeLessThanOrEqual(TOLERANCE_DB);
    }
    for (let i = 1; i < rows.length; i++) {
      expect(rows[i]!.reference, `${rows[i - 1]!.name} before ${rows[i]!.name}`).toBeGreaterThanOrEqual(
        rows[i - 1]!.reference - TOLERANCE_DB,
      );
    }
    expect(distinct).toBeGreaterThan((rows.length * 2) / 3);
    await model.close();
    expect(await engine.liveObjects()).toBe(0);
  }, 600_000);
});
