// What a person can choose. These, the selection and the view are all that the address may carry.
import type { FormatName, PlanOptions, TargetName } from '../package';

export type Precision = 'int8' | 'float8e4m3fn';

/** Choices of every target: one that is switched back to still knows what was chosen for it. */
export interface Options {
  target: TargetName;
  activations: FormatName;
  weights: FormatName;
  perChannel: boolean;
  /** Target tensorrt: one format for activations and weights. */
  precision: Precision;
  matchModelOpt: boolean;
  /** Target aimet: constants rounded half up, as AIMET's own kernel does. */
  matchAimet: boolean;
  /** Target aimet: a configuration file. It is data, and never part of the address. */
  config: { readonly name: string; readonly value: Record<string, unknown> } | null;
  dla: boolean;
  floatWeights: boolean;
  directIo: boolean;
  concatGroups: boolean;
  rawExcluded: boolean;
  include: readonly string[];
  exclude: readonly string[];
}

export type Flag =
  | 'perChannel'
  | 'matchModelOpt'
  | 'matchAimet'
  | 'dla'
  | 'floatWeights'
  | 'directIo'
  | 'concatGroups'
  | 'rawExcluded';

export const kTargets: readonly { name: TargetName; label: string }[] = [
  { name: 'onnxruntime', label: 'onnxruntime' },
  { name: 'tensorrt', label: 'TensorRT' },
  { name: 'aimet', label: 'AIMET' },
];
export const kPrecisions: readonly Precision[] = ['int8', 'float8e4m3fn'];
export const kActivationFormats: readonly FormatName[] = ['uint8', 'int8', 'uint16', 'int16'];
export const kWeightFormats: readonly FormatName[] = ['int8', 'uint8', 'int16', 'uint16', 'int4', 'uint4'];

export const kDefaultOptions: Options = {
  target: 'onnxruntime',
  activations: 'uint8',
  weights: 'int8',
  perChannel: true,
  precision: 'int8',
  matchModelOpt: false,
  matchAimet: false,
  config: null,
  dla: false,
  floatWeights: false,
  directIo: false,
  concatGroups: true,
  rawExcluded: false,
  include: [],
  exclude: [],
};

/** Flags in the order in which they are offered. */
const kFlags: readonly Flag[] = [
  'perChannel',
  'matchModelOpt',
  'matchAimet',
  'dla',
  'floatWeights',
  'directIo',
  'concatGroups',
  'rawExcluded',
];

/** Whether a choice means something beside the others. What doesn't is neither offered nor sent. */
export function applies(flag: Flag, { target, precision, matchModelOpt }: Options): boolean {
  if (target === 'onnxruntime') return flag === 'perChannel';
  if (target === 'aimet') return flag === 'perChannel' || flag === 'matchAimet';
  if (flag === 'matchAimet') return false;
  if (flag === 'dla') return precision === 'int8'; // The accelerator has no float8.
  if (flag === 'perChannel' || flag === 'rawExcluded') return !matchModelOpt; // ModelOpt has no such choice.
  return true;
}

export function flagsOf(options: Options): Flag[] {
  return kFlags.filter((flag) => applies(flag, options));
}

export function sameOptions(a: Options, b: Options): boolean {
  const same = (key: keyof Options): boolean => JSON.stringify(a[key]) === JSON.stringify(b[key]);
  return (Object.keys(kDefaultOptions) as (keyof Options)[]).every(same);
}

/** As the package takes them; what is left at its default is left out, so that files say only what was chosen. */
export function planOptions(options: Options): PlanOptions {
  const chosen: PlanOptions = { target: options.target, ...formatsOf(options) };
  for (const flag of flagsOf(options)) {
    if (options[flag] === kDefaultOptions[flag]) continue;
    if (flag === 'matchModelOpt') chosen.match = 'modelopt';
    else if (flag === 'matchAimet') chosen.match = 'aimet';
    else chosen[flag] = options[flag];
  }
  if (options.target === 'aimet' && options.config !== null) chosen.config = options.config.value;
  if (options.include.length > 0) chosen.include = [...options.include];
  if (options.exclude.length > 0) chosen.exclude = [...options.exclude];
  return chosen;
}

function formatsOf({ target, activations, weights, precision }: Options): PlanOptions {
  if (target === 'tensorrt')
    return precision === kDefaultOptions.precision ? {} : { activations: precision, weights: precision };
  return {
    ...(activations === kDefaultOptions.activations ? {} : { activations }),
    ...(weights === kDefaultOptions.weights ? {} : { weights }),
  };
}
