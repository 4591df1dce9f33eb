// What went wrong, beside where it went wrong: a sentence, the next step, details that fold out and copy as text.
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { announce } from '../state/announce';
import { build } from '../state/build';
import { type Problem, problemDetails } from '../state/problem';
import { notice, problem } from '../state/store';
import { printable } from '../text/format';

export function ProblemCard({ what, onDismiss }: { what: Problem; onDismiss?: () => void }): VNode {
  const { version, commit } = build.value;
  return (
    <section class="problem" aria-label="Problem">
      <p>
        <strong>{what.message}</strong> {what.next}
      </p>
      <details>
        <summary>Details</summary>
        <dl class="facts small">
          <dt>Code</dt>
          <dd>
            <code>{what.code}</code>
          </dd>
          <dt>Where</dt>
          <dd>
            <code>{what.where === '' ? 'not known' : printable(what.where, 200)}</code>
          </dd>
          <dt>During</dt>
          <dd>{what.during}</dd>
          <dt>Halftone</dt>
          <dd>
            {version} ({commit})
          </dd>
        </dl>
        <CopyButton text={problemDetails(what, build.value)} />
      </details>
      {onDismiss !== undefined && (
        <button type="button" class="close" aria-label="Dismiss this message" onClick={onDismiss}>
          {'\u00d7'}
        </button>
      )}
    </section>
  );
}

function CopyButton({ text }: { text: string }): VNode {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    announce('Details copied.');
  };
  return (
    <button type="button" onClick={() => void copy().catch(() => setDone(false))}>
      {done ? 'Copied' : 'Copy details'}
    </button>
  );
}

export function ProblemBar(): VNode | null {
  const current = problem.value;
  if (current === null) return null;
  return (
    <ProblemCard
      what={current.problem}
      onDismiss={() => {
        problem.value = null;
      }}
    />
  );
}

/** Shown only while no problem is: what failed comes first. */
export function NoticeBar(): VNode | null {
  if (notice.value === null || problem.value !== null) return null;
  return (
    <p class="notice">
      {notice.value}
      <button
        type="button"
        class="close"
        aria-label="Dismiss this notice"
        onClick={() => {
          notice.value = null;
        }}
      >
        {'\u00d7'}
      </button>
    </p>
  );
}

export function Warnings({
  list,
}: {
  list: readonly { code: string; message: string; where: string }[];
}): VNode | null {
  if (list.length === 0) return null;
  return (
    <ul class="warnings" aria-label="Warnings">
      {list.slice(0, kMostShown).map((warning) => (
        <li key={`${warning.code}${warning.where}`}>{printable(warning.message, 400)}</li>
      ))}
      {list.length > kMostShown && <li>{list.length - kMostShown} more of the kind.</li>}
    </ul>
  );
}

const kMostShown = 12;
