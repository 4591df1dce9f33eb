// The options that mean the same in every command, and their values. A value that a later version will know is refused by name.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ImageOptions } from '../samples/index.js';
import type { FormatName, MatchName, PlanOptions, TargetName } from '../types.js';
import { UsageError } from './errors.js';

export interface OutputOptions {
  output?: string;
  force?: boolean;
  json?: boolean;
  quiet?: boolean;
  verbose?: boolean;
}

export interface EngineChoice {
  runner?: 'web' | 'node';
  workers?: number;
}

export interface PlanChoice {
  target?: TargetName;
  match?: MatchName;
  config?: string;
  weights?: FormatName;
  activations?: FormatName;
  include: string[];
  exclude: string[];
  dla?: boolean;
  rawExcluded?: boolean;
  floatWeights?: boolean;
  directIo?: boolean;
  /** False with --no-concat-groups. */
  concatGroups: boolean;
  plan?: string;
}

export interface SampleChoice {
  samples?: string[];
  randomData?: number;
  seed?: number;
  imageSize?: [number, number];
  imageFit?: 'stretch' | 'pad';
  imageLayout?: 'nchw' | 'nhwc';
  imageColor?: 'rgb' | 'bgr';
  imageScale?: number;
  imageMean?: number[];
  imageStd?: number[];
}

export interface CalibrationChoice {
  method: string;
  encodings?: string;
}

export interface ScoreChoice {
  /** Tensors, "output" or "output:N"; empty for the default choice. */
  score: string[];
}

export function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

export function whole(low: number, high: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isInteger(value) && value >= low && value <= high) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${low} to ${high}.`);
  };
}

function finite(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError('It must be a number.');
}

function imageSize(text: string): [number, number] {
  const match = /^(\d{1,5})x(\d{1,5})$/.exec(text);
  const [height, width] = [Number(match?.[1]), Number(match?.[2])];
  if (height > 0 && width > 0) return [height, width];
  throw new InvalidArgumentError('It must be HEIGHTxWIDTH, for example 224x224.');
}

export const numbers = (text: string) => text.split(',').map(finite);

/** "a", "a or b", "a, b or c" */
function orText(words: readonly string[]): string {
  return [words.slice(0, -1).join(', '), ...words.slice(-1)].filter((part) => part !== '').join(' or ');
}

/** Values known from the plan of the project, with those that this version has. */
export function choice(
  flags: string,
  description: string,
  now: readonly string[],
  later: readonly string[],
): Option {
  const name = /--[a-z-]+/.exec(flags)?.[0] ?? flags;
  return new Option(flags, `${description} (${now.join(', ')})`).argParser((value) => {
    if (now.includes(value)) return value;
    if (later.includes(value))
      throw new UsageError(`${name} ${value} is not in this version.`, `Use ${orText(now)}.`);
    throw new UsageError(`${name} can't be ${value}.`, `Use ${orText(now)}.`);
  });
}

export function addOutputOptions(command: Command, output: string | null): Command {
  if (output !== null)
    command.option('-o, --output <file>', output).option('--force', 'replace an output that exists');
  return command
    .option('--json', 'print JSON, and errors as JSON')
    .option('--quiet', 'no progress')
    .option('--verbose', 'print everything, also long lists');
}

export function addEngineOptions(command: Command): Command {
  return command
    .addOption(choice('--runner <name>', 'what runs models', ['web', 'node'], []))
    .option('--workers <n>', 'models run side by side, at most', whole(1, 256));
}

const DEFAULT_TARGET: TargetName = 'onnxruntime';
const FORMATS = ['int8', 'uint8', 'int16', 'uint16', 'int4', 'uint4', 'float8e4m3fn'];

export function addPlanOptions(command: Command): Command {
  return command
    .addOption(
      choice(
        '--target <name>',
        `whose rules; default ${DEFAULT_TARGET}`,
        ['onnxruntime', 'tensorrt', 'aimet'],
        ['weight-only'],
      ),
    )
    .addOption(
      choice(
        '--match <tool>',
        'imitate a tool, faults included; modelopt for target tensorrt, aimet for aimet',
        ['modelopt', 'aimet'],
        ['onnxruntime'],
      ),
    )
    .addOption(choice('--weights <format>', 'number format of weights', FORMATS, ['float4e2m1']))
    .addOption(choice('--activations <format>', 'number format of activations', FORMATS, []))
    .option('--include <pattern>', 'quantize only these: a name, glob:, re: or op: (repeatable)', collect, [])
    .option('--exclude <pattern>', 'leave these float (repeatable)', collect, [])
    .option('--config <file>', "aimet: AIMET's configuration, in place of its default one")
    .option('--dla', 'tensorrt: for the deep learning accelerator')
    .option('--raw-excluded', 'tensorrt: excluded nodes read raw tensors, even beside a pair')
    .option('--float-weights', 'tensorrt: weights stay float behind a Q/DQ pair')
    .option('--direct-io', 'tensorrt: model inputs and outputs become tensors of codes')
    .option('--no-concat-groups', 'tensorrt: tensors that a Concat joins keep a scale each')
    .option('--plan <file>', 'use this plan instead of making one');
}

export function addSampleOptions(command: Command): Command {
  return command
    .option('--samples <path...>', '.npy, .npz, .pb, .json, PNG, JPEG, or folders of them')
    .option('--random-data <n>', 'n made-up samples; every result then warns', whole(1, 1_000_000))
    .option('--seed <n>', 'of the random data', whole(0, 2 ** 32 - 1))
    .option('--image-size <HxW>', 'size of images', imageSize)
    .addOption(choice('--image-fit <how>', 'how images get their size', ['stretch', 'pad'], []))
    .addOption(choice('--image-layout <layout>', 'order of dimensions', ['nchw', 'nhwc'], []))
    .addOption(choice('--image-color <order>', 'order of colours', ['rgb', 'bgr'], []))
    .option('--image-scale <s>', 'a pixel v becomes (v * scale - mean) / std', finite)
    .option('--image-mean <m,…>', 'one number or one for each channel', numbers)
    .option('--image-std <s,…>', 'one number or one for each channel', numbers);
}

export function addCalibrationOptions(command: Command): Command {
  const later = ['entropy', 'percentile', 'mse', 'max', 'histogram'];
  return command
    .addOption(choice('--method <name>', 'how ranges are found', ['minmax'], later).default('minmax'))
    .option('--encodings <file>', 'use these encodings instead of calibrating');
}

export function addScoreOption(command: Command): Command {
  return command.option(
    '--score <tensor>',
    'what is scored: a tensor, "output" or "output:N" for graph outputs as they are (repeatable: the worst counts)',
    collect,
    [],
  );
}

export function planOptions(choice: PlanChoice): PlanOptions {
  return {
    target: choice.target ?? DEFAULT_TARGET,
    ...(choice.match && { match: choice.match }),
    ...(choice.weights && { weights: choice.weights }),
    ...(choice.activations && { activations: choice.activations }),
    ...(choice.include.length > 0 && { include: choice.include }),
    ...(choice.exclude.length > 0 && { exclude: choice.exclude }),
    ...(choice.dla && { dla: true }),
    ...(choice.rawExcluded && { rawExcluded: true }),
    ...(choice.floatWeights && { floatWeights: true }),
    ...(choice.directIo && { directIo: true }),
    ...(choice.concatGroups === false && { concatGroups: false }),
  };
}

/** The options that decide how a plan is made, as they are typed; none of them goes with a plan that is there. */
export function chosenPlanOptions(choice: PlanChoice): string[] {
  const chosen: [string, boolean][] = [
    ['--match', choice.match !== undefined],
    ['--config', choice.config !== undefined],
    ['--weights', choice.weights !== undefined],
    ['--activations', choice.activations !== undefined],
    ['--include', choice.include.length > 0],
    ['--exclude', choice.exclude.length > 0],
    ['--dla', choice.dla === true],
    ['--raw-excluded', choice.rawExcluded === true],
    ['--float-weights', choice.floatWeights === true],
    ['--direct-io', choice.directIo === true],
    ['--no-concat-groups', choice.concatGroups === false],
  ];
  return chosen.flatMap(([flag, set]) => (set ? [flag] : []));
}

export function imageOptions(choice: SampleChoice): ImageOptions {
  return {
    ...(choice.imageSize && { size: choice.imageSize }),
    ...(choice.imageFit && { fit: choice.imageFit }),
    ...(choice.imageLayout && { layout: choice.imageLayout }),
    ...(choice.imageColor && { color: choice.imageColor }),
    ...(choice.imageScale !== undefined && { scale: choice.imageScale }),
    ...(choice.imageMean && { mean: choice.imageMean }),
    ...(choice.imageStd && { std: choice.imageStd }),
  };
}
