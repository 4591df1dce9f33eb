// The first screen: what this is, the way in, two samples.
import type { VNode } from 'preact';
import { bench } from '../actions/context';
import { openBundled } from '../actions/open';
import type { BundledSample } from '../engine/bench';
import { Hero } from '../pictures/hero';
import { job, opening, waitingForData } from '../state/store';
import { bytes, counted, printable } from '../text/format';
import { Footer } from './footer';
import { ThemeChoice } from './header';
import { NoticeBar, ProblemBar } from './messages';
import { OpenButton } from './open_button';
import { JobProgress } from './progress';

function SampleButton({ sample }: { sample: BundledSample }): VNode {
  return (
    <button
      type="button"
      class="sample"
      data-sample={sample.id}
      disabled={opening.value !== null}
      onClick={() => void openBundled(sample)}
    >
      <span class="sample-title">{sample.title}</span>
      <span class="sample-what">{sample.what}</span>
      <span class="sample-size figures">
        {bytes(sample.modelBytes)} model {'\u00b7'} {counted(sample.sampleCount, sample.sampleKind)},{' '}
        {bytes(sample.sampleBytes)}
      </span>
    </button>
  );
}

function Busy(): VNode | null {
  const current = opening.value;
  if (current === null) return null;
  return (
    <div class="busy">
      <p>
        <strong>{current.name}</strong> <span class="figures">{bytes(current.size)}</span>
      </p>
      {job.value !== null && <JobProgress />}
    </div>
  );
}

export function Start(): VNode {
  const waiting = waitingForData.value;
  return (
    <div class="start">
      <header class="start-top">
        <ThemeChoice />
      </header>
      <main id="main" tabIndex={-1} aria-busy={opening.value !== null}>
        <Hero />
        <h1>Halftone</h1>
        <p class="purpose">Quantize an ONNX model in this tab and see what each tensor pays for it.</p>
        <NoticeBar />
        <ProblemBar />
        <Busy />
        <div class="ways-in">
          <OpenButton label="Open model" primary />
          <p class="drop-word">
            {waiting === null
              ? 'or drop an .onnx file anywhere, samples and external data with it'
              : `${printable(waiting.model.name)} waits: drop its data file anywhere`}
          </p>
        </div>
        <h2 class="samples-title">or start with a sample</h2>
        <div class="samples">
          {bench().bundled.map((sample) => (
            <SampleButton key={sample.id} sample={sample} />
          ))}
        </div>
      </main>
      <Footer />
    </div>
  );
}
