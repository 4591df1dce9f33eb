// What most commands do first: start an engine, open the model, make or read the plan, read samples, calibrate.
import { readFileSync } from 'node:fs';
import type { Engine, EngineOptions } from '../client/engine_types.js';
import { openPaths, randomSamples, readSamples } from '../samples/index.js';
import { HalftoneError } from '../shared/errors.js';
import type {
  CompareOptions,
  Comparison,
  Encodings,
  Model,
  Plan,
  Progress,
  SampleSet,
  Warning,
} from '../types.js';
import { UsageError } from './errors.js';
import {
  type CalibrationChoice,
  chosenPlanOptions,
  type EngineChoice,
  imageOptions,
  type OutputOptions,
  type PlanChoice,
  planOptions,
  type SampleChoice,
} from './options.js';
import { ProgressLine, printable, type Terminal } from './terminal.js';

/** What the commands use of the package; tests bring a fake. */
export interface Package {
  version: string;
  createEngine(options: EngineOptions): Engine;
  compare(a: Model, b: Model, samples: SampleSet, options: CompareOptions): Promise<Comparison>;
}

export interface Context {
  terminal: Terminal;
  halftone: Package;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
}

const MAX_WARNINGS = 20;

/** One command at work. */
export class Work {
  private readonly progress: ProgressLine;

  constructor(
    readonly context: Context,
    readonly options: OutputOptions & EngineChoice,
    readonly engine: Engine,
  ) {
    this.progress = new ProgressLine(context.terminal, options.quiet === true);
  }

  /** To be given to every long call of the package. */
  get call(): { signal: AbortSignal; onProgress: (progress: Progress) => void } {
    return { signal: this.context.signal, onProgress: (progress) => this.progress.update(progress) };
  }

  /** Text for people; nothing with --json. */
  say(text: string): void {
    this.progress.clear();
    if (!this.options.json) this.context.terminal.out(text);
  }

  /** The result for machines; printed with --json only. */
  json(text: string): void {
    this.progress.clear();
    if (this.options.json) this.context.terminal.out(text);
  }

  warn(warnings: readonly Warning[]): void {
    this.progress.clear();
    if (this.options.json) return;
    const shown = this.options.verbose ? warnings : warnings.slice(0, MAX_WARNINGS);
    for (const { message } of shown) this.context.terminal.err(`warning: ${printable(message)}\n`);
    const more = warnings.length - shown.length;
    if (more > 0) this.context.terminal.err(`warning: ${more} more; --verbose shows them.\n`);
  }

  finish(): void {
    this.progress.clear();
  }

  openModel(path: string): Promise<Model> {
    return this.engine.open({ path }, this.call);
  }

  async samples(model: Model, choice: SampleChoice): Promise<SampleSet> {
    const { inputs } = (await model.inspect()).model;
    if (choice.samples !== undefined)
      return readSamples(openPaths(choice.samples), inputs, imageOptions(choice));
    if (choice.randomData !== undefined)
      return randomSamples(inputs, { count: choice.randomData, seed: choice.seed ?? 0 });
    throw noSamples();
  }

  async plan(model: Model, choice: PlanChoice, samples: SampleSet | null): Promise<Plan> {
    if (choice.plan === undefined) {
      const config =
        choice.config === undefined ? {} : { config: readJson<Record<string, unknown>>(choice.config) };
      return model.plan({ ...planOptions(choice), ...config }, samples ?? undefined);
    }
    const chosen = chosenPlanOptions(choice);
    if (chosen.length > 0)
      throw new UsageError(`--plan excludes ${chosen.join(', ')}.`, 'Edit the plan instead.');
    const plan = readJson<Plan>(choice.plan);
    await checkModel(model, plan.model_sha256, choice.plan);
    await model.checkPlan(plan);
    if (choice.target !== undefined && choice.target !== plan.target) {
      throw new UsageError(
        `${choice.plan} is a plan for target ${plan.target}, not ${choice.target}.`,
        `Leave out --target, or make a plan for ${choice.target}.`,
      );
    }
    return plan;
  }

  async encodings(
    model: Model,
    plan: Plan,
    samples: SampleSet | null,
    choice: CalibrationChoice,
  ): Promise<Encodings> {
    if (choice.encodings !== undefined) {
      const encodings = readJson<Encodings>(choice.encodings);
      await checkModel(model, encodings.model_sha256, choice.encodings);
      return encodings;
    }
    if (samples === null) throw noSamples();
    return model.calibrate(plan, samples, { method: 'minmax', ...this.call });
  }
}

function noSamples(): UsageError {
  return new UsageError(
    'No samples were given.',
    'Give files or folders with --samples, or --random-data N for made-up data, which says nothing about real data.',
  );
}

/** Before anything is read: exactly one kind of samples. */
export function checkSampleChoice({ samples, randomData }: SampleChoice): void {
  if (samples === undefined && randomData === undefined) throw noSamples();
  if (samples !== undefined && randomData !== undefined) {
    throw new UsageError('--samples and --random-data exclude each other.');
  }
}

/** Runs a command with an engine that is ended afterwards, whatever happens. */
export async function withWork(
  context: Context,
  options: OutputOptions & EngineChoice,
  use: (work: Work) => Promise<void>,
): Promise<void> {
  const engine = context.halftone.createEngine({
    ...(options.workers !== undefined && { workers: options.workers }),
    ...(options.runner !== undefined && { runner: options.runner }),
  });
  const work = new Work(context, options, engine);
  try {
    await use(work);
  } finally {
    work.finish();
    await engine.close();
  }
}

export function readJson<T>(path: string): T {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new HalftoneError('invalid_policy', `${path} can't be read.`, {
      where: path,
      next: 'Check the name.',
      cause,
    });
  }
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as T;
  } catch (cause) {
    throw new HalftoneError(
      'invalid_policy',
      `${path} is not JSON: ${(cause as Error).message.replace(/\s+/g, ' ')}.`,
      {
        where: path,
        next: 'Write it again with halftone.',
        cause,
      },
    );
  }
  throw new HalftoneError('invalid_policy', `${path} holds no JSON object.`, {
    where: path,
    next: 'Write it again with halftone.',
  });
}

async function checkModel(model: Model, sha256: unknown, path: string): Promise<void> {
  const { model: facts } = await model.inspect();
  if (sha256 === facts.sha256) return;
  throw new HalftoneError('invalid_policy', `${path} was made for another model than ${facts.name}.`, {
    where: path,
    next: 'Make it again for this model.',
  });
}
