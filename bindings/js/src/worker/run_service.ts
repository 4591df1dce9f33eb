// The handlers of the workers that run models: sessions, and jobs that take in what sessions give.
import { readWhole } from '../platform/source.js';
import type { Runner, RunnerSession } from '../runner/runner.js';
import { cancelled } from '../shared/errors.js';
import type { CompareRow, SampleRef, SessionRequest } from '../shared/protocol.js';
import type { Sample, TensorStatistics } from '../types.js';
import { type Core, type CoreJob, unwrap } from './core.js';
import type { CallContext, Handlers } from './dispatch.js';
import { firstOrderHandlers } from './first_order_service.js';
import { OffRuns } from './off_runs.js';
import { finiteOrThrow, floatsOf, valuesOf } from './run_values.js';
import { SampleStore } from './sample_store.js';
import type { SwitchedSession } from './sample_switches.js';
import { scoreHandlers } from './score_service.js';
import { switchedHandlers } from './switch_service.js';
import { Table } from './tables.js';

interface NamedJob {
  core: CoreJob;
  tensors: string[];
}

/** Everything that a running worker holds. */
export class RunState {
  readonly sessions = new Table<RunnerSession>('session');
  readonly jobs = new Table<NamedJob>('job');
  readonly parts = new Table<SwitchedSession>('part');
  readonly store = new SampleStore();
  readonly offRuns = new OffRuns();

  constructor(
    readonly core: () => Core,
    readonly runner: () => Runner,
  ) {}

  addJob(core: CoreJob, tensors: string[]): { job: number } {
    return { job: this.jobs.add({ core, tensors }) };
  }

  async createSession({ model, files, mode }: SessionRequest, context: CallContext): Promise<number> {
    const external = [];
    for (const file of files) external.push({ path: file.path, data: await readWhole(file.source) });
    for (const buffer of model.buffers) external.push({ path: buffer.path, data: buffer.bytes });
    if (context.signal.aborted) throw cancelled();
    return this.sessions.add(await this.runner().create(model.model, external, mode));
  }

  /** Runs a sample, or takes the tensors from the sample itself where no session is needed. */
  async values(
    session: number | null,
    sample: SampleRef,
    tensors: readonly string[],
    cut: number | null = null,
  ): Promise<Sample> {
    return valuesOf(
      session === null ? null : this.sessions.get(session),
      this.store.inputsOf(sample, cut),
      tensors,
    );
  }
}

export function runHandlers(state: RunState): Handlers {
  return {
    ...sessionHandlers(state),
    ...observeHandlers(state),
    ...scoreHandlers(state),
    ...switchedHandlers(state),
    ...firstOrderHandlers(state),
    ...histogramHandlers(state),
    ...compareHandlers(state),
    'job.drop': ({ job }) => {
      state.jobs.take(job)?.core.delete();
      return null;
    },
  };
}

function sessionHandlers(state: RunState): Handlers {
  return {
    'session.create': async (request, context) => {
      const session = await state.createSession(request, context);
      const { inputs, outputs } = state.sessions.get(session);
      return { session, inputs, outputs };
    },
    'session.release': async ({ session }) => {
      await state.sessions.take(session)?.release();
      return null;
    },
    'sample.put': ({ index, tensors }) => {
      state.store.keepSample(index, tensors);
      return null;
    },
    reset: () => {
      state.store.clear();
      state.offRuns.clear();
      return null;
    },
    run: async ({ session, sample, outputs }, context) => {
      const values = await state.values(session, sample, outputs);
      transferAll(values, context);
      return values;
    },
  };
}

function observeHandlers(state: RunState): Handlers {
  return {
    'observe.start': ({ tensors }) =>
      state.addJob(unwrap(state.core().createObservers(tensors.length)), tensors),
    'observe.feed': async ({ job, session, sample, tensors }) => {
      const { core, tensors: known } = state.jobs.get(job);
      const values = await state.values(session, sample, tensors);
      for (const [index, tensor] of known.entries()) {
        const floats = floatsOf(tensor, values[tensor]);
        finiteOrThrow(tensor, sample.name, floats, unwrap(core.feed(index, floats, null)) as number | null);
      }
      return null;
    },
    'observe.end': ({ job }) => {
      const { core, tensors } = state.jobs.get(job);
      const ranges = unwrap(core.result()) as { min: number | null; max: number | null; values: number }[];
      return ranges.flatMap(({ min, max, values }, index) =>
        min === null || max === null ? [] : [{ tensor: tensors[index]!, min, max, values }],
      );
    },
  };
}

function histogramHandlers(state: RunState): Handlers {
  return {
    'histogram.start': ({ tensor, min, max, bins, encoding }) => {
      const text = encoding === null ? '' : JSON.stringify(encoding);
      return state.addJob(unwrap(state.core().createReport(tensor, min, max, bins, text)), [tensor]);
    },
    'histogram.feed': async ({ job, session, sample, tensor }) => {
      const { core } = state.jobs.get(job);
      const value = (await state.values(session, sample, [tensor]))[tensor];
      unwrap(core.feed(0, floatsOf(tensor, value), value?.dims ?? []));
      return null;
    },
    'reports.feed': async ({ jobs, session, sample }) => {
      const known = jobs.map((job) => state.jobs.get(job));
      const values = await state.values(
        session,
        sample,
        known.map(({ tensors }) => tensors[0]!),
      );
      for (const { core, tensors } of known) {
        const [tensor] = tensors as [string];
        unwrap(core.feed(0, floatsOf(tensor, values[tensor]), values[tensor]?.dims ?? []));
      }
      return null;
    },
    'histogram.end': ({ job }) => unwrap(state.jobs.get(job).core.result()) as TensorStatistics,
  };
}

function compareHandlers(state: RunState): Handlers {
  return {
    'compare.start': ({ tensors }) =>
      state.addJob(unwrap(state.core().createComparison(tensors.length)), tensors),
    'compare.feed': async ({ job, a, b, sample }) => {
      const { core, tensors } = state.jobs.get(job);
      const left = await state.values(a, sample, tensors);
      const right = await state.values(b, sample, tensors);
      for (const [index, tensor] of tensors.entries()) {
        feedPair(
          core,
          index,
          floatsOf(tensor, left[tensor]),
          floatsOf(tensor, right[tensor]),
          tensor,
          sample.name,
        );
      }
      return null;
    },
    'compare.end': ({ job }) => {
      const { core, tensors } = state.jobs.get(job);
      const rows = unwrap(core.result()) as Omit<CompareRow, 'name'>[];
      return rows.map((row, index) => ({ name: tensors[index]!, ...row }));
    },
  };
}

/** Errors of the core name no sample; here they do. */
function feedPair(
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

function transferAll(values: Sample, context: CallContext): void {
  const buffers = new Set<ArrayBuffer>();
  for (const { data } of Object.values(values)) {
    if (data.buffer instanceof ArrayBuffer && data.byteLength === data.buffer.byteLength)
      buffers.add(data.buffer);
  }
  context.transfer(...buffers);
}
