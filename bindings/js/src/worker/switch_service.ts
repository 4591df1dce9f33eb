// The handlers of switched parts: one session that runs many variants, each by what it is fed (halftone/switched_part.h) and from
// where that matters (halftone/staged.h).
import { emptyElements } from '../shared/element_types.js';
import { cancelled } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import { type Operations, type SiteSwitch, TERMS } from '../shared/protocol.js';
import type { RunCosts, Sample, SampleTensor } from '../types.js';
import type { CallContext, Handlers } from './dispatch.js';
import { macrotask } from './read_into.js';
import type { RunState } from './run_service.js';
import { valuesOf } from './run_values.js';
import { SampleSwitches, skipping } from './sample_switches.js';
import { floatTensor, StopWatch, sameBits, termsOf } from './score_service.js';

/** A cancel is heard after so long, or after the run that lasts longer. */
const PAUSE_MS = 30;

export function switchedHandlers(state: RunState): Handlers {
  return {
    'switched.open': async ({ switches, stages, encodings, ...request }, context) => {
      const session = await state.createSession(request, context);
      const off = Object.fromEntries(
        switches.flatMap((one) => (one.kind === 'input' ? [] : [[one.feed, offValue(one)]])),
      );
      for (const { feed, type, rank } of stages.feeds) off[feed] = anything(type, rank);
      if (stages.start !== '') off[stages.start] = skipping(0);
      const known = new Map(switches.map((one) => [one.tensor, one]));
      const part = { session, switches: known, stages, encodings, off };
      return { part: state.parts.add(part) };
    },
    'switched.run': (request, context) => runSwitched(state, request, context),
    'switched.close': async ({ part }) => {
      const known = state.parts.take(part);
      if (known === undefined) return null;
      state.offRuns.drop(known);
      await state.sessions.take(known.session)?.release();
      return null;
    },
  };
}

function offValue({ kind, rank, dims, off }: SiteSwitch): SampleTensor {
  if (kind === 'values') return { type: 'float32', dims, data: off };
  return { type: 'float32', dims: new Array<number>(rank).fill(1), data: new Float32Array(1) };
}

function anything(type: string, rank: number): SampleTensor {
  return { type, dims: new Array<number>(rank).fill(1), data: emptyElements(type, 1) };
}

async function runSwitched(
  state: RunState,
  request: Operations['switched.run']['in'],
  context: CallContext,
): Promise<Operations['switched.run']['out']> {
  const { rows, samples, tensors, metric } = request;
  const part = state.parts.get(request.part);
  const each = tensors.length * TERMS;
  const terms = new Float64Array(rows.length * samples.length * each);
  const exact = rows.map(() => true);
  const costs: RunCosts = { sessions: 0, create_ms: 0, runs: 0, run_ms: 0, metric_ms: 0 };
  const clock = new StopWatch();
  let paused = performance.now();
  const progress = new ProgressReporter(
    'sensitivity',
    'runs',
    rows.length * samples.length,
    context.progress,
  );
  const run = async (feeds: Sample, wanted: readonly string[]) => {
    clock.lap();
    const values = await valuesOf(state.sessions.get(part.session), feeds, wanted);
    costs.run_ms += clock.lap();
    return values;
  };
  for (const [at, sample] of samples.entries()) {
    const expected = state.store.reference('float', sample);
    const proven = state.offRuns.find(part, sample.index);
    const switching = proven ?? new SampleSwitches(state.core(), part, state.store.inputsOf(sample, null));
    const missing = switching.missing(rows);
    if (proven === undefined || missing.length > 0) {
      const wanted = state.offRuns.wanted(part, switching, missing);
      const off = await run(switching.off, [...new Set([...tensors, ...wanted])]);
      costs.runs++;
      const equal = tensors.every((tensor, i) => sameBits(expected[i]!, floatTensor(tensor, off[tensor])));
      if (!equal) return { equal, exact, terms: new Float64Array(0), costs };
      state.offRuns.observe(part, sample.index, switching, wanted, off);
    }
    for (const [row, one] of rows.entries()) {
      if (context.signal.aborted) throw cancelled();
      const on = switching.on(one);
      exact[row] &&= on.exact;
      if (exact[row]) {
        const values = await run(on.feeds, tensors);
        costs.runs++;
        for (const [i, tensor] of tensors.entries()) {
          const actual = floatTensor(tensor, values[tensor]);
          const found = termsOf(state.core(), metric, expected[i]!, actual, tensor, sample.name);
          terms.set(found, (row * samples.length + at) * each + i * TERMS);
        }
        costs.metric_ms += clock.lap();
      }
      progress.advance(1);
      if (performance.now() - paused > PAUSE_MS) {
        await macrotask();
        paused = performance.now();
      }
    }
    switching.rest();
  }
  context.transfer(terms.buffer);
  return { equal: true, exact, terms, costs };
}
