// The handlers that score: outputs that are kept, variants compared with them, and cuts tried.
import { cancelled } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import { type MetricChoice, type SampleRef, type SessionRequest, TERMS } from '../shared/protocol.js';
import type { Progress, RunCosts, SampleTensor } from '../types.js';
import { type Core, unwrap } from './core.js';
import type { CallContext, Handlers } from './dispatch.js';
import { macrotask } from './read_into.js';
import type { RunState } from './run_service.js';
import { floatsOf } from './run_values.js';

export function scoreHandlers(state: RunState): Handlers {
  return {
    'reference.feed': async ({ session, which, tensors, sample }) => {
      const values = await state.values(session, sample, tensors);
      const outputs = tensors.map((tensor) => floatTensor(tensor, values[tensor]));
      return { bytes: state.store.keepReference(which, sample.index, outputs) };
    },
    'score.run': async ({ tensors, samples, cut, metric, ...request }, context) => {
      const terms = new Float64Array(samples.length * tensors.length * TERMS);
      let at = 0;
      // What is known so far rides along with progress, so that a ranking can be seen before its samples are all in.
      const told = {
        ...context,
        progress: (progress: Progress) =>
          context.progress({ ...progress, terms: terms.slice(0, at) } as Progress),
      };
      const costs: RunCosts = { sessions: 1, create_ms: 0, runs: 0, run_ms: 0, metric_ms: 0 };
      const clock = new StopWatch();
      await overKept(state, request, samples, told, async (session, sample) => {
        if (costs.runs === 0) costs.create_ms = clock.lap();
        clock.lap();
        costs.runs++;
        const expected = state.store.reference('float', sample);
        const values = await state.values(session, sample, tensors, cut);
        costs.run_ms += clock.lap();
        for (const [i, tensor] of tensors.entries()) {
          const actual = floatTensor(tensor, values[tensor]);
          terms.set(termsOf(state.core(), metric, expected[i]!, actual, tensor, sample.name), at);
          at += TERMS;
        }
        costs.metric_ms += clock.lap();
      });
      context.transfer(terms.buffer);
      return { terms, costs };
    },
    'score.pair': async ({ session, sample, tensors, cut }) => {
      const kept = state.store.reference('float', sample);
      const expected = Object.fromEntries(tensors.map((tensor, i) => [tensor, kept[i]!]));
      return { expected, actual: await state.values(session, sample, tensors, cut) };
    },
    ...cutHandlers(state),
  };
}

export class StopWatch {
  private last = performance.now();

  /** Milliseconds since the last lap. */
  lap(): number {
    const now = performance.now();
    const passed = now - this.last;
    this.last = now;
    return passed;
  }
}

function cutHandlers(state: RunState): Handlers {
  return {
    'cuts.keep': async ({ session, cuts, sample }) => {
      const tensors = [...new Set(cuts.flatMap((cut) => cut.tensors))];
      const values = await state.values(session, sample, tensors);
      const bytes = cuts.map((cut) => {
        const crossing = Object.fromEntries(cut.tensors.map((tensor) => [tensor, values[tensor]!]));
        return state.store.keepCrossing(cut.cut, sample.index, crossing);
      });
      return { bytes };
    },
    'cuts.forget': ({ cuts }) => {
      for (const cut of cuts) state.store.forgetCrossing(cut);
      return null;
    },
    'cuts.prove': async ({ cut, which, tensors, samples, ...request }, context) => {
      let equal = true;
      await overKept(state, request, samples, context, async (session, sample) => {
        const expected = state.store.reference(which, sample);
        const values = await state.values(session, sample, tensors, cut);
        equal &&= tensors.every((tensor, i) => sameBits(expected[i]!, floatTensor(tensor, values[tensor])));
      });
      return { equal };
    },
  };
}

/** One session for all samples, released whatever happens. */
async function overKept(
  state: RunState,
  request: SessionRequest,
  samples: SampleRef[],
  context: CallContext,
  use: (session: number, sample: SampleRef) => Promise<void>,
): Promise<void> {
  const session = await state.createSession(request, context);
  const progress = new ProgressReporter('sensitivity', 'runs', samples.length, context.progress);
  try {
    for (const sample of samples) {
      if (context.signal.aborted) throw cancelled();
      await use(session, sample);
      progress.advance(1);
      await macrotask();
    }
  } finally {
    await state.sessions.take(session)?.release();
  }
}

export function floatTensor(
  name: string,
  value: SampleTensor | undefined,
): SampleTensor & { data: Float32Array } {
  return { type: 'float32', dims: [...(value?.dims ?? [])], data: floatsOf(name, value) };
}

export function sameBits(a: SampleTensor, b: SampleTensor): boolean {
  const [left, right] = [a.data as Float32Array, b.data as Float32Array];
  return left.length === right.length && left.every((value, index) => Object.is(value, right[index]));
}

/** The terms of one tensor. Errors of the core name no sample; here they do. */
export function termsOf(
  core: Core,
  { name, k }: MetricChoice,
  expected: SampleTensor,
  actual: SampleTensor,
  tensor: string,
  sample: string,
): number[] {
  const last = expected.dims.at(-1) ?? 1;
  const [data, other] = [expected.data as Float32Array, actual.data as Float32Array];
  const result = core.metricTerms(name, k, data, other, last);
  if (result.ok) return result.value;
  return unwrap({
    ...result,
    message: `${result.message} (tensor "${tensor}", sample ${sample})`,
    where: tensor,
  });
}
