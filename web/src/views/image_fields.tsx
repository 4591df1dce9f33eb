// How pictures become tensors: size, layout, colours, mean and deviation. Only for image samples.
import type { VNode } from 'preact';
import { changeImageOptions } from '../actions/samples';
import type { ImageOptions } from '../engine/bench';
import { job, samples } from '../state/store';

const kLargest = 8192;

/** One to four finite numbers; null if the text is something else. */
export function readNumbers(text: string): number[] | null {
  const values = text
    .split(/[\s,;]+/)
    .filter((part) => part !== '')
    .map(Number);
  const fits = values.length >= 1 && values.length <= 4 && values.every(Number.isFinite);
  return fits ? values : null;
}

interface FieldProps<T> {
  label: string;
  value: T;
  onChoose: (value: T) => void;
}

function SizeField({ label, value, onChoose }: FieldProps<number | undefined>): VNode {
  const take = (event: { currentTarget: HTMLInputElement }): void => {
    const chosen = Math.round(Number(event.currentTarget.value));
    if (chosen >= 1 && chosen <= kLargest) onChoose(chosen);
    else event.currentTarget.value = value === undefined ? '' : String(value);
  };
  return (
    <label>
      {label}{' '}
      <input type="number" min={1} max={kLargest} placeholder="own" value={value ?? ''} onChange={take} />
    </label>
  );
}

function NumbersField({
  label,
  value,
  onChoose,
  divisor,
}: FieldProps<number[]> & { divisor?: boolean }): VNode {
  const take = (event: { currentTarget: HTMLInputElement }): void => {
    const chosen = readNumbers(event.currentTarget.value);
    if (chosen !== null && !(divisor && chosen.includes(0))) onChoose(chosen);
    else event.currentTarget.value = value.join(' ');
  };
  return (
    <label>
      {label} <input type="text" inputMode="decimal" value={value.join(' ')} onChange={take} />
    </label>
  );
}

function Choice<T extends string>(props: FieldProps<T> & { all: readonly [T, string][] }): VNode {
  return (
    <label>
      {props.label}{' '}
      <select value={props.value} onChange={(event) => props.onChoose(event.currentTarget.value as T)}>
        {props.all.map(([value, name]) => (
          <option key={value} value={value} selected={value === props.value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

export function ImageFields(): VNode | null {
  const image = samples.value?.image ?? null;
  if (image === null) return null;
  const change = (part: Partial<ImageOptions>): void => void changeImageOptions({ ...image, ...part });
  const [height, width] = image.size ?? [];
  return (
    <fieldset class="options" disabled={job.value !== null}>
      <legend>Images</legend>
      <SizeField
        label="Width"
        value={width}
        onChoose={(chosen) => change({ size: [height ?? chosen ?? 1, chosen ?? 1] })}
      />
      <SizeField
        label="Height"
        value={height}
        onChoose={(chosen) => change({ size: [chosen ?? 1, width ?? chosen ?? 1] })}
      />
      <Choice
        label="Fit"
        value={image.fit}
        all={[
          ['stretch', 'stretch'],
          ['pad', 'keep proportions, pad'],
        ]}
        onChoose={(fit) => change({ fit })}
      />
      <Choice
        label="Layout"
        value={image.layout}
        all={[
          ['nchw', 'NCHW'],
          ['nhwc', 'NHWC'],
        ]}
        onChoose={(layout) => change({ layout })}
      />
      <Choice
        label="Colours"
        value={image.color}
        all={[
          ['rgb', 'RGB'],
          ['bgr', 'BGR'],
        ]}
        onChoose={(color) => change({ color })}
      />
      <NumbersField label="Mean" value={image.mean} onChoose={(mean) => change({ mean })} />
      <NumbersField label="Deviation" value={image.std} divisor onChoose={(std) => change({ std })} />
      <p class="hint figures">
        value = (pixel {'\u00d7'} {image.scale === 1 / 255 ? '1/255' : image.scale} {'\u2212'} mean) /
        deviation
      </p>
    </fieldset>
  );
}
