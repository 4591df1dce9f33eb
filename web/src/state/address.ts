// The part of the address behind '#': step, view, selection and options. Never data and never file names.
import { kActivationFormats, kDefaultOptions, kWeightFormats, type Options } from './options';

export type Step = 'model' | 'plan' | 'calibrate' | 'sensitivity' | 'save';
export const kSteps: readonly Step[] = ['model', 'plan', 'calibrate', 'sensitivity', 'save'];

export type Presentation = 'bars' | 'table';
export type Order = 'worst' | 'graph';

export interface Address {
  step: Step;
  presentation: Presentation;
  order: Order;
  tensor: string | null;
  options: Options;
}

export const kDefaultAddress: Address = {
  step: 'model',
  presentation: 'bars',
  order: 'worst',
  tensor: null,
  options: kDefaultOptions,
};

/** Longest tensor name that is taken from an address. */
const kLongestName = 1024;

export function writeAddress(address: Address): string {
  const entries: [string, string][] = [];
  const put = (key: string, value: string, standard: string): void => {
    if (value !== standard) entries.push([key, value]);
  };
  put('step', address.step, kDefaultAddress.step);
  put('view', address.presentation, kDefaultAddress.presentation);
  put('order', address.order, kDefaultAddress.order);
  put('activations', address.options.activations, kDefaultOptions.activations);
  put('weights', address.options.weights, kDefaultOptions.weights);
  put('channels', String(address.options.perChannel), String(kDefaultOptions.perChannel));
  if (address.tensor !== null && address.tensor.length <= kLongestName)
    entries.push(['tensor', address.tensor]);
  return new URLSearchParams(entries).toString();
}

export interface ReadAddress {
  address: Address;
  /** The keys that were not understood; they are left out. */
  ignored: string[];
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
    case 'activations':
      return assign(oneOf(value, kActivationFormats), (format) => {
        address.options.activations = format;
      });
    case 'weights':
      return assign(oneOf(value, kWeightFormats), (format) => {
        address.options.weights = format;
      });
    case 'channels':
      return assign(oneOf(value, ['true', 'false'] as const), (flag) => {
        address.options.perChannel = flag === 'true';
      });
    case 'tensor':
      return assign(value !== '' && value.length <= kLongestName ? value : null, (name) => {
        address.tensor = name;
      });
    default:
      return false;
  }
}

function assign<T>(value: T | null, put: (value: T) => void): boolean {
  if (value === null) return false;
  put(value);
  return true;
}
