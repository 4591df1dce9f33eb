// Which model, what runs, and the one button that runs what is missing.
import type { VNode } from 'preact';
import { runAll } from '../actions/run';
import { Mark } from '../pictures/mark';
import {
  encodings,
  job,
  planning,
  ranking,
  rankingKey,
  samples,
  session,
  states,
  step,
} from '../state/store';
import { chooseTheme, kThemes, type Theme, theme } from '../state/theme';
import { bytes, counted, printable } from '../text/format';
import { OpenButton } from './open_button';
import { JobProgress } from './progress';

export function ThemeChoice(): VNode {
  const names: Record<Theme, string> = { system: 'As the system', light: 'Light', dark: 'Dark' };
  return (
    <label class="theme">
      <span class="unseen">Colours</span>
      <select value={theme.value} onChange={(event) => chooseTheme(event.currentTarget.value as Theme)}>
        {kThemes.map((name) => (
          <option key={name} value={name} selected={theme.value === name}>
            {names[name]}
          </option>
        ))}
      </select>
    </label>
  );
}

function opsets(all: Record<string, number>): string {
  const main = all[''] ?? all['ai.onnx'];
  return main === undefined ? 'no opset' : `opset ${main}`;
}

function RunButton(): VNode | null {
  if (job.value !== null || session.value === null) return null;
  const { calibrate, sensitivity } = states.value;
  if (calibrate === 'done' && sensitivity === 'done') return null;
  const partial = ranking.value !== null && ranking.value.key === rankingKey.value;
  const label = encodings.value === null || partial ? 'Run' : 'Run again';
  const hint = samples.value === null ? 'Needs samples' : 'Calibrates and ranks what is missing or stale';
  const go = (): void => {
    if (samples.value === null) step.value = 'calibrate';
    else void runAll();
  };
  return (
    <button type="button" class="primary" title={hint} disabled={planning.value} onClick={go}>
      {label}
    </button>
  );
}

export function Header(): VNode {
  const current = session.value;
  return (
    <header class="top">
      <h1 class="brand">
        <Mark /> Halftone
      </h1>
      {current !== null && (
        <p class="subject">
          <strong title={printable(current.fileName, 400)}>{printable(current.fileName, 48)}</strong>
          <span class="figures">
            {bytes(current.summary.model.bytes)} {'\u00b7'} {opsets(current.summary.model.opset)}
            {samples.value !== null && ` \u00b7 ${counted(samples.value.set.count, 'sample')}`}
          </span>
        </p>
      )}
      <div class="top-end">
        <JobProgress />
        <RunButton />
        <OpenButton label="Open model" quiet />
      </div>
      <ThemeChoice />
    </header>
  );
}
