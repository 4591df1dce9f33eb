// Cuts are found on a real model, and proved: without this a sweep that never uses one would pass every other test, slowly.
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { HalftoneEngine } from '../../bindings/js/src/client/engine.js';
import type { ModelHandle } from '../../bindings/js/src/client/model.js';
import { type LaneJob, ScoreLane } from '../../bindings/js/src/client/sweep/score_lane.js';
import { SweepModels } from '../../bindings/js/src/client/sweep/sweep_models.js';
import { NO_GROUPS } from '../../bindings/js/src/client/sweep/sweep_options.js';
import { type ImageOptions, openPaths, readSamples } from '../../bindings/js/src/index.js';
import { modelPath } from '../../web/samples/copy.mjs';
import list from '../../web/samples/samples.json' with { type: 'json' };

const engine = new HalftoneEngine({ workers: 1 });

afterAll(() => engine.close());

it.each(['enable', 'disable'] as const)(
  'sweep %s: every cut of the text direction model gives the outputs bit for bit, and most quantizers lie behind one',
  async (sweep) => {
    const bundled = list.samples[0]!;
    const model = (await engine.open({ path: modelPath(bundled.model) })) as ModelHandle;
    const { inputs } = (await model.inspect()).model;
    const files = bundled.files.map((file) => join('web', 'samples', bundled.folder, file));
    const samples = await readSamples(openPaths(files), inputs, bundled.images as ImageOptions);
    const plan = await model.plan();
    const encodings = await model.calibrate(plan, samples);
    const { core, model: handle } = await model.core();
    const started = await core.call('sweep.start', {
      model: handle,
      plan,
      encodings,
      choice: { ...NO_GROUPS, groups: null, sweep },
    });
    expect(started.cuts.length).toBeGreaterThanOrEqual(4);
    const behind = started.cutOf.filter((cut) => cut >= 0).length;
    expect(behind / started.groups.length).toBeGreaterThan(0.6);

    const proofs: boolean[] = [];
    const models = new SweepModels(model, started.sweep);
    const base = sweep === 'disable' ? 'base' : 'float';
    const { scored, cuts } = started;
    const job: LaneJob = { model, samples, inputs, models, scored, cuts, base, seen: async () => {} };
    await engine.pool.run(1, undefined, async (worker, signal) => {
      const lane = new ScoreLane(job, worker, signal);
      await lane.use(async () => {
        expect(await lane.load(0)).toBe(samples.count);
        expect([...lane.cuts]).toEqual(cuts.map((_, cut) => cut));
        for (const cut of cuts.keys()) proofs.push(await lane.proves(cut));
      });
    });
    expect(proofs).toEqual(started.cuts.map(() => true));
    await core.call('sweep.end', { sweep: started.sweep });
    await model.close();
    expect(await engine.liveObjects()).toBe(0);
  },
);
