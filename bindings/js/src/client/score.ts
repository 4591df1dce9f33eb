// The score of the whole quantized model: as the exact options compute it, and as the runtime runs it when nobody asks. With
// levels, also what its weights and its activations do alone.
import { asHalftoneError } from '../shared/errors.js';
import { ProgressReporter } from '../shared/progress.js';
import type { MetricChoice, SweepModel } from '../shared/protocol.js';
import type { RunMode } from '../shared/session_options.js';
import type { Encodings, ModelScore, Plan, SampleSet, ScoreOptions, Warning } from '../types.js';
import type { Connection } from './connection.js';
import type { ModelHandle } from './model.js';
import { requireSamples } from './sample_feed.js';
import { type LaneJob, ScoreLane } from './sweep/score_lane.js';
import { SweepModels } from './sweep/sweep_models.js';
import { NO_GROUPS, scoreChoice } from './sweep/sweep_options.js';

interface Level {
  of: 'simulated' | 'fused' | 'weights_only' | 'activations_only';
  kind: 'simulated' | 'quantized' | 'weights' | 'activations';
  mode: RunMode;
}

const WHOLE: Level[] = [
  { of: 'simulated', kind: 'simulated', mode: 'exact' },
  { of: 'fused', kind: 'quantized', mode: 'default' },
];
const PARTS: Level[] = [
  { of: 'weights_only', kind: 'weights', mode: 'exact' },
  { of: 'activations_only', kind: 'activations', mode: 'exact' },
];
const PSNR: MetricChoice = { name: 'psnr', k: 1 };

interface Measured {
  terms: Float64Array[];
  refused: Warning | null;
}

export async function score(
  model: ModelHandle,
  plan: Plan,
  encodings: Encodings,
  samples: SampleSet,
  options: ScoreOptions,
): Promise<ModelScore> {
  requireSamples(samples);
  const { signal } = options;
  const { core, model: handle } = await model.core(options);
  const choice = { ...NO_GROUPS, score: scoreChoice(options.score) };
  const started = await core.call(
    'sweep.start',
    { model: handle, plan: fedWithFloats(plan), encodings, choice },
    { signal },
  );
  try {
    const { inputs } = (await model.inspect()).model;
    const levels = options.levels === true ? [...WHOLE, ...PARTS] : WHOLE;
    const models = new SweepModels(model, started.sweep);
    const { scored } = started;
    const job: LaneJob = {
      model,
      samples,
      inputs,
      models,
      scored,
      cuts: [],
      base: 'float',
      seen: async () => {},
    };
    const progress = new ProgressReporter('score', 'runs', levels.length * samples.count, options.onProgress);
    const measured = await measure(job, levels, signal, progress);
    progress.finish();
    return await scoreOf(core, scored, measured);
  } finally {
    if (core.connected) await core.call('sweep.end', { sweep: started.sweep }).catch(() => {});
  }
}

/** On one worker: a few variants only, and their float outputs are computed once. */
async function measure(
  job: LaneJob,
  levels: Level[],
  signal: AbortSignal | undefined,
  progress: ProgressReporter,
): Promise<Map<Level['of'], Measured>> {
  const measured = new Map(levels.map(({ of }) => [of, { terms: [], refused: null } as Measured]));
  for (let from = 0; from < job.samples.count; ) {
    await job.model.engine.pool.run(1, signal, async (worker, laneSignal) => {
      const lane = new ScoreLane(job, worker, laneSignal);
      await lane.use(async () => {
        const to = await lane.load(from);
        const block = Array.from({ length: to - from }, (_, i) => from + i);
        for (const { of, kind, mode } of levels) {
          const level = measured.get(of)!;
          if (level.refused === null) await run(lane, { kind }, mode, block, level);
          progress.advance(block.length);
        }
        from = to;
      });
    });
  }
  return measured;
}

async function run(
  lane: ScoreLane,
  what: SweepModel,
  mode: RunMode,
  block: number[],
  level: Measured,
): Promise<void> {
  try {
    level.terms.push((await lane.terms(what, mode, block, PSNR, () => {})).terms);
  } catch (thrown) {
    if (mode === 'exact') throw thrown;
    level.refused = cannotFuse(thrown);
  }
}

async function scoreOf(
  core: Connection,
  scored: string[],
  measured: Map<Level['of'], Measured>,
): Promise<ModelScore> {
  const result: ModelScore = { simulated: Number.NaN, fused: Number.NaN, scored, warnings: [] };
  for (const [of, { terms, refused }] of measured) {
    if (refused !== null) {
      result.warnings.push(refused);
      continue;
    }
    const row = Float64Array.from(terms.flatMap((part) => Array.from(part)));
    const [found] = await core.call('metric.scores', { metric: PSNR, rows: [row], tensors: scored.length });
    result[of] = found?.score ?? Number.NaN;
  }
  if (Math.abs(result.fused - result.simulated) > CLOSE_DB) result.warnings.push(farApart(result));
  return result;
}

/** Samples are floats: a model that takes and gives codes is scored with the pairs that its caller will have. */
function fedWithFloats(plan: Plan): Plan {
  return plan.options.direct_io === true ? { ...plan, options: { ...plan.options, direct_io: false } } : plan;
}

/** Fused integer kernels round elsewhere, which moves a score by less. */
const CLOSE_DB = 6;

function farApart({ simulated, fused }: ModelScore): Warning {
  return {
    code: 'fused_differs',
    message: `As onnxruntime runs the model by default it scores ${fused.toFixed(2)} dB, and ${simulated.toFixed(2)} dB as its pairs say: its optimizer changes what the model means (with float8 it takes a Relu away that the codes need). Deploy it on another runtime, or with graph optimization disabled.`,
    where: '',
  };
}

/** What the runtime's fused kernels refuse (float8, for one) may still be right for another runtime. */
function cannotFuse(thrown: unknown): Warning {
  const error = asHalftoneError(thrown);
  if (error.code !== 'unsupported_op' && error.code !== 'invalid_sample') throw error;
  return {
    code: 'not_run_by_default',
    message: `onnxruntime's default options can't run the quantized model, so there is no score for them: ${error.message}`,
    where: '',
  };
}
