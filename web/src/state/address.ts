// The part of the address behind '#': step, view, selection and options. Never data and never file names.
import {
  type Flag,
  kActivationFormats,
  kDefaultOptions,
  kPrecisions,
  kTargets,
  kWeightFormats,
  type Options,
} from './options';

export type Step = 'model' | 'plan' | 'calibrate' | 'sensitivity' | 'save';
export const kSteps: readonly Step[] = ['model', 'plan', 'calibrate', 'sensitivity', 'save'];

export type Presentation = 'bars' | 'table';
export type Order = 'worst' | 'graph';
/** What the rows of the plan are. */
export type Listing = 'sites' | 'inputs';

export interface Address {
  step: Step;
  presentation: Presentation;
  order: Order;
  listing: Listing;
  tensor: string | null;
  options: Options;
}

export const kDefaultAddress: Address = {
  step: 'model',
  presentation: 'bars',
  order: 'worst',
  listing: 'sites',
  tensor: null,
  options: kDefaultOptions,
};

/** Longest name or pattern that is taken from an address, and most patterns of a kind. */
const kLongestName = 1024;
const kMostPatterns = 100;

const kFlagKeys: Record<string, Flag> = {
  channels: 'perChannel',
  modelopt: 'matchModelOpt',
  dla: 'dla',
  floatweights: 'floatWeights',
  directio: 'directIo',
  concat: 'concatGroups',
  rawexcluded: 'rawExcluded',
};

export function writeAddress(address: Address): string {
  const entries: [string, string][] = [];
  const put = (key: string, value: string, standard: string): void => {
    if (value !== standard) entries.push([key, value]);
  };
  put('step', address.step, kDefaultAddress.step);
  put('view', address.presentation, kDefaultAddress.presentation);
  put('order', address.order, kDefaultAddress.order);
  put('list', address.listing, kDefaultAddress.listing);
  const { options } = address;
  for (const key of ['target', 'activations', 'weights', 'precision'] as const)
    put(key, options[key], kDefaultOptions[key]);
  for (const [key, flag] of Object.entries(kFlagKeys))
    put(key, String(options[flag]), String(kDefaultOptions[flag]));
  for (const key of ['include', 'exclude'] as const) {
    for (const pattern of options[key].slice(0, kMostPatterns))
      if (isName(pattern)) entries.push([key, pattern]);
  }
  if (address.tensor !== null && isName(address.tensor)) entries.push(['tensor', address.tensor]);
  return new URLSearchParams(entries).toString();
}

export interface ReadAddress {
  address: Address;
  /** The keys that were not understood; they are left out. */
  ignored: string[];
}

function isName(text: string): boolean {
  return text !== '' && text.length <= kLongestName;
}

function oneOf<T extends string>(value: string, allowed: readonly T[]): T | null {
  return (allowed as readonly string[]).includes(value) ? (value as T) : null;
}

export function readAddress(hash: string): ReadAddress {
  const address: Address = { ...kDefaultAddress, options: { ...kDefaultOptions } };
  const ignored: string[] = [];
  for (const [key, value] of new URLSearchParams(hash.replace(/^#/, ''))) {
    if (!readEntry(address, key, value)) ignored.push(key);
  }
  return { address, ignored };
}

function readEntry(address: Address, key: string, value: string): boolean {
  switch (key) {
    case 'step':
      return assign(oneOf(value, kSteps), (step) => {
        address.step = step;
      });
    case 'view':
      return assign(oneOf(value, ['bars', 'table'] as const), (view) => {
        address.presentation = view;
      });
    case 'order':
      return assign(oneOf(value, ['worst', 'graph'] as const), (order) => {
        address.order = order;
      });
    case 'list':
      return assign(oneOf(value, ['sites', 'inputs'] as const), (listing) => {
        address.listing = listing;
      });
    case 'tensor':
      return assign(isName(value) ? value : null, (name) => {
        address.tensor = name;
      });
    default:
      return readOption(address.options, key, value);
  }
}

function readOption(options: Options, key: string, value: string): boolean {
  switch (key) {
    case 'target':
      return assign(kTargets.find(({ name }) => name === value) ?? null, ({ name }) => {
        options.target = name;
      });
    case 'activations':
      return assign(oneOf(value, kActivationFormats), (format) => {
        options.activations = format;
      });
    case 'weights':
      return assign(oneOf(value, kWeightFormats), (format) => {
        options.weights = format;
      });
    case 'precision':
      return assign(oneOf(value, kPrecisions), (precision) => {
        options.precision = precision;
      });
    case 'include':
    case 'exclude':
      return readPattern(options, key, value);
    default:
      return readFlag(options, key, value);
  }
}

function readPattern(options: Options, key: 'include' | 'exclude', value: string): boolean {
  const known = options[key];
  const fits = isName(value) && known.length < kMostPatterns && !known.includes(value);
  if (fits) options[key] = [...known, value];
  return fits;
}

function readFlag(options: Options, key: string, value: string): boolean {
  const flag = Object.hasOwn(kFlagKeys, key) ? kFlagKeys[key] : undefined;
  const set = oneOf(value, ['true', 'false'] as const);
  if (flag === undefined || set === null) return false;
  options[flag] = set === 'true';
  return true;
}

function assign<T>(value: T | null, put: (value: T) => void): boolean {
  if (value === null) return false;
  put(value);
  return true;
}
