// A choice of several from a menu, with its label in front.
import type { VNode } from 'preact';

export interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  all: readonly (readonly [value: T, name: string, ...rest: unknown[]])[];
  onChoose: (value: T) => void;
}

export function Choice<T extends string>({ label, value, all, onChoose }: ChoiceProps<T>): VNode {
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value as T)}>
        {all.map(([each, name]) => (
          <option key={each} value={each} selected={each === value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
