// What a caller without types may hand over as options of a plan. Values of the right type are the core's to judge.
import { HalftoneError } from '../shared/errors.js';
import type { PlanOptions } from '../types.js';

type Kind = 'text' | 'boolean' | 'texts' | 'shapes' | 'object';

const KINDS: Record<keyof PlanOptions, Kind> = {
  target: 'text',
  match: 'text',
  activations: 'text',
  weights: 'text',
  perChannel: 'boolean',
  activationsSymmetric: 'boolean',
  include: 'texts',
  exclude: 'texts',
  config: 'object',
  dla: 'boolean',
  rawExcluded: 'boolean',
  floatWeights: 'boolean',
  directIo: 'boolean',
  concatGroups: 'boolean',
  sampleShapes: 'shapes',
};

const WORDS: Record<Kind, string> = {
  text: 'a text',
  boolean: 'true or false',
  texts: 'a list of texts',
  object: 'an object',
  shapes: 'a list of pairs of a tensor and its dimensions, whole numbers from 0',
};

const isText = (value: unknown) => typeof value === 'string';
const isSize = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isShape = (value: unknown) =>
  Array.isArray(value) && value.length === 2 && isText(value[0]) && isSizes(value[1]);
const isSizes = (value: unknown) => Array.isArray(value) && value.every(isSize);

const CHECKS: Record<Kind, (value: unknown) => boolean> = {
  text: isText,
  boolean: (value) => typeof value === 'boolean',
  texts: (value) => Array.isArray(value) && value.every(isText),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  shapes: (value) => Array.isArray(value) && value.every(isShape),
};

export function checkPlanOptions(options: PlanOptions): void {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined) continue;
    const kind = Object.hasOwn(KINDS, name) ? KINDS[name as keyof PlanOptions] : undefined;
    if (kind === undefined) throw refused(`There is no plan option "${name}".`, name, knownOptions());
    if (!CHECKS[kind](value))
      throw refused(`The plan option "${name}" must be ${WORDS[kind]}.`, name, 'Correct it or leave it out.');
  }
}

function knownOptions(): string {
  return `Use ${Object.keys(KINDS).join(', ')}.`;
}

function refused(message: string, where: string, next: string): HalftoneError {
  return new HalftoneError('invalid_policy', message, { where, next });
}
