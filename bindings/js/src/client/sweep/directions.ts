// Directions in the space of a scored tensor's values, at right angles and of length one: effects along all of them have the
// squared error for the sum of their squares.

export interface Directions {
  /** That every sample is asked for. */
  always: Float32Array[];
  /** That the others are asked for only if the first sample's effects have a share there. */
  atNeed: Float32Array[];
}

/**
 * Of logits, adding the same to all changes nothing that a model was trained for, and quantizers hardly do that: so that direction
 * is at need. The others are Helmert's: the mean of the first k values against the next one.
 */
export function directionsOf(values: number): Directions {
  const same = new Float32Array(values).fill(1 / Math.sqrt(values));
  if (values < 2) return { always: [same], atNeed: [] };
  const against = Array.from({ length: values - 1 }, (_, i) => {
    const before = i + 1;
    const direction = new Float32Array(values);
    direction.fill(1 / Math.sqrt(before * (before + 1)), 0, before);
    direction[before] = -Math.sqrt(before / (before + 1));
    return direction;
  });
  return { always: against, atNeed: [same] };
}

/** Of all squares; less makes predictions wrong by a few hundredths of a decibel on the average. */
const SHARE = 0.01;

/** Whether effects along the directions at need may be left out. */
export function areQuiet(always: readonly Float32Array[], atNeed: readonly Float32Array[]): boolean {
  const left = squares(atNeed);
  return left <= SHARE * (left + squares(always));
}

function squares(rows: readonly Float32Array[]): number {
  return rows.reduce((sum, row) => row.reduce((of, value) => of + value * value, sum), 0);
}
