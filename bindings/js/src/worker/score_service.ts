// The handlers that score: float outputs that are kept, variants compared with them, and cuts tried.
import { cancelled, HalftoneError } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import type { SampleRef, SessionRequest } from '../shared/protocol.js';
import { type CoreJob, unwrap } from './core.js';
import type { CallContext, Handlers } from './dispatch.js';
import { macrotask } from './read_into.js';
import type { RunState } from './run_service.js';
import { floatsOf } from './run_values.js';

interface Score {
  /** The worst; null if one is not a number. */
  score: number | null;
  byTensor: (number | null)[];
}

export function scoreHandlers(state: RunState): Handlers {
  return {
    'reference.feed': async ({ session, tensors, sample }) => {
      const values = await state.values(session, sample, tensors);
      const floats = tensors.map((tensor) => floatsOf(tensor, values[tensor]));
      return { kept: state.store.keepReference(sample.index, floats) };
    },
    'score.start': ({ tensors }) => state.addJob(unwrap(state.core().createScores(tensors.length)), tensors),
    'score.feed': async ({ job, session, reference, sample, cut }) => {
      const { core, tensors } = state.jobs.get(job);
      await feedSample(state, core, tensors, { session, reference, sample, cut });
      return null;
    },
    'score.end': ({ job }) => scoreOf(state.jobs.get(job).core),
    'score.kept': async ({ tensors, samples, cut, ...request }, context) => {
      const core = unwrap(state.core().createScores(tensors.length));
      try {
        await overKept(state, request, samples, context, (session, sample) =>
          feedSample(state, core, tensors, { session, reference: null, sample, cut }),
        );
        return scoreOf(core);
      } finally {
        core.delete();
      }
    },
    ...cutHandlers(state),
  };
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
    'cuts.prove': async ({ cut, tensors, samples, ...request }, context) => {
      let equal = true;
      await overKept(state, request, samples, context, async (session, sample) => {
        const expected = await expectedOutputs(state, null, sample, tensors);
        const values = await state.values(session, sample, tensors, cut);
        equal &&= tensors.every((tensor, i) => sameBits(expected[i]!, floatsOf(tensor, values[tensor])));
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

interface Fed {
  session: number;
  reference: number | null;
  sample: SampleRef;
  cut: number | null;
}

async function feedSample(
  state: RunState,
  core: CoreJob,
  tensors: readonly string[],
  { session, reference, sample, cut }: Fed,
): Promise<void> {
  const expected = await expectedOutputs(state, reference, sample, tensors);
  const values = await state.values(session, sample, tensors, cut);
  for (const [index, tensor] of tensors.entries()) {
    feedPair(core, index, expected[index]!, floatsOf(tensor, values[tensor]), tensor, sample.name);
  }
}

function scoreOf(core: CoreJob): Score {
  const byTensor = unwrap(core.result()) as (number | null)[];
  const known = byTensor.filter((score): score is number => score !== null);
  return { score: known.length === byTensor.length ? Math.min(...known) : null, byTensor };
}

function sameBits(a: Float32Array, b: Float32Array): boolean {
  return a.length === b.length && a.every((value, index) => Object.is(value, b[index]));
}

async function expectedOutputs(
  state: RunState,
  reference: number | null,
  sample: SampleRef,
  tensors: readonly string[],
): Promise<Float32Array[]> {
  const kept = state.store.reference(sample.index);
  if (kept !== undefined) return kept;
  if (reference === null)
    throw new HalftoneError('internal', `The float outputs of sample ${sample.name} are missing.`);
  const values = await state.values(reference, sample, tensors);
  return tensors.map((tensor) => floatsOf(tensor, values[tensor]));
}

/** Errors of the core name no sample; here they do. */
export function feedPair(
  core: CoreJob,
  index: number,
  expected: Float32Array,
  actual: Float32Array,
  tensor: string,
  sample: string,
): void {
  const result = core.feed(index, expected, actual);
  if (!result.ok)
    unwrap({
      ...result,
      message: `${result.message} (tensor "${tensor}", sample ${sample})`,
      where: tensor,
    });
}
