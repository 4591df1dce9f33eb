// How many samples a worker works on at a time: all of their inputs, outputs and values at cuts are kept there, so that each
// is computed once for all variants. What is kept is bounded, whatever the number of samples.

/** Of one worker. */
export const BLOCK_BYTES = 160 * 2 ** 20;

/** Before the size of what crosses cuts is known, which is most of it, a block is taken to be this much larger. */
const CUTS_SHARE = 4;

export interface SampleRange {
  from: number;
  /** One behind the last. */
  to: number;
}

/** The first guess, from the bytes of one sample's inputs and outputs. At least one sample. */
export function roomFor(bytesPerSample: number, withCuts: boolean): number {
  const budget = withCuts ? BLOCK_BYTES / CUTS_SHARE : BLOCK_BYTES;
  return Math.max(1, Math.floor(budget / Math.max(1, bytesPerSample)));
}

/**
 * Which cuts to keep, of the bytes of each for one sample, and how many samples then fit. The largest go first until one
 * sample fits beside what it needs anyway.
 */
export function roomWithCuts(
  bytesPerSample: number,
  cuts: { cut: number; bytes: number }[],
): { kept: number[]; samples: number } {
  const bySize = [...cuts].sort((a, b) => b.bytes - a.bytes || b.cut - a.cut);
  let total = cuts.reduce((sum, { bytes }) => sum + bytes, bytesPerSample);
  while (bySize.length > 0 && total > BLOCK_BYTES) total -= bySize.shift()!.bytes;
  const kept = bySize.map(({ cut }) => cut).sort((a, b) => a - b);
  return { kept, samples: Math.max(1, Math.floor(BLOCK_BYTES / Math.max(1, total))) };
}
