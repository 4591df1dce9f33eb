// A choice of few, all in sight: radio buttons that look like one control.
import type { VNode } from 'preact';

export function Switch<T extends string>(props: {
  legend: string;
  all: readonly (readonly [value: T, name: string])[];
  value: T;
  onChoose: (value: T) => void;
}): VNode {
  return (
    <fieldset class="switch">
      <legend class="unseen">{props.legend}</legend>
      {props.all.map(([value, name]) => (
        <label key={value}>
          <input
            type="radio"
            name={props.legend}
            value={value}
            checked={props.value === value}
            onChange={() => props.onChoose(value)}
          />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}
