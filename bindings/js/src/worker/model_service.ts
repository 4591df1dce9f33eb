// The handlers of the worker that holds models.
import { HalftoneError } from '../shared/errors.js';
import type { QuantizeInfo, Skeleton } from '../shared/protocol.js';
import type {
  Encodings,
  ModelSummary,
  Plan,
  ResultsDifference,
  SensitivityResults,
  TensorStatistics,
} from '../types.js';
import { type Core, type CoreJob, type CoreModel, type CoreSkeleton, unwrap } from './core.js';
import type { CallContext, Handlers } from './dispatch.js';
import { formatHandlers } from './format_service.js';
import { hashSource } from './hash.js';
import { mixedHandlers } from './mixed_service.js';
import { readInto } from './read_into.js';
import { Table } from './tables.js';

export function modelHandlers(coreOf: () => Core): Handlers {
  const models = new Table<CoreModel>('model');
  const jobs = new Table<CoreJob>('job');
  return {
    ...openHandlers(coreOf, models),
    ...planHandlers(models),
    ...sweepHandlers(coreOf, models, jobs),
    ...quantizeHandlers(coreOf, models, jobs),
    ...resultHandlers(coreOf),
    ...mixedHandlers(coreOf, models),
    ...formatHandlers(coreOf, models, jobs),
  };
}

function openHandlers(coreOf: () => Core, models: Table<CoreModel>): Handlers {
  return {
    open: async ({ source }, context) => {
      let model: CoreModel | undefined;
      try {
        const bytes = await readInto(source, context, (size) => {
          model = unwrap(coreOf().createModel(size));
          return model;
        });
        const external = unwrap(model!.parse());
        return { model: models.add(model!), external, bytes };
      } catch (error) {
        model?.delete();
        throw error;
      }
    },
    'open.external': async ({ model, location, source }, context) => {
      const bytes = await readInto(source, context, (size) => {
        unwrap(models.get(model).beginExternal(location, size));
        return models.get(model);
      });
      return { bytes };
    },
    'open.finish': ({ model }) => unwrap(models.get(model).finish()),
    hash: ({ source }, context) => hashSource(source, context),
    close: ({ model }) => {
      models.take(model)?.delete();
      return { live: coreOf().liveObjects() };
    },
  };
}

function planHandlers(models: Table<CoreModel>): Handlers {
  return {
    inspect: ({ model, file }) =>
      JSON.parse(unwrap(models.get(model).inspect(file.name, file.sha256))) as ModelSummary,
    plan: ({ model, options, file }) =>
      JSON.parse(unwrap(models.get(model).plan(options, file.name, file.sha256))) as Plan,
    'plan.check': ({ model, plan }) => unwrap(models.get(model).checkPlan(JSON.stringify(plan))),
    'plan.shapes': ({ model, options }) => unwrap(models.get(model).shapesToMeasure(options)),
    'plan.patterns': ({ model, patterns }) => unwrap(models.get(model).previewPatterns(patterns)),
    scored: ({ model, choice }) => unwrap(models.get(model).scored(choice)),
    targets: ({ model, plan, tensors }) =>
      unwrap(models.get(model).targets(plan === null ? '' : JSON.stringify(plan), tensors)),
    outputs: ({ model, tensors, plan }, context) =>
      sent(
        unwrap(models.get(model).outputs(tensors, plan === undefined ? '' : JSON.stringify(plan))),
        context,
      ),
    encodings: ({ model, plan, ranges, method, samples, file }) =>
      JSON.parse(
        unwrap(
          models.get(model).encodings(
            JSON.stringify(plan),
            ranges.map((range) => range.tensor),
            ranges.map((range) => range.min),
            ranges.map((range) => range.max),
            { ...file, method, samples },
          ),
        ),
      ) as Encodings,
    'weight.statistics': ({ model, tensor, bins, encoding }) =>
      unwrap(
        models.get(model).statistics(tensor, bins, encoding === null ? '' : JSON.stringify(encoding)),
      ) as TensorStatistics,
    graph: ({ model }) => unwrap(models.get(model).graph()),
  };
}

/** Variants need no ranges and no decisions on inputs that get nothing, and reading those takes most of the time of a start. */
function withoutRanges(key: string, value: unknown): unknown {
  return (key === 'min' || key === 'max') && Array.isArray(value) ? [] : value;
}

function sweepHandlers(coreOf: () => Core, models: Table<CoreModel>, jobs: Table<CoreJob>): Handlers {
  return {
    'sweep.start': ({ model, plan, encodings, choice }) => {
      const { job, ...info } = unwrap(
        coreOf().createSweep(
          models.get(model),
          JSON.stringify({ ...plan, inputs: [] }),
          JSON.stringify(encodings, withoutRanges),
          choice,
        ),
      );
      return { sweep: jobs.add(job), ...info };
    },
    'sweep.model': ({ sweep, what }, context) => {
      const index = what.kind === 'group' ? what.index : -1;
      const cut = what.kind === 'group' || what.kind === 'base' ? (what.cut ?? -1) : -1;
      return sent(unwrap(jobs.get(sweep).skeleton(what.kind, index, cut)), context);
    },
    'sweep.switched': ({ sweep, groups, stages }) => unwrap(jobs.get(sweep).switched(groups, stages)),
    'sweep.first_order': ({ sweep, sites, shapes }) => unwrap(jobs.get(sweep).firstOrder(sites, shapes)),
    'sweep.end': ({ sweep }) => drop(jobs, sweep),
  };
}

function quantizeHandlers(coreOf: () => Core, models: Table<CoreModel>, jobs: Table<CoreJob>): Handlers {
  return {
    'quantize.start': ({ model, plan, encodings, method, samples, random, external }) => {
      const { job, ...info } = unwrap(
        coreOf().createExport(
          models.get(model),
          JSON.stringify(plan),
          JSON.stringify(encodings),
          { method, samples, random },
          external ?? '',
        ),
      );
      return { ...(info as unknown as QuantizeInfo), job: jobs.add(job) };
    },
    'quantize.read': ({ job, part, offset, length }) =>
      new Blob([unwrap(jobs.get(job).read(part, offset, length))]),
    'quantize.end': ({ job }) => drop(jobs, job),
  };
}

function drop(jobs: Table<CoreJob>, job: number): null {
  jobs.take(job)?.delete();
  return null;
}

function sent(skeleton: CoreSkeleton, context: CallContext): Skeleton {
  context.transfer(skeleton.model.buffer, ...skeleton.buffers.map((buffer) => buffer.bytes.buffer));
  return skeleton;
}

function resultHandlers(coreOf: () => Core): Handlers {
  return {
    'metric.scores': ({ metric, rows, tensors }) =>
      rows.map((terms) => unwrap(coreOf().metricScore(metric.name, metric.k, terms, tensors))),
    'metric.interval': ({ score, leftOut }) => unwrap(coreOf().jackknife(score, Float64Array.from(leftOut))),
    rank: ({ results }) => {
      const ranked = JSON.parse(unwrap(coreOf().rankResults(JSON.stringify(results)))) as SensitivityResults;
      if (ranked.ranking.length !== results.ranking.length)
        throw new HalftoneError('internal', 'Rows were lost while ranking.');
      return ranked;
    },
    merge: ({ texts }) => JSON.parse(unwrap(coreOf().mergeResults(texts))) as SensitivityResults,
    'results.diff': ({ a, b }) => JSON.parse(unwrap(coreOf().compareResults(a, b))) as ResultsDifference,
  };
}
