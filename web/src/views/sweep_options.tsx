// What a row of the ranking switches, and what is measured.
import type { VNode } from 'preact';
import { chooseSweep } from '../actions/rank';
import { job, sweep } from '../state/store';
import { kDefaultSweep, kGroups, kMetrics, kOnly, type SweepChoice, sweepProblem } from '../state/sweep';
import { Choice } from './choice';

const kMostTop = 100_000;

function More({ chosen }: { chosen: SweepChoice }): VNode {
  const words = [
    ...(chosen.sweep === 'disable' ? ['all but one on'] : []),
    ...(chosen.top > 0 ? [`the worst ${chosen.top} only`] : []),
  ];
  return (
    <details class="fold">
      <summary>
        More <span class="hint">{words.join(', ')}</span>
      </summary>
      <p class="options">
        <Choice<SweepChoice['sweep']>
          label="Switched"
          value={chosen.sweep}
          all={[
            ['enable', 'one on, all others off'],
            ['disable', 'one off, all others on'],
          ]}
          onChoose={(way) => chooseSweep({ sweep: way })}
        />
        <label title="Samples are spent only on what may be among the worst so many; 0 spends them all.">
          Only the worst{' '}
          <input
            type="number"
            min={0}
            max={kMostTop}
            value={chosen.top}
            onChange={({ currentTarget }) => {
              const top = Math.round(Number(currentTarget.value));
              chooseSweep({ top: top > 0 ? Math.min(kMostTop, top) : 0 });
            }}
          />
        </label>
        <span class="hint">0: every row gets every sample.</span>
      </p>
    </details>
  );
}

export function SweepOptions(): VNode {
  const chosen = sweep.value;
  const problem = sweepProblem(chosen);
  return (
    <fieldset class="options sweep" disabled={job.value !== null}>
      <legend class="unseen">What is measured</legend>
      <Choice label="Group" value={chosen.by} all={kGroups} onChoose={(by) => chooseSweep({ by })} />
      {chosen.by === 'pattern' && (
        <label>
          <span class="unseen">Regular expression</span>
          <input
            type="text"
            placeholder="(layer\d+)\."
            autocomplete="off"
            spellcheck={false}
            maxLength={1024}
            value={chosen.pattern}
            aria-describedby="sweep-problem"
            onChange={({ currentTarget }) => chooseSweep({ pattern: currentTarget.value })}
          />
        </label>
      )}
      <Choice
        label="Metric"
        value={chosen.metric}
        all={kMetrics}
        onChoose={(metric) => chooseSweep({ metric })}
      />
      <Choice label="Of" value={chosen.only} all={kOnly} onChoose={(only) => chooseSweep({ only })} />
      {JSON.stringify(chosen) !== JSON.stringify(kDefaultSweep) && (
        <button type="button" class="link" onClick={() => chooseSweep(kDefaultSweep)}>
          Reset
        </button>
      )}
      <More chosen={chosen} />
      {problem !== null && (
        <p class="hint" id="sweep-problem">
          {problem}
        </p>
      )}
    </fieldset>
  );
}
