// The proof: what this page requested, live, and how anyone can check without trusting it.
import { effect, signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { bench } from '../actions/context';
import { traffic } from '../state/traffic';
import { bytes, count } from '../text/format';

const shown = signal(false);
const live = signal<number | null>(null);

export function openProof(): void {
  shown.value = true;
}

effect(() => {
  if (!shown.value) return;
  bench()
    .liveObjects()
    .then((value) => {
      live.value = value;
    })
    .catch(() => {
      live.value = null;
    });
});

function Counts(): VNode {
  const { own, foreign, sinceOpen, bytes: received } = traffic.value;
  return (
    <dl class="facts figures">
      <dt>Requests to other origins</dt>
      <dd data-count="foreign">{count(foreign)}</dd>
      <dt>Requests to this origin</dt>
      <dd data-count="own">{count(own)}</dd>
      <dt>Of these, since the model was opened</dt>
      <dd data-count="since-open">{count(sinceOpen)}</dd>
      <dt>Received in all</dt>
      <dd>{bytes(received)}</dd>
      <dt>Objects that the core holds</dt>
      <dd data-count="live">{live.value === null ? '\u2013' : count(live.value)}</dd>
    </dl>
  );
}

export function Proof(): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(
    () =>
      effect(() => {
        if (shown.value && dialog.current?.open === false) dialog.current.showModal();
      }),
    [],
  );
  const close = (): void => dialog.current?.close();
  return (
    <dialog
      ref={dialog}
      aria-labelledby="proof-title"
      onClose={() => {
        shown.value = false;
      }}
    >
      <h2 id="proof-title">Nothing leaves this machine</h2>
      <p>
        The model is read, calibrated, ranked and written inside this tab. The browser counts every request
        that the page makes:
      </p>
      <Counts />
      <h3>Check it yourself</h3>
      <ul>
        <li>
          Open the network panel of the developer tools, drop a model, run it, and look: no request goes out.
        </li>
        <li>Open a model, switch to aeroplane mode, then run it. The numbers are the same.</li>
        <li>
          The page forbids itself every other address, for its workers too:{' '}
          <code>connect-src 'self'; worker-src blob:</code>
        </li>
      </ul>
      <p>
        <button type="button" class="primary" onClick={close}>
          Close
        </button>
      </p>
    </dialog>
  );
}
