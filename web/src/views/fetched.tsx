// What comes after the first screen: shown when it is there.
import type { VNode } from 'preact';
import { loadMore, type MorePictures, more, moreFailed } from './more';

export function Fetched({ show }: { show: (made: MorePictures) => VNode }): VNode {
  const made = more.value;
  if (made !== null) return show(made);
  return moreFailed.value ? (
    <p class="notice">
      This picture could not be fetched. Check the connection.{' '}
      <button type="button" onClick={() => void loadMore()}>
        Try again
      </button>
    </p>
  ) : (
    <p class="lead" aria-busy="true">
      Fetching the picture{'\u2026'}
    </p>
  );
}
