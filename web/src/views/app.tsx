// The one screen: header, steps, picture, inspector, footer. Before a model is open there is only the start.
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { assertive, polite } from '../state/announce';
import { arrayFile, dragging, opening, session, step } from '../state/store';
import { Calibrate } from './calibrate';
import { Fetched } from './fetched';
import { Footer } from './footer';
import { Header } from './header';
import { Inspector } from './inspector';
import { NoticeBar, ProblemBar } from './messages';
import { ModelView } from './model';
import { PlanView } from './plan';
import { Proof } from './proof';
import { SaveView } from './save';
import { Sensitivity } from './sensitivity';
import { Start } from './start';
import { Steps, ViewTitle } from './steps';

function Live(): VNode {
  return (
    <>
      <div class="unseen" role="status" aria-live="polite">
        {polite.value}
      </div>
      <div class="unseen" role="alert" aria-live="assertive">
        {assertive.value}
      </div>
    </>
  );
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

function Formats(): VNode {
  return (
    <section class="view formats" aria-labelledby="view-title">
      <ViewTitle>Formats</ViewTitle>
      <Fetched show={(made) => <made.FormatsView />} />
    </section>
  );
}

function View(): VNode {
  switch (step.value) {
    case 'model':
      return <ModelView />;
    case 'plan':
      return <PlanView />;
    case 'calibrate':
      return <Calibrate />;
    case 'sensitivity':
      return <Sensitivity />;
    case 'save':
      return <SaveView />;
    case 'formats':
      return <Formats />;
  }
}

/** A view that goes takes the focus with it; the heading of the one that comes gets it. */
function useHeadingFocus(): void {
  useEffect(() => {
    if (document.activeElement === document.body) document.getElementById('view-title')?.focus();
  }, [step.value]);
}

function Workbench(): VNode {
  useHeadingFocus();
  return (
    <div class="bench">
      <Header />
      {session.value !== null && <Steps />}
      <main id="main" tabIndex={-1} aria-busy={opening.value !== null}>
        <NoticeBar />
        <ProblemBar />
        {session.value === null ? <Formats /> : <View />}
      </main>
      {session.value !== null && <Inspector />}
      <Footer />
    </div>
  );
}

/** Closing a model takes its view away; the start gets the focus. */
function useStartFocus(): void {
  const open = session.value !== null || arrayFile.value !== null;
  const before = useRef(open);
  useEffect(() => {
    if (before.current && !open) document.getElementById('main')?.focus();
    before.current = open;
  }, [open]);
}

export function App(): VNode {
  useStartFocus();
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: a link that moves the focus, as a skip link is; the hash holds options */}
      <a class="skip" href="#main" onClick={skip}>
        Skip to the workbench
      </a>
      <Live />
      {session.value === null && arrayFile.value === null ? <Start /> : <Workbench />}
      <Proof />
      {dragging.value && (
        <div class="drop-hint" aria-hidden="true">
          <p>Drop the model, its data and samples anywhere</p>
        </div>
      )}
    </>
  );
}
