// Which quantizers hurt, in five pictures of the same model, and what can be done about it.
import type { VNode } from 'preact';
import { rank, resumable } from '../actions/rank';
import type { Picture } from '../state/address';
import { job, picture, planFresh, ranking, states, sweep } from '../state/store';
import { sweepProblem } from '../state/sweep';
import { ChangeLine } from './act_on_it';
import { RandomWarning } from './calibrate';
import { Fetched } from './fetched';
import { Warnings } from './messages';
import { RankingView } from './ranking_view';
import { goTo, ViewTitle } from './steps';
import { Switch } from './switch';

const kNames: readonly (readonly [Picture, string])[] = [
  ['ranking', 'Ranking'],
  ['graph', 'Graph'],
  ['errors', 'Errors'],
  ['ranges', 'Ranges'],
  ['tradeoff', 'Trade-off'],
];

function RankButton(): VNode {
  const state = states.value.sensitivity;
  if (state === 'done')
    return (
      <button type="button" class="primary next" onClick={() => goTo('save')}>
        Save
      </button>
    );
  const canRun =
    planFresh.value &&
    states.value.calibrate === 'done' &&
    job.value === null &&
    sweepProblem(sweep.value) === null;
  const label = resumable() !== null ? 'Resume' : state === 'stale' ? 'Rank again' : 'Rank';
  return (
    <button
      type="button"
      class={canRun ? 'primary next' : 'next'}
      disabled={!canRun}
      onClick={() => void rank()}
    >
      {label}
    </button>
  );
}

function Head(): VNode {
  return (
    <div class="view-head">
      <ViewTitle>Sensitivity</ViewTitle>
      <Switch<Picture>
        legend="Picture"
        value={picture.value}
        all={kNames}
        onChoose={(value) => {
          picture.value = value;
        }}
      />
      {states.value.sensitivity === 'stale' && (
        <p class="stale">Stale: plan, samples, ranges or options changed since.</p>
      )}
      <RankButton />
    </div>
  );
}

function Shown(): VNode {
  if (picture.value === 'ranking') return <RankingView />;
  return (
    <Fetched
      show={(made) => {
        switch (picture.value) {
          case 'graph':
            return <made.GraphView />;
          case 'errors':
            return <made.ErrorsView />;
          case 'ranges':
            return <made.RangesView />;
          default:
            return <made.TradeOffView />;
        }
      }}
    />
  );
}

export function Sensitivity(): VNode {
  return (
    <section class="view fill" aria-labelledby="view-title">
      <Head />
      <RandomWarning />
      <ChangeLine />
      <Warnings list={ranking.value?.value.results?.halftone.warnings ?? []} />
      <Shown />
    </section>
  );
}
