// What a sweep is asked for, and what it answers.
import type { Cancellable, Sample, Site, Warning } from './types.js';

export type MetricName = 'psnr' | 'topk-psnr' | 'sqnr' | 'cosine' | 'mse' | 'kl' | 'top1';

/** A metric of one's own, over what the scored tensors hold: as the float model makes them, and as the variant does. */
export interface UserMetric {
  name: string;
  /** No default: PSNR and accuracy are worse when lower, KL and perplexity when higher. */
  higherIsWorse: boolean;
  /** The value of one sample. Tensors are only valid until it returns. */
  sample(expected: Sample, actual: Sample, at: { index: number; name: string }): number | Promise<number>;
  /** The score of several samples from their values, in sample order; default: the mean. Also makes the interval. */
  combine?(values: readonly number[]): number;
}

/**
 * What one step of a sweep switches: one quantizer; all of an operator type; a node's weights, outputs and producer-less inputs
 * (AIMET's per-layer analysis); all quantizers of a node, each counted once (its group_by_op_name); what a regular expression
 * captures of the tensor's name; or what a function says. null, and no match, skip.
 */
export type Grouping =
  | 'quantizer'
  | 'operator'
  | 'layer'
  | 'op_name'
  | `re:${string}`
  | ((site: Site) => string | null);

export interface SensitivityRow {
  /** The quantizer's tensor, or the group's key. */
  name: string;
  /** In the metric's unit; dB for PSNR. */
  score: number;
  /** The sites that this row switches, in site order. */
  sites: string[];
  /** Of a single quantizer. */
  role?: 'activation' | 'weight';
  /** Position among all groups, by first appearance in site order. */
  order: number;
  /** 95 % (jackknife over samples); null for a single sample. */
  interval: [number, number] | null;
  /** Samples that the score is of: fewer than the set's where more couldn't bring the row among the wanted top. */
  samples: number;
}

export interface SensitivityOptions extends Cancellable {
  by?: Grouping;
  /** `enable` (default): only the group is quantized. `disable`: everything but the group is; what is worse then helps. */
  sweep?: 'enable' | 'disable';
  only?: 'weights' | 'activations';
  metric?: MetricName | UserMetric;
  /** Of `topk-psnr`; default 10. */
  k?: number;
  /** The tensors to score, the worst of which counts; "output", "output:N", or nothing for the default choice. */
  score?: string | readonly string[];
  /**
   * Spends samples on what may be among the worst `top` only: as the first samples tell or, where the scored tensor has up to four
   * values and the metric is of its squared error, as derivatives of the float model tell.
   */
  top?: number;
  /** That a row given up on early is not among them; default 0.95. */
  confidence?: number;
  /** Of `count` machines, the one with number `index` (from 1): groups whose order is index - 1 modulo count. */
  shard?: { index: number; count: number };
  /** Results to go on from: their complete rows are taken as they are. */
  resume?: SensitivityResults;
  /** Called with every change of a row, also before all of its samples are in. */
  onRow?: (row: SensitivityRow) => void;
}

export interface SensitivityResults {
  ranking: { rank: number; name: string; score: number | null; detail?: string }[];
  halftone: {
    version: string;
    model_sha256: string;
    /** Of the plan, encodings and samples, so that parts of different runs are never joined. */
    plan_sha256?: string;
    encodings_sha256?: string;
    samples_sha256?: string;
    target: string;
    method: string;
    metric: string;
    k?: number;
    higher_is_worse: boolean;
    scored: string[];
    samples: number;
    by: string;
    sweep?: 'enable' | 'disable';
    only?: 'weights' | 'activations';
    /** In ranking order, 95 %; null for a single sample. */
    interval: ([number, number] | null)[];
    /** In ranking order, where some row used fewer than all. */
    samples_used?: number[];
    /** In ranking order: each row's position among all groups. Ties rank by it. */
    order?: number[];
    /** Of all groups, this part's and the others'. */
    groups?: number;
    /** What to score instead, should too many rows of all parts together sit on a limit. */
    unsaturated?: string[];
    shard?: { index: number; count: number };
    /** True if the run was stopped. */
    partial?: boolean;
    skipped: { name: string; why: string }[];
    warnings: Warning[];
  };
}

/** Two sweeps of the same metric, row by row. `difference` is after less before; rank 1 is the worst. */
export interface ResultsDifference {
  metric: string;
  higher_is_worse: boolean;
  both: {
    name: string;
    before: number | null;
    after: number | null;
    difference: number | null;
    rank_before: number;
    rank_after: number;
  }[];
  only_before: { name: string; score: number | null; rank: number }[];
  only_after: { name: string; score: number | null; rank: number }[];
  /** What else differs between the two sweeps. */
  warnings: Warning[];
}

export interface RunCosts {
  sessions: number;
  /** Of sessions, reading the weights included. */
  create_ms: number;
  runs: number;
  run_ms: number;
  metric_ms: number;
}

export interface SensitivityRun extends AsyncIterable<SensitivityRow> {
  /** Resolves when all rows are in; rejects with `cancelled` if the run was stopped. */
  results(): Promise<SensitivityResults>;
  /** What is complete now, ranked; also after a cancel. */
  partial(): Promise<SensitivityResults>;
  /** What the variants cost so far, summed over workers. */
  costs(): RunCosts;
}
