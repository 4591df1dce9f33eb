// Raising precisions where it hurts: what it would cost and bring, taking it, and taking it back.
import { computed, effect, signal } from '@preact/signals';
import type { Encodings, Flip, FlipOptions, Plan, Precision, SensitivityResults } from '../package';
import { announce } from '../state/announce';
import { isCancel, problemFrom } from '../state/problem';
import {
  type Change,
  calibrated,
  change,
  changes,
  encodings,
  encodingsKey,
  pending,
  plan,
  ranking,
  samples,
  selected,
  session,
} from '../state/store';
import { threshold } from '../state/threshold';
import { counted } from '../text/format';

export type Which = 'beyond' | 'worst' | 'percent' | 'selected';
export type RaiseTo = 'int16' | 'float32' | 'channel';

export const kRaiseTo: readonly (readonly [RaiseTo, string, Precision])[] = [
  ['int16', 'int16', { weights: 'int16', activations: 'int16' }],
  ['float32', 'float32', { weights: 'float32', activations: 'float32' }],
  ['channel', 'per channel', { weights: 'channel' }],
];

export interface Raise {
  which: Which;
  count: number;
  percent: number;
  to: RaiseTo;
}

export const raise = signal<Raise>({ which: 'beyond', count: 5, percent: 10, to: 'int16' });
/** Previews are made while somebody looks at them. */
export const raiseOpen = signal(false);

export type FlipPreview = { state: 'failed'; message: string } | { state: 'made'; flip: Flip };
export const flipPreview = signal<FlipPreview | null>(null);

export function precisionOf(to: RaiseTo): Precision {
  return kRaiseTo.find(([name]) => name === to)?.[2] ?? {};
}

interface Question {
  plan: Plan;
  encodings: Encodings;
  results: SensitivityResults;
  options: FlipOptions;
}

/** Null while there is nothing to raise: no ranking that fits, or nothing chosen. */
const question = computed<Question | null>(() => {
  const made = ranking.value;
  const results = made?.value.results ?? null;
  const [now, found] = [plan.value?.value, encodings.value];
  if (results === null || now === undefined || found === null || calibrated.value === null) return null;
  if (found.key !== encodingsKey.value || made?.key.startsWith(`${found.key}|`) !== true) return null;
  const which = chosen();
  if (which === null) return null;
  const set = samples.value?.set;
  const shapes = set === undefined || set.random ? {} : { samples: set };
  return {
    plan: now,
    encodings: found.value,
    results,
    options: { ...which, to: precisionOf(raise.value.to), ...shapes },
  };
});

function chosen(): Omit<FlipOptions, 'to'> | null {
  const { which, count, percent } = raise.value;
  switch (which) {
    case 'worst':
      return { worst: count };
    case 'percent':
      return { percent };
    case 'beyond':
      return threshold.value === null ? null : { threshold: threshold.value };
    case 'selected':
      return selected.value === null ? null : { names: [selected.value] };
  }
}

export function startRaising(): () => void {
  return effect(() => {
    if (!raiseOpen.value) return;
    if (question.value === null) flipPreview.value = null;
    else void answer();
  });
}

let running = false;

/** One question at a time, always the newest: what was dragged over is never asked. */
async function answer(): Promise<void> {
  if (running) return;
  running = true;
  pending.value = pending.peek() + 1;
  try {
    let asked: Question | null = null;
    while (question.peek() !== asked) {
      asked = question.peek();
      flipPreview.value = asked === null ? null : await ask(asked);
    }
  } finally {
    running = false;
    pending.value = pending.peek() - 1;
  }
}

async function ask(
  { plan, encodings, results, options }: Question,
  again = false,
): Promise<FlipPreview | null> {
  const model = session.peek()?.model;
  if (model === undefined) return null;
  try {
    return { state: 'made', flip: await model.flip(plan, encodings, results, options) };
  } catch (cause) {
    // A cancelled job may take the worker with it that was answering.
    if (isCancel(cause) && !again) return ask({ plan, encodings, results, options }, true);
    const { message, next } = problemFrom(cause, 'Raising precisions');
    return { state: 'failed', message: `${message} ${next}` };
  }
}

let made = 0;

/** Puts a plan on top of the others. */
export function take(what: Pick<Change, 'title' | 'plan' | 'encodings' | 'flipped'>): void {
  made += 1;
  const { title, plan: raised, encodings: chosen, flipped } = what;
  const current = change.value === null ? [] : changes.value;
  changes.value = [
    ...current,
    { id: made, title, plan: raised, encodings: chosen, flipped, key: encodingsKey.value },
  ];
  announce(`${title}.`);
}

export function takePreview(): void {
  const preview = flipPreview.value;
  if (preview?.state !== 'made' || preview.flip.flipped.length === 0) return;
  const name = kRaiseTo.find(([to]) => to === raise.value.to)?.[1] ?? '';
  const { plan, encodings, flipped } = preview.flip;
  take({ title: `${counted(flipped.length, 'quantizer')} raised to ${name}`, plan, encodings, flipped });
}

export function undo(): void {
  const last = change.value;
  if (last === null) return;
  changes.value = changes.value.slice(0, -1);
  announce(`Taken back: ${last.title}.`);
}
