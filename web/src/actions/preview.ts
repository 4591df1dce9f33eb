// What each pattern takes, while it is typed and for as long as it is part of the options.
import { computed, effect, signal } from '@preact/signals';
import type { Model, PatternMatch } from '../package';
import { announce } from '../state/announce';
import { isCancel, problemFrom } from '../state/problem';
import { options, pending, session } from '../state/store';
import { matchSentence } from '../text/pattern_words';

export type Preview = { state: 'failed'; message: string } | { state: 'read'; match: PatternMatch };

const kKept = 256;

/** What is being typed and isn't part of the options yet. */
export const draft = signal('');

const answers = signal<ReadonlyMap<string, Preview>>(new Map());

const wanted = computed(() =>
  [draft.value, ...options.value.include, ...options.value.exclude].filter(
    (pattern) => pattern.trim() !== '',
  ),
);

function keyOf(revision: number, pattern: string): string {
  return `${revision}|${pattern}`;
}

/** Null while it isn't known. */
export function previewOf(pattern: string): Preview | null {
  return answers.value.get(keyOf(session.value?.revision ?? 0, pattern)) ?? null;
}

export function previewSentence(preview: Preview | null): string {
  if (preview === null) return 'Looking\u2026';
  return preview.state === 'failed' ? preview.message : matchSentence(preview.match);
}

export function startPreviewing(): () => void {
  return effect(() => {
    if (session.value !== null && wanted.value.length > 0) void answerAll();
  });
}

let running = false;

/** One question at a time, always the first that is open now: what was typed over is never asked. */
async function answerAll(): Promise<void> {
  if (running) return;
  running = true;
  pending.value = pending.peek() + 1;
  try {
    for (;;) {
      const current = session.peek();
      if (current === null) return;
      const { revision, model } = current;
      const next = wanted.peek().find((pattern) => !answers.peek().has(keyOf(revision, pattern)));
      if (next === undefined) return;
      const answer = await ask(model, next);
      keep(keyOf(revision, next), answer);
      if (next === draft.peek()) announce(previewSentence(answer));
    }
  } finally {
    running = false;
    pending.value = pending.peek() - 1;
  }
}

function keep(key: string, answer: Preview): void {
  const next = new Map(answers.peek());
  if (next.size >= kKept) next.clear();
  answers.value = next.set(key, answer);
}

async function ask(model: Model, pattern: string, again = false): Promise<Preview> {
  try {
    const [match] = await model.previewPatterns([pattern]);
    return match === undefined
      ? { state: 'failed', message: 'The core gave no answer.' }
      : { state: 'read', match };
  } catch (cause) {
    // A cancelled job may take the worker with it that was answering.
    if (isCancel(cause) && !again) return ask(model, pattern, true);
    const { message, next } = problemFrom(cause, 'Reading a pattern');
    return { state: 'failed', message: `${message} ${next}` };
  }
}
