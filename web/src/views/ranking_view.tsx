// The ranking: as bars with a threshold, as a table, as files.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { bench } from '../actions/context';
import { rankingSvg } from '../exports/picture_file';
import type { LossAxis } from '../pictures/loss_axis';
import { axisOf, type Entry, entriesInGraph, ordered } from '../pictures/ranking_layout';
import type { Order, Presentation } from '../state/address';
import {
  samples as given,
  order,
  presentation,
  type Ranking,
  ranking,
  rowSites,
  states,
  sweep,
} from '../state/store';
import { type SweepChoice, sweepSentence } from '../state/sweep';
import { threshold } from '../state/threshold';
import { counted, printable } from '../text/format';
import { ActOnIt } from './act_on_it';
import { Exports, modelStem } from './exports';
import { RankingPicture } from './ranking_bars';
import { RankingTable, tableSort } from './ranking_table';
import { SweepOptions } from './sweep_options';
import { Switch } from './switch';

const search = signal('');

function ToolBar({ entries, axis }: { entries: readonly Entry[]; axis: LossAxis }): VNode {
  const results = ranking.value?.value.results ?? null;
  const { write } = bench();
  return (
    <div class="filters">
      <Switch<Presentation>
        legend="Shown as"
        value={presentation.value}
        all={[
          ['bars', 'Bars'],
          ['table', 'Table'],
        ]}
        onChoose={(value) => {
          presentation.value = value;
        }}
      />
      <Switch<Order>
        legend="Order"
        value={order.value}
        all={[
          ['worst', 'Worst first'],
          ['graph', 'Graph order'],
        ]}
        onChoose={(value) => {
          order.value = value;
          tableSort.value = null;
        }}
      />
      <label class="stretch">
        <span class="unseen">Search quantizers</span>
        <input
          type="search"
          placeholder="Search"
          value={search.value}
          onInput={(event) => {
            search.value = event.currentTarget.value;
          }}
        />
      </label>
      <Exports
        what="sensitivity"
        disabled={results === null}
        csv={() => (results === null ? '' : write.sensitivityCsv(results))}
        json={() => (results === null ? '' : write.sensitivity(results))}
        svg={() => rankingSvg(entries, axis, threshold.value, `Sensitivity of ${printable(modelStem())}`)}
      />
    </div>
  );
}

function Legend(): VNode {
  return (
    <span class="legend" aria-hidden="true">
      <svg width="30" height="10" aria-hidden="true">
        <rect y="1" width="30" height="8" fill="var(--ink)" />
      </svg>
      weight
      <svg width="30" height="10" aria-hidden="true">
        <line
          x1="3"
          x2="24"
          y1="5"
          y2="5"
          stroke="var(--ink)"
          stroke-width="5"
          stroke-dasharray="0 6"
          stroke-linecap="round"
        />
        <circle cx="25" cy="5" r="4.5" fill="var(--ink)" />
      </svg>
      activation
    </span>
  );
}

function sentence(choice: SweepChoice): string {
  const text = sweepSentence(choice);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** What the numbers are of; also the table's caption. */
function captionText({ rows, total, results, complete, choice }: Ranking, axis: LossAxis): string {
  // A row of some of its samples is no result yet.
  const count = results?.halftone.samples ?? given.value?.set.count;
  const whole = rows.filter((row) => row.samples === count).length;
  const known = `${whole}${total === null ? '' : ` of ${total}`} are known.`;
  if (results === null) return `${sentence(choice)} ${known}`;
  const { scored, samples } = results.halftone;
  const partial = complete ? '' : ` Stopped early: ${known}`;
  return `${axis.title} of ${scored.map((name) => printable(name)).join(', ')} over ${counted(samples, 'sample')}, ${sweepSentence(choice)}.${partial}`;
}

function leadText(): string {
  return states.value.calibrate === 'done'
    ? `${counted(rowSites.value.length, 'quantizer')} to rank: ${sweepSentence(sweep.value)}.`
    : 'Calibrate first; then every quantizer is tried alone, all others off.';
}

/** All that has a row or will have one, in the order of the graph, and the axis of their scores. */
export function rankedEntries(made: Ranking): { all: readonly Entry[]; axis: LossAxis } {
  const known = made.choice.by === 'quantizer' ? rowSites.value : null;
  const { only } = made.choice;
  const sites = known?.filter(({ role }) => only === 'all' || (role === 'weight') === (only === 'weights'));
  const all = entriesInGraph(sites ?? null, made.rows);
  return { all, axis: axisOf(made.measure, all) };
}

function Ranked({ made }: { made: Ranking }): VNode {
  const { all, axis } = rankedEntries(made);
  const wanted = search.value.trim().toLowerCase();
  const found = wanted === '' ? all : all.filter((entry) => entry.name.toLowerCase().includes(wanted));
  const entries = ordered(found, order.value, axis.higherIsWorse);
  const caption = captionText(made, axis);
  return (
    <>
      <ToolBar entries={entries} axis={axis} />
      {presentation.value === 'bars' ? (
        <>
          <p class="caption">
            {caption} {all.some(({ role }) => role === 'group') || <Legend />}
          </p>
          <RankingPicture entries={entries} axis={axis} />
        </>
      ) : (
        <RankingTable entries={entries} axis={axis} caption={caption} />
      )}
      <ActOnIt entries={ordered(all, 'worst', axis.higherIsWorse)} axis={axis} />
    </>
  );
}

export function RankingView(): VNode {
  const made = ranking.value?.value ?? null;
  return (
    <>
      <SweepOptions />
      {made === null ? <p class="lead">{leadText()}</p> : <Ranked made={made} />}
    </>
  );
}
