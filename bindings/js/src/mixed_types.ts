// Types of mixed precision: costs, flips and the search.
import type { Cancellable, Encodings, Plan, SampleSet, Warning } from './types.js';

/** What a plan costs to store and to run. */
export interface ModelCost {
  /** Of all weights, codes and scales, as the plan stores them; float ones at 4 bytes. */
  weight_bytes: number;
  /** Of one sample. */
  macs: number;
  /** Multiply-accumulates x bits of activations x bits of weights; float counts as 32. */
  bit_ops: number;
  /** Nodes with weights whose shapes aren't known. */
  unknown: string[];
}

export interface Precision {
  /** Of weights: a format, float32, or "channel" for a scale for each channel. */
  weights?: string;
  activations?: string;
}

export interface FlipOptions {
  /** Which, of the ranking's worst: a number of rows, a share of them, or all that are worse than a score. */
  worst?: number;
  percent?: number;
  threshold?: number;
  /** Or these keys of the ranking. */
  names?: readonly string[];
  to: Precision;
  /** For the costs: where the graph doesn't tell a shape, the first of them does. Nothing else is run. */
  samples?: SampleSet;
}

/**
 * A plan with higher precisions, and encodings for it, made from the ranges that the old ones hold. With min-max calibration
 * they are those of a new one, but for target aimet, which observes activations behind quantized weights: there a new
 * calibration moves ranges a little. What it was made from isn't touched, so undoing is going back to that.
 */
export interface Flip {
  plan: Plan;
  encodings: Encodings;
  flipped: string[];
  before: ModelCost;
  after: ModelCost;
  /** From the ranking's scores, as if errors only add up; null where they can't tell. dB of PSNR. */
  predicted: number | null;
  warnings: Warning[];
}

export interface ParetoOptions extends Cancellable {
  to: Precision;
  score?: string | readonly string[];
  /** In units of the plan's own cost; default 1.15 and 1.5. */
  maxWeightBytes?: number;
  maxBitOps?: number;
  /** Models to measure, about; default 96 more than twice the quantizers that can be raised. */
  most?: number;
  /** Called with every point when it is measured; what a cancelled search leaves. `front` is as of then. */
  onPoint?: (point: ParetoPoint) => void;
}

/** One mixed-precision model that was measured, end to end. */
export interface ParetoPoint {
  flipped: string[];
  plan: Plan;
  encodings: Encodings;
  /** PSNR of the scored tensors, dB. */
  score: number;
  cost: ModelCost;
  /** Whether no other point is as good in score and both costs, and better in one. */
  front: boolean;
  /** What backends make of it, as for a flip. */
  warnings: Warning[];
}
