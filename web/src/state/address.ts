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
import { kDefaultSweep, kGroups, kMetrics, kOnly, type SweepChoice } from './sweep';

export type Step = 'model' | 'plan' | 'calibrate' | 'sensitivity' | 'save' | 'formats';
export const kSteps: readonly Step[] = ['model', 'plan', 'calibrate', 'sensitivity', 'save', 'formats'];

/** What is shown under Sensitivity. */
export type Picture = 'ranking' | 'graph' | 'errors' | 'ranges' | 'tradeoff';
export const kPictures: readonly Picture[] = ['ranking', 'graph', 'errors', 'ranges', 'tradeoff'];

export type Presentation = 'bars' | 'table';
export type Order = 'worst' | 'graph';
/** What the rows of the plan are. */
export type Listing = 'sites' | 'inputs';

export interface Address {
  step: Step;
  picture: Picture;
  presentation: Presentation;
  order: Order;
  listing: Listing;
  tensor: string | null;
  options: Options;
  sweep: SweepChoice;
}

export const kDefaultAddress: Address = {
  step: 'model',
  picture: 'ranking',
  presentation: 'bars',
  order: 'worst',
  listing: 'sites',
  tensor: null,
  options: kDefaultOptions,
  sweep: kDefaultSweep,
};

/** Longest name or pattern that is taken from an address, and most patterns of a kind. */
const kLongestName = 1024;
const kMostPatterns = 100;

const kFlagKeys: Record<string, Flag> = {
  channels: 'perChannel',
  modelopt: 'matchModelOpt',
  aimet: 'matchAimet',
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
  put('picture', address.picture, kDefaultAddress.picture);
  put('view', address.presentation, kDefaultAddress.presentation);
  put('order', address.order, kDefaultAddress.order);
  put('list', address.listing, kDefaultAddress.listing);
  const { options, sweep } = address;
  put('by', sweep.by, kDefaultSweep.by);
  if (sweep.by === 'pattern' && isName(sweep.pattern)) entries.push(['pattern', sweep.pattern]);
  put('metric', sweep.metric, kDefaultSweep.metric);
  put('sweep', sweep.sweep, kDefaultSweep.sweep);
  put('only', sweep.only, kDefaultSweep.only);
  put('top', String(sweep.top), String(kDefaultSweep.top));
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
  const address: Address = {
    ...kDefaultAddress,
    options: { ...kDefaultOptions },
    sweep: { ...kDefaultSweep },
  };
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
    case 'picture':
      return assign(oneOf(value, kPictures), (picture) => {
        address.picture = picture;
      });
    default:
      return readSweep(address.sweep, key, value) ?? readOption(address.options, key, value);
  }
}

const kMostTop = 100_000;

/** Null for a key that says nothing about the sweep. */
function readSweep(sweep: SweepChoice, key: string, value: string): boolean | null {
  const choose = <K extends 'by' | 'metric' | 'sweep' | 'only'>(
    what: K,
    allowed: readonly SweepChoice[K][],
  ): boolean =>
    assign(oneOf(value, allowed as readonly string[]), (choice) => {
      sweep[what] = choice as SweepChoice[K];
    });
  const first = <T>(pairs: readonly (readonly [T, string])[]): T[] => pairs.map(([name]) => name);
  switch (key) {
    case 'by':
      return choose('by', first(kGroups));
    case 'metric':
      return choose('metric', first(kMetrics));
    case 'only':
      return choose('only', first(kOnly));
    case 'sweep':
      return choose('sweep', ['enable', 'disable']);
    case 'pattern':
      return assign(isName(value) ? value : null, (pattern) => {
        sweep.pattern = pattern;
      });
    case 'top':
      return assign(/^\d{1,6}$/.test(value) && Number(value) <= kMostTop ? Number(value) : null, (top) => {
        sweep.top = top;
      });
    default:
      return null;
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
