// Which value of a group is for which input: by name where names match, else by order.
import type { ValueInfo } from '../types.js';
import type { Group, Part } from './collect.js';
import { inputNamed } from './file_names.js';
import { takesImages } from './image_options.js';
import type { Notices } from './notices.js';
import { invalidSample, shapeText } from './sample_error.js';

/** `optional`: the model has a default for it, or takes the input as an optional type. */
export interface InputInfo extends ValueInfo {
  optional?: boolean;
}

export interface Assignment {
  input: InputInfo;
  part: Part;
}

const NEXT = "Name files or keys after the model's inputs, for example x.0.npy, or a key x in an .npz.";

function quoted(name: string): string {
  return JSON.stringify(name);
}

/** In the order of `inputs`; optional ones may be missing. Errors: invalid_sample. */
export function assignGroup(group: Group, inputs: readonly InputInfo[], notices: Notices): Assignment[] {
  const taken = new Map<string, Part>();
  const take = (input: InputInfo, part: Part) => {
    const other = taken.get(input.name);
    if (other !== undefined) {
      throw invalidSample(
        `${group.title} has two values for input ${quoted(input.name)}.`,
        part.file,
        `Remove ${other.file} or ${part.file}.`,
      );
    }
    taken.set(input.name, part);
  };
  const rest = group.parts.filter((part) => {
    const input = firstNamed(inputs, part.names);
    if (input !== null) take(input, part);
    return input === null;
  });
  if (taken.size === 0) takeInOrder(group, inputs, take, notices);
  else for (const part of rest) takeByPosition(part, inputs, taken, take, notices);
  for (const input of inputs) {
    if (input.optional || taken.has(input.name)) continue;
    const given = [...taken.keys()].map(quoted).join(', ') || 'no input';
    throw invalidSample(
      `${group.title} has no value for input ${quoted(input.name)}, which needs ${input.type} ${shapeText(input.shape)}; it has ${given}.`,
      group.parts[0]?.file ?? '',
      NEXT,
    );
  }
  return inputs.flatMap((input) => {
    const part = taken.get(input.name);
    return part === undefined ? [] : [{ input, part }];
  });
}

function firstNamed(inputs: readonly InputInfo[], names: readonly string[]): InputInfo | null {
  for (const name of names) {
    const input = inputNamed(inputs, name);
    if (input !== null) return input;
  }
  return null;
}

type Take = (input: InputInfo, part: Part) => void;

/** Values whose names are no inputs', in a group where others' are. */
function takeByPosition(
  part: Part,
  inputs: readonly InputInfo[],
  taken: Map<string, Part>,
  take: Take,
  notices: Notices,
): void {
  const input = part.position === null ? undefined : inputs[part.position];
  if (input !== undefined && !taken.has(input.name)) take(input, part);
  else
    notices.add(
      'value_ignored',
      `holds a value ${quoted(part.names[0] ?? '')} that no input is called, which was ignored`,
      part.file,
    );
}

function takeInOrder(group: Group, inputs: readonly InputInfo[], take: Take, notices: Notices): void {
  const image = group.parts.find((part) => 'image' in part.value);
  if (image !== undefined) {
    take(imageInput(inputs, image.file), image);
    return;
  }
  if (group.parts.some((part) => part.position !== null)) {
    for (const part of group.parts) take(inputAt(inputs, part), part);
    return;
  }
  const required = inputs.filter((input) => !input.optional);
  const targets = group.parts.length === required.length ? required : inputs;
  if (group.parts.length !== targets.length) {
    const needed = `${inputs.map((input) => quoted(input.name)).join(', ')}`;
    throw invalidSample(
      `${group.title} has ${group.parts.length} values with names that no input has; the model's inputs are ${needed}.`,
      group.parts[0]?.file ?? '',
      NEXT,
    );
  }
  group.parts.forEach((part, i) => {
    const input = targets[i];
    if (input !== undefined) take(input, part);
  });
  if (targets.length > 1)
    notices.add(
      'taken_in_order',
      "has no names of inputs; values were taken in the inputs' order",
      group.title,
    );
}

function inputAt(inputs: readonly InputInfo[], part: Part): InputInfo {
  const input = inputs[part.position ?? 0];
  if (input !== undefined) return input;
  const count = `${inputs.length} input${inputs.length === 1 ? '' : 's'}`;
  throw invalidSample(
    `${part.file} is for input number ${part.position}, but the model has ${count}.`,
    part.file,
    'Remove the file.',
  );
}

/** Images name no input; the model must leave no choice. */
function imageInput(inputs: readonly InputInfo[], where: string): InputInfo {
  const able = inputs.filter(takesImages);
  if (able.length === 1 && able[0] !== undefined) return able[0];
  const inputText = inputs
    .map((input) => `${quoted(input.name)} ${input.type} ${shapeText(input.shape)}`)
    .join(', ');
  throw invalidSample(
    `${able.length === 0 ? 'No input of the model takes images' : 'More than one input of the model takes images'}: ${inputText}.`,
    where,
    'Give samples as .npy or .npz files.',
  );
}
