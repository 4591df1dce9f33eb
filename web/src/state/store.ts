// The state of the page: signals, each with one meaning. Actions write them, views read them.
import { computed, signal } from '@preact/signals';
import type { BundledSample, ImageOptions, PathFile } from '../engine/bench';
import type {
  Encodings,
  Model,
  ModelSummary,
  Plan,
  SampleSet,
  SensitivityResults,
  SensitivityRow,
} from '../package';
import { kDefaultAddress, type Listing, type Order, type Presentation, type Step } from './address';
import { kDefaultOptions, type Options, planOptions } from './options';
import type { Problem } from './problem';
import type { Saved } from './saved';
import { type Made, stepStates } from './steps';

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
  readonly total: number;
  /** Null while rows still come in. */
  readonly results: SensitivityResults | null;
  readonly complete: boolean;
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
export const plan = signal<Made<Plan> | null>(null);
export const samples = signal<Samples | null>(null);
export const encodings = signal<Made<Encodings> | null>(null);
export const ranking = signal<Made<Ranking> | null>(null);
export const saved = signal<Made<Saved> | null>(null);
export const job = signal<Job | null>(null);

export const step = signal<Step>(kDefaultAddress.step);
export const presentation = signal<Presentation>(kDefaultAddress.presentation);
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
export const planFresh = computed(() => plan.value !== null && plan.value.key === planKey.value);
/** While another plan is on its way. Where none can be made, nothing is. */
export const planning = computed(() => plan.value !== null && !planFresh.value);
export const encodingsKey = computed(() => `${planKey.value}|${samples.value?.revision ?? 0}`);

export const states = computed(() =>
  stepStates({
    running: job.value?.step ?? (opening.value === null ? null : 'model'),
    hasModel: session.value !== null,
    hasSamples: samples.value !== null,
    planKey: planKey.value,
    plan: plan.value,
    encodingsKey: encodingsKey.value,
    encodings: encodings.value,
    ranking: ranking.value,
    rankingComplete: ranking.value?.value.complete ?? false,
    saved: saved.value,
  }),
);

/** Sites that a sweep has a row for, in site order. */
export const rowSites = computed(
  () => plan.value?.value.sites.filter((site) => site.quantized && site.role !== 'bias') ?? [],
);

export const siteByTensor = computed(
  () => new Map(plan.value?.value.sites.map((site) => [site.tensor, site]) ?? []),
);

export const scoreByTensor = computed(
  () => new Map(ranking.value?.value.rows.map((row) => [row.name, row.score]) ?? []),
);

/** For tests and assistive scripts: nothing is running and nothing is about to. */
export const idle = computed(() => job.value === null && opening.value === null && pending.value === 0);
/** Short work in the background: a plan being made, statistics being read. */
export const pending = signal(0);

/** Forgets everything that was made from the last model. */
export function forgetResults(): void {
  plan.value = null;
  encodings.value = null;
  ranking.value = null;
  saved.value = null;
  samples.value = null;
}
