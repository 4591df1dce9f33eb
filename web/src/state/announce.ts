// What a screen reader hears. State changes once, politely; errors at once.
import { signal } from '@preact/signals';

export const polite = signal('');
export const assertive = signal('');

/** Zero-width mark that makes an equal sentence a new one, so that it is read again. */
const kAgain = '\u200b';

export function announce(sentence: string): void {
  polite.value = polite.value === sentence ? sentence + kAgain : sentence;
}

export function alarm(sentence: string): void {
  assertive.value = assertive.value === sentence ? sentence + kAgain : sentence;
}
