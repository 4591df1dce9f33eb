// What goes between the client and a worker about sweeps, scores and mixed precision. Types only, and the number of terms.
import type { Encoding, Flip, MetricName, Plan, Warning } from '../types.js';

export interface SweepChoice {
  score: readonly string[];
  /** As Grouping, but for functions, whose groups are given. */
  by: string;
  groups: { key: string; sites: string[] }[] | null;
  only: 'weights' | 'activations' | '';
  sweep: 'enable' | 'disable';
}

export interface SweepGroup {
  key: string;
  sites: string[];
  detail: string;
}

export interface SweepInfo {
  sweep: number;
  scored: string[];
  /** What the default choice would score, where that doesn't saturate as `scored` may. */
  unsaturated: string[];
  /** The plan's activations that a node makes, in graph order. */
  activations: { tensor: string; node: string; op: string }[];
  /** Quantized sites without an encoding, and why. */
  skipped: { name: string; why: string }[];
  groups: SweepGroup[];
  /** The tensors that cross each cut. */
  cuts: string[][];
  /** Of each group: the last cut in front of it, or -1. */
  cutOf: number[];
  /** Of each group: whether its sites can be on together in a switched part. */
  switchable: boolean[];
}

/** How one quantizer of a part is switched on by what the part is fed (halftone/switched_part.h). */
export interface SiteSwitch {
  tensor: string;
  kind: 'input' | 'addend' | 'values';
  feed: string;
  /** Of an addend. */
  rank: number;
  /** Of values, with what they are. */
  dims: number[];
  off: Float32Array<ArrayBuffer>;
  on: Float32Array<ArrayBuffer>;
}

/** Stages of a model that a run may skip, and what it is fed instead (halftone/staged.h). */
export interface Stages {
  /** An input: how many stages a run skips. Empty if there are none. */
  start: string;
  feeds: { tensor: string; feed: string; type: string; rank: number }[];
  /** Behind each stage: of the sweep, the cut; and which of the feeds are needed to start here. */
  borders: { cut: number; crossing: number[] }[];
}

/** Of one sample. */
export type Shapes = [tensor: string, shape: number[]][];

/** What a flip changes in a plan and its encodings; the rest, which is most, stays as it is. */
export interface FlipChanges extends Pick<Plan, 'sites' | 'inputs'> {
  encodings: Record<string, Encoding>;
  /** Encodings that are no longer there. */
  dropped: string[];
  warnings: Warning[];
}

export type FlipFigures = Pick<Flip, 'flipped' | 'before' | 'after' | 'predicted'>;

/** "" leaves a role as it is. */
export interface MixedPrecision {
  activations: string;
  weights: string;
}

/** One of the first four is set. */
export interface FlipRequest extends MixedPrecision {
  worst: number | null;
  percent: number | null;
  threshold: number | null;
  names: readonly string[] | null;
}

export interface MixedRequest extends MixedPrecision {
  score: readonly string[];
}

export interface MixedInfo {
  search: number;
  scored: string[];
  /** Of each candidate: the sites that change together. */
  candidates: string[][];
  /** Of the plan with all of them. */
  warnings: Warning[];
}

/** Numbers that a metric keeps of one tensor and sample (halftone/metric.h). */
export const TERMS = 6;
/** Which of them is the sum of squared errors, of psnr, sqnr and mse. */
export const ERROR_SQUARES = 2;

/** `base`: what a sweep's variants differ from by their group, where that isn't the float model. */
export type Reference = 'float' | 'base';

export interface MetricChoice {
  name: MetricName;
  k: number;
}

export interface RowScore {
  /** null: not a number. */
  score: number | null;
  interval: [number, number] | null;
}

export type SweepModel =
  /** With `cut`: only what lies behind it; its inputs are the tensors that cross there. */
  | { kind: 'float' }
  | { kind: 'base'; cut?: number }
  | { kind: 'group'; index: number; cut?: number }
  /** The base with the tensors at all cuts as outputs. */
  | { kind: 'cuts' }
  | { kind: 'simulated' | 'weights' | 'activations' | 'quantized' | 'gated' }
  /** Float and simulated, with every activation as an output. */
  | { kind: 'float_tensors' | 'simulated_tensors' }
  /** Of a search only: the simulated model with these tensors at the higher precision. */
  | { kind: 'mixed'; tensors: string[] };
