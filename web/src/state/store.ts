// The state of the page: signals, each with one meaning. Actions write them, views read them.
import { computed, signal } from '@preact/signals';
import type { BundledSample, ImageOptions, PathFile } from '../engine/bench';
import type {
  Encodings,
  Model,
  ModelSummary,
  Plan,
  PropagationRow,
  SampleSet,
  SensitivityResults,
  SensitivityRow,
  TensorComparison,
} from '../package';
import {
  kDefaultAddress,
  type Listing,
  type Order,
  type Picture,
  type Presentation,
  type Step,
} from './address';
import { kDefaultOptions, type Options, planOptions } from './options';
import type { Problem } from './problem';
import type { Saved } from './saved';
import { type Made, stepStates } from './steps';
import { kDefaultSweep, type Measure, type SweepChoice, sweepKey } from './sweep';

export interface Session {
  readonly model: Model;
  readonly fileName: string;
  readonly summary: ModelSummary;
  /** Counts models opened on this page, so that results of one are never taken for another's. */
  readonly revision: number;
  readonly bundled: BundledSample | null;
}

export interface Samples {
  readonly set: SampleSet;
  /** The files, kept so that changed image options can read them again. Empty for random values. */
  readonly files: readonly PathFile[];
  readonly image: ImageOptions | null;
  readonly revision: number;
  readonly origin: 'bundled' | 'files' | 'random';
}

export interface Job {
  readonly step: Step;
  readonly title: string;
  readonly done: number;
  readonly total: number;
  readonly secondsLeft: number | null;
  readonly cancelling: boolean;
}

export interface Ranking {
  readonly rows: readonly SensitivityRow[];
  /** Null while nobody knows how many groups there are. */
  readonly total: number | null;
  readonly choice: SweepChoice;
  readonly measure: Measure;
  /** Null while rows still come in. */
  readonly results: SensitivityResults | null;
  readonly complete: boolean;
}

/** A plan of higher precisions that took the place of the one before. */
export interface Change {
  readonly id: number;
  readonly title: string;
  readonly plan: Plan;
  readonly encodings: Encodings;
  readonly flipped: readonly string[];
  /** Of the encodings that it was made from: with others it doesn't count. */
  readonly key: string;
}

export const session = signal<Session | null>(null);
/** A model that is being opened, or one that waits for its external data. */
export const opening = signal<{ name: string; size: number } | null>(null);
export const waitingForData = signal<{
  model: File;
  have: readonly PathFile[];
  samples: readonly PathFile[];
} | null>(null);

export const options = signal<Options>(kDefaultOptions);
/** As the target makes it; what a person raised since lies on top, see `plan`. */
export const planned = signal<Made<Plan> | null>(null);
export const samples = signal<Samples | null>(null);
export const calibrated = signal<Made<Encodings> | null>(null);
/** Newest last. Undoing takes one away. */
export const changes = signal<readonly Change[]>([]);
export const sweep = signal<SweepChoice>(kDefaultSweep);
export const ranking = signal<Made<Ranking> | null>(null);
/** Rankings of other choices, by key, so that going back to one costs nothing. */
export const keptRankings = new Map<string, Made<Ranking>>();
export const propagation = signal<Made<readonly PropagationRow[]> | null>(null);
export const saved = signal<Made<Saved> | null>(null);
export const job = signal<Job | null>(null);

/** An array that was dropped by itself, without a model. */
export const arrayFile = signal<File | null>(null);
/** What formats are tried on. Null: those that are usual. */
export const formatChoice = signal<{
  formats: readonly string[] | null;
  tensors: readonly string[] | null;
  blocks: readonly number[];
}>({ formats: null, tensors: null, blocks: [] });
export const compared = signal<Made<readonly TensorComparison[]> | null>(null);
export const formatsKey = computed(
  () => `${session.value?.revision ?? 0}|${JSON.stringify(formatChoice.value)}`,
);

export const step = signal<Step>(kDefaultAddress.step);
export const presentation = signal<Presentation>(kDefaultAddress.presentation);
export const picture = signal<Picture>(kDefaultAddress.picture);
export const order = signal<Order>(kDefaultAddress.order);
export const listing = signal<Listing>(kDefaultAddress.listing);
export const selected = signal<string | null>(null);
/** The row of the plan's inputs that was selected, as its place there; it counts while it reads the selected tensor. */
export const selectedInput = signal<number | null>(null);

/** What went wrong last, beside the step where it happened; null step: while opening. */
export const problem = signal<{ at: Step | null; problem: Problem } | null>(null);
export const notice = signal<string | null>(null);
export const dragging = signal(false);

/** Samples whose first tells shapes that a plan asks for. Made-up ones tell nothing that could not be guessed. */
export const shapeSamples = computed(() => {
  const current = samples.value;
  return options.value.target === 'tensorrt' && current !== null && !current.set.random ? current : null;
});

/** Of what is sent, not of what is chosen: choices that don't apply change nothing. */
export const planKey = computed(() => {
  const sent = JSON.stringify(planOptions(options.value));
  return `${session.value?.revision ?? 0}|${sent}|${shapeSamples.value?.revision ?? ''}`;
});
/** False while the plan of the current options is still being made: what is shown then is the one before. */
export const planFresh = computed(() => planned.value !== null && planned.value.key === planKey.value);
/** While another plan is on its way. Where none can be made, nothing is. */
export const planning = computed(() => planned.value !== null && !planFresh.value);
export const encodingsKey = computed(() => `${planKey.value}|${samples.value?.revision ?? 0}`);
export const rankingKey = computed(() => `${encodingsKey.value}|${sweepKey(sweep.value)}`);

/** The change that counts now. */
export const change = computed(() => {
  const last = changes.value.at(-1);
  return last !== undefined && last.key === encodingsKey.value && planFresh.value ? last : null;
});
/** What is shown, saved and built upon. */
export const plan = computed<Made<Plan> | null>(() =>
  planned.value !== null && change.value !== null
    ? { ...planned.value, value: change.value.plan }
    : planned.value,
);
export const encodings = computed<Made<Encodings> | null>(() =>
  calibrated.value !== null && change.value !== null
    ? { ...calibrated.value, value: change.value.encodings }
    : calibrated.value,
);
/** Of what is made from the shown plan with its encodings. */
export const workKey = computed(() => `${encodingsKey.value}|${change.value?.id ?? ''}`);

export const states = computed(() =>
  stepStates({
    running: job.value?.step ?? (opening.value === null ? null : 'model'),
    hasModel: session.value !== null,
    hasSamples: samples.value !== null,
    planKey: planKey.value,
    plan: plan.value,
    encodingsKey: encodingsKey.value,
    encodings: encodings.value,
    rankingKey: rankingKey.value,
    workKey: workKey.value,
    ranking: ranking.value,
    rankingComplete: ranking.value?.value.complete ?? false,
    saved: saved.value,
    formatsKey: formatsKey.value,
    compared: compared.value,
  }),
);

/** Sites that a sweep switches, in site order. */
export const rowSites = computed(
  () => planned.value?.value.sites.filter((site) => site.quantized && site.role !== 'bias') ?? [],
);

export const siteByTensor = computed(
  () => new Map(plan.value?.value.sites.map((site) => [site.tensor, site]) ?? []),
);

/** The row that switches a tensor's quantizer; in a grouped sweep its group's. */
export const rowByTensor = computed(() => {
  const rows = new Map<string, SensitivityRow>();
  for (const row of ranking.value?.value.rows ?? []) {
    for (const tensor of row.sites.length === 0 ? [row.name] : row.sites) rows.set(tensor, row);
  }
  return rows;
});

/** For tests and assistive scripts: nothing is running and nothing is about to. */
export const idle = computed(() => job.value === null && opening.value === null && pending.value === 0);
/** Short work in the background: a plan being made, statistics being read. */
export const pending = signal(0);

/** Forgets everything that was made from the last model. */
export function forgetResults(): void {
  planned.value = null;
  calibrated.value = null;
  changes.value = [];
  ranking.value = null;
  keptRankings.clear();
  propagation.value = null;
  saved.value = null;
  samples.value = null;
  arrayFile.value = null;
  compared.value = null;
  formatChoice.value = { ...formatChoice.value, tensors: null };
}
