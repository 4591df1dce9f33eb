// The handler of first-order models (halftone/first_order.h): one run for each direction in which effects are wanted.
import { cancelled } from '../shared/errors.js';
import type { Operations, SampleRef } from '../shared/protocol.js';
import type { RunCosts } from '../types.js';
import type { Handlers } from './dispatch.js';
import { macrotask } from './read_into.js';
import type { RunState } from './run_service.js';
import { floatsOf, valuesOf } from './run_values.js';
import { StopWatch, termsOf } from './score_service.js';

type Run = Operations['first_order.run'];

export function firstOrderHandlers(state: RunState): Handlers {
  return {
    'first_order.run': async (request, context): Promise<Run['out']> => {
      const { session, cotangent, effects, directions, samples, tensor, metric } = request;
      const costs: RunCosts = { sessions: 0, create_ms: 0, runs: 0, run_ms: 0, metric_ms: 0 };
      const clock = new StopWatch();
      const out: Run['out'] = { effects: [], terms: [], costs };
      for (const sample of samples) {
        const expected = state.store.reference('float', sample)[0]!;
        const none = termsOf(state.core(), metric, expected, expected, tensor, sample.name);
        out.terms.push(Float64Array.from(none));
        out.effects.push(await effectsOf(sample, expected.dims));
        if (context.signal.aborted) throw cancelled();
        await macrotask();
      }
      return out;

      async function effectsOf(sample: SampleRef, dims: readonly number[]): Promise<Float32Array[]> {
        const inputs = state.store.inputsOf(sample, null);
        const made: Float32Array[] = [];
        clock.lap();
        for (const data of directions) {
          const feeds = { ...inputs, [cotangent]: { type: 'float32', dims: [...dims], data } };
          const values = await valuesOf(state.sessions.get(session), feeds, [effects]);
          made.push(floatsOf(effects, values[effects]));
          costs.runs++;
        }
        costs.run_ms += clock.lap();
        return made;
      }
    },
  };
}
