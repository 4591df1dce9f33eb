// Fetches the pictures that aren't part of the first screen, once.
import { effect, signal } from '@preact/signals';
import { arrayFile, pending, session } from '../state/store';

export type MorePictures = typeof import('./more_pictures');

export const more = signal<MorePictures | null>(null);
/** The last attempt failed; the next look at a picture tries again. */
export const moreFailed = signal(false);

let loading = false;

export async function loadMore(): Promise<void> {
  if (loading || more.peek() !== null) return;
  loading = true;
  moreFailed.value = false;
  pending.value = pending.peek() + 1;
  try {
    const made = await import('./more_pictures');
    made.startGraphing();
    more.value = made;
  } catch {
    moreFailed.value = true;
  } finally {
    loading = false;
    pending.value = pending.peek() - 1;
  }
}

export function loadMoreWithModel(): () => void {
  return effect(() => {
    if (session.value !== null || arrayFile.value !== null) void loadMore();
  });
}
