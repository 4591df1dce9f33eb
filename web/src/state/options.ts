// What a person can choose. These, the selection and the view are all that the address may carry.
import type { FormatName, PlanOptions } from '../package';

export interface Options {
  activations: FormatName;
  weights: FormatName;
  perChannel: boolean;
}

export const kActivationFormats: readonly FormatName[] = ['uint8', 'int8', 'uint16', 'int16'];
export const kWeightFormats: readonly FormatName[] = ['int8', 'uint8', 'int16', 'uint16', 'int4', 'uint4'];

export const kDefaultOptions: Options = { activations: 'uint8', weights: 'int8', perChannel: true };

export function sameOptions(a: Options, b: Options): boolean {
  return a.activations === b.activations && a.weights === b.weights && a.perChannel === b.perChannel;
}

/** As the package takes them; what is left at its default is left out, so that files say only what was chosen. */
export function planOptions(options: Options): PlanOptions {
  const chosen: PlanOptions = { target: 'onnxruntime' };
  if (options.activations !== kDefaultOptions.activations) chosen.activations = options.activations;
  if (options.weights !== kDefaultOptions.weights) chosen.weights = options.weights;
  if (options.perChannel !== kDefaultOptions.perChannel) chosen.perChannel = options.perChannel;
  return chosen;
}
