// The handlers of switched parts: one session that runs many variants, each by what it is fed (halftone/switched_part.h) and from
// where that matters (halftone/staged.h).
import { emptyElements } from '../shared/element_types.js';
import { cancelled } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import { type Operations, type SampleRef, type SiteSwitch, type Stages, TERMS } from '../shared/protocol.js';
import type { RunCosts, Sample, SampleTensor } from '../types.js';
import { unwrap } from './core.js';
import type { CallContext, Handlers } from './dispatch.js';
import { macrotask } from './read_into.js';
import type { RunState } from './run_service.js';
import { floatsOf, valuesOf } from './run_values.js';
import { floatTensor, StopWatch, sameBits, termsOf } from './score_service.js';

export interface SwitchedSession {
  session: number;
  switches: Map<string, SiteSwitch>;
  stages: Stages;
  encodings: Record<string, string>;
  /** What is fed while all switches are off and nothing is skipped, but for inputs, whose own values do that. */
  off: Sample;
}

interface OnValue {
  tensor: SampleTensor;
  exact: boolean;
}

/** A cancel is heard after so long, or after the run that lasts longer. */
const PAUSE_MS = 10;
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

function skipping(stages: number): SampleTensor {
  return { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(stages)) };
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
    const switching = new SampleSwitches(state, part, sample);
    const expected = state.store.reference('float', sample);
    const observed = switching.observed(rows.flatMap((row) => row.sites));
    const within = switching.crossing(rows.map((row) => row.skips));
    const off = await run(switching.off, [...new Set([...tensors, ...observed, ...within])]);
    costs.runs++;
    const equal = tensors.every((tensor, i) => sameBits(expected[i]!, floatTensor(tensor, off[tensor])));
    if (!equal) return { equal, exact, terms: new Float64Array(0), costs };
    switching.observe(off);
    for (const [row, { sites, skips }] of rows.entries()) {
      if (context.signal.aborted) throw cancelled();
      const on = switching.on(sites, skips);
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
  }
  context.transfer(terms.buffer);
  return { equal: true, exact, terms, costs };
}

/** The switches of a part for one sample. */
class SampleSwitches {
  /** Everything off. */
  readonly off: Sample;
  private readonly made = new Map<string, OnValue>();
  private values: Sample = {};

  constructor(
    private readonly state: RunState,
    private readonly part: SwitchedSession,
    sample: SampleRef,
  ) {
    this.off = { ...state.store.inputsOf(sample, null), ...part.off };
  }

  /** The tensors whose values the switches of `sites` need, beyond what the part is fed. */
  observed(sites: Iterable<string>): string[] {
    const wanted = [...new Set(sites)];
    return wanted.filter(
      (site) => this.part.switches.get(site)?.kind === 'addend' && this.off[site] === undefined,
    );
  }

  /** The tensors that cross the borders behind so many stages. */
  crossing(skips: readonly number[]): string[] {
    const { feeds, borders } = this.part.stages;
    const behind = borders.filter((_, i) => skips.includes(i + 1));
    return [...new Set(behind.flatMap((border) => border.crossing.map((feed) => feeds[feed]!.tensor)))];
  }

  /** What was fetched while everything was off. */
  observe(values: Sample): void {
    this.values = values;
  }

  /** What to feed so that these are on, in a run that skips so many stages. */
  on(sites: readonly string[], skips: number): { feeds: Sample; exact: boolean } {
    const feeds = { ...this.off, ...this.startBehind(skips) };
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

  /** What a run that skips so many stages is fed instead of them. */
  private startBehind(stages: number): Sample {
    const { start, feeds, borders } = this.part.stages;
    if (stages === 0) return {};
    const fed: Sample = { [start]: skipping(stages) };
    for (const at of borders[stages - 1]!.crossing) {
      const { tensor, feed } = feeds[at]!;
      fed[feed] = this.values[tensor]!;
    }
    return fed;
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
