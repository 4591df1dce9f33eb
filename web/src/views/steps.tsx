// The steps and how far each is. A bar at the side, at the bottom on narrow screens.
import type { VNode } from 'preact';
import { kSteps, type Step } from '../state/address';
import type { StepState } from '../state/steps';
import { states, step } from '../state/store';

const kNames: Record<Step, string> = {
  model: 'Model',
  plan: 'Plan',
  calibrate: 'Calibrate',
  sensitivity: 'Sensitivity',
  save: 'Save',
  formats: 'Formats',
};

/** A dot that grows with what is there; a stale one is hollow, a running one ringed. Never colour alone. */
function StateDot({ state }: { state: StepState }): VNode {
  const radius: Record<StepState, number> = { 'nothing yet': 1, ready: 2, running: 3, done: 4.5, stale: 4 };
  return (
    <svg
      class={`dot dot-${state.replace(' ', '-')}`}
      viewBox="0 0 12 12"
      width="12"
      height="12"
      aria-hidden="true"
    >
      <circle cx="6" cy="6" r={radius[state]} />
      {state === 'running' && <circle class="ring" cx="6" cy="6" r="5" />}
    </svg>
  );
}

export function goTo(next: Step): void {
  step.value = next;
  requestAnimationFrame(() => document.getElementById('view-title')?.focus());
}

export function Steps(): VNode {
  return (
    <nav class="steps" aria-label="Steps">
      <ol>
        {kSteps.map((name) => (
          <li key={name}>
            <button
              type="button"
              aria-current={step.value === name ? 'step' : undefined}
              data-step={name}
              data-state={states.value[name]}
              onClick={() => goTo(name)}
            >
              <StateDot state={states.value[name]} />
              <span class="step-name">{kNames[name]}</span>
              <span class="step-state">{states.value[name]}</span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

export function ViewTitle({ children }: { children: string }): VNode {
  return (
    <h2 id="view-title" tabIndex={-1}>
      {children}
    </h2>
  );
}
