// The handlers of switched parts: one session that runs many variants, each by what it is fed (halftone/switched_part.h).
import { cancelled } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import { type Operations, type SampleRef, type SiteSwitch, TERMS } from '../shared/protocol.js';
import type { RunCosts, Sample, SampleTensor } from '../types.js';
import { unwrap } from './core.js';
import type { CallContext, Handlers } from './dispatch.js';
import { macrotask } from './read_into.js';
import type { RunState } from './run_service.js';
import { floatsOf, valuesOf } from './run_values.js';
import { floatTensor, StopWatch, sameBits, termsOf } from './score_service.js';

export interface SwitchedSession {
  session: number;
  cut: number | null;
  switches: Map<string, SiteSwitch>;
  encodings: Record<string, string>;
  /** What the switches are fed while they are off, but for inputs, whose own values do that. */
  off: Sample;
}

export function switchedHandlers(state: RunState): Handlers {
  return {
    'switched.open': async ({ switches, encodings, cut, ...request }, context) => {
      const session = await state.createSession(request, context);
      const off = Object.fromEntries(
        switches.flatMap((one) => (one.kind === 'input' ? [] : [[one.feed, offValue(one)]])),
      );
      const known = new Map(switches.map((one) => [one.tensor, one]));
      return { part: state.parts.add({ session, cut, switches: known, encodings, off }) };
    },
    'switched.run': (request, context) => runSwitched(state, request, context),
    'switched.close': async ({ part }) => {
      const known = state.parts.take(part);
      if (known !== undefined) await state.sessions.take(known.session)?.release();
      return null;
    },
  };
}

function offValue({ kind, rank, dims, off }: SiteSwitch): SampleTensor {
  if (kind === 'values') return { type: 'float32', dims, data: off };
  return { type: 'float32', dims: new Array<number>(rank).fill(1), data: new Float32Array(1) };
}

async function runSwitched(
  state: RunState,
  request: Operations['switched.run']['in'],
  context: CallContext,
): Promise<Operations['switched.run']['out']> {
  const { rows, samples, tensors, metric, crossings } = request;
  const part = state.parts.get(request.part);
  const each = tensors.length * TERMS;
  const terms = new Float64Array(rows.length * samples.length * each);
  const exact = rows.map(() => true);
  const costs: RunCosts = { sessions: 0, create_ms: 0, runs: 0, run_ms: 0, metric_ms: 0 };
  const clock = new StopWatch();
  const progress = new ProgressReporter(
    'sensitivity',
    'runs',
    rows.length * samples.length,
    context.progress,
  );
  const crossing = [...new Set(crossings.flatMap((cut) => cut.tensors))];
  let crossingBytes = 0;
  const run = async (feeds: Sample, wanted: readonly string[]) => {
    clock.lap();
    const values = await valuesOf(state.sessions.get(part.session), feeds, wanted);
    costs.run_ms += clock.lap();
    return values;
  };
  for (const [at, sample] of samples.entries()) {
    const switching = new SampleSwitches(state, part, sample, new Set(rows.flat()));
    const expected = state.store.reference('float', sample);
    const off = await run(switching.off, [...tensors, ...switching.observed, ...crossing]);
    costs.runs++;
    const equal = tensors.every((tensor, i) => sameBits(expected[i]!, floatTensor(tensor, off[tensor])));
    if (!equal) return { equal, exact, terms: new Float64Array(0), crossingBytes, costs };
    const bytes = crossings.map(({ cut, tensors: names }) =>
      state.store.keepCrossing(
        cut,
        sample.index,
        Object.fromEntries(names.map((name) => [name, off[name]!])),
      ),
    );
    crossingBytes = Math.max(
      crossingBytes,
      bytes.reduce((sum, some) => sum + some, 0),
    );
    for (const [row, sites] of rows.entries()) {
      if (context.signal.aborted) throw cancelled();
      const on = switching.on(sites, off);
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
      await macrotask();
    }
  }
  context.transfer(terms.buffer);
  return { equal: true, exact, terms, crossingBytes, costs };
}

/** The switches of a part for one sample. */
class SampleSwitches {
  /** Everything off. */
  readonly off: Sample;
  /** The tensors whose values the switches of `sites` need, beyond what crosses the cut. */
  readonly observed: string[];
  private readonly made = new Map<string, { tensor: SampleTensor; exact: boolean }>();

  constructor(
    private readonly state: RunState,
    private readonly part: SwitchedSession,
    sample: SampleRef,
    sites: ReadonlySet<string>,
  ) {
    const inputs = state.store.inputsOf(sample, part.cut);
    this.off = { ...inputs, ...part.off };
    this.observed = [...sites].filter(
      (site) => part.switches.get(site)?.kind === 'addend' && inputs[site] === undefined,
    );
  }

  /** What to feed so that these are on; `values` has what was observed. */
  on(sites: readonly string[], values: Sample): { feeds: Sample; exact: boolean } {
    const feeds = { ...this.off };
    let exact = true;
    for (const site of sites) {
      const known = this.part.switches.get(site);
      if (known === undefined) return { feeds, exact: false };
      if (known.kind === 'values') {
        feeds[known.feed] = { type: 'float32', dims: known.dims, data: known.on };
        continue;
      }
      const made = this.activation(known, values[site] ?? this.off[site]);
      feeds[known.feed] = made.tensor;
      exact &&= made.exact;
    }
    return { feeds, exact };
  }

  private activation(known: SiteSwitch, value: SampleTensor | undefined) {
    const { tensor: name, kind } = known;
    let made = this.made.get(name);
    if (made === undefined) {
      const floats = floatsOf(name, value);
      const dims = [...(value?.dims ?? [])];
      const encoding = this.part.encodings[name] ?? '';
      const { values, exact } = unwrap(this.state.core().switchOn(kind, floats, dims, encoding));
      made = { tensor: { type: 'float32', dims, data: values }, exact };
      this.made.set(name, made);
    }
    return made;
  }
}
