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
  /** By sample: what switches every activation on, after everything off gave the float outputs. */
  kept: Map<number, Map<string, OnValue>>;
}

interface OnValue {
  tensor: SampleTensor;
  exact: boolean;
}

/** Kept by all parts of a worker together. */
const KEPT_BYTES = 64 * 2 ** 20;

export function switchedHandlers(state: RunState): Handlers {
  return {
    'switched.open': async ({ switches, encodings, cut, ...request }, context) => {
      const session = await state.createSession(request, context);
      const off = Object.fromEntries(
        switches.flatMap((one) => (one.kind === 'input' ? [] : [[one.feed, offValue(one)]])),
      );
      const known = new Map(switches.map((one) => [one.tensor, one]));
      return { part: state.parts.add({ session, cut, switches: known, encodings, off, kept: new Map() }) };
    },
    'switched.run': (request, context) => runSwitched(state, request, context),
    'switched.close': async ({ part }) => {
      const known = state.parts.take(part);
      if (known === undefined) return null;
      for (const values of known.kept.values()) state.keptBytes -= bytesOf(values);
      await state.sessions.take(known.session)?.release();
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
    const switching = new SampleSwitches(state, part, sample);
    const expected = state.store.reference('float', sample);
    const kept = crossings.length === 0 ? part.kept.get(sample.index) : undefined;
    if (kept !== undefined) switching.use(kept);
    else {
      const sites = request.keep ? part.switches.keys() : rows.flat();
      const observed = switching.observed(sites);
      const off = await run(switching.off, [...tensors, ...observed, ...crossing]);
      costs.runs++;
      const equal = tensors.every((tensor, i) => sameBits(expected[i]!, floatTensor(tensor, off[tensor])));
      if (!equal) return { equal, exact, terms: new Float64Array(0), crossingBytes, costs };
      switching.observe(off);
      if (request.keep) keep(state, part, sample, switching.all());
      let bytes = 0;
      for (const { cut, tensors: names } of crossings) {
        const values = Object.fromEntries(names.map((name) => [name, off[name]!]));
        bytes += state.store.keepCrossing(cut, sample.index, values);
      }
      crossingBytes = Math.max(crossingBytes, bytes);
    }
    for (const [row, sites] of rows.entries()) {
      if (context.signal.aborted) throw cancelled();
      const on = switching.on(sites);
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

function keep(state: RunState, part: SwitchedSession, sample: SampleRef, values: Map<string, OnValue>): void {
  const bytes = bytesOf(values);
  if (state.keptBytes + bytes > KEPT_BYTES) return;
  state.keptBytes += bytes;
  part.kept.set(sample.index, values);
}

function bytesOf(values: Map<string, OnValue>): number {
  return [...values.values()].reduce((sum, { tensor }) => sum + tensor.data.byteLength, 0);
}

/** The switches of a part for one sample. */
class SampleSwitches {
  /** Everything off. */
  readonly off: Sample;
  private made = new Map<string, OnValue>();
  private values: Sample = {};

  constructor(
    private readonly state: RunState,
    private readonly part: SwitchedSession,
    sample: SampleRef,
  ) {
    this.off = { ...state.store.inputsOf(sample, part.cut), ...part.off };
  }

  /** The tensors whose values the switches of `sites` need, beyond what the part is fed. */
  observed(sites: Iterable<string>): string[] {
    const wanted = [...new Set(sites)];
    return wanted.filter(
      (site) => this.part.switches.get(site)?.kind === 'addend' && this.off[site] === undefined,
    );
  }

  observe(values: Sample): void {
    this.values = values;
  }

  use(made: Map<string, OnValue>): void {
    this.made = made;
  }

  /** Of every activation. */
  all(): Map<string, OnValue> {
    for (const known of this.part.switches.values()) if (known.kind !== 'values') this.activation(known);
    return this.made;
  }

  /** What to feed so that these are on. */
  on(sites: readonly string[]): { feeds: Sample; exact: boolean } {
    const feeds = { ...this.off };
    let exact = true;
    for (const site of sites) {
      const known = this.part.switches.get(site);
      if (known === undefined) return { feeds, exact: false };
      if (known.kind === 'values') {
        feeds[known.feed] = { type: 'float32', dims: known.dims, data: known.on };
        continue;
      }
      const made = this.activation(known);
      feeds[known.feed] = made.tensor;
      exact &&= made.exact;
    }
    return { feeds, exact };
  }

  private activation({ tensor: name, kind }: SiteSwitch): OnValue {
    let made = this.made.get(name);
    if (made === undefined) {
      const value = this.values[name] ?? this.off[name];
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
