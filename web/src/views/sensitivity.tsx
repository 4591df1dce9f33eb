// Which quantizers hurt: each alone, all others off, as bars and as a table.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { bench } from '../actions/context';
import { rank } from '../actions/run';
import { download } from '../exports/download';
import { rankingSvg } from '../exports/picture_file';
import { type Entry, entriesOf } from '../pictures/ranking_layout';
import type { Order, Presentation } from '../state/address';
import {
  job,
  order,
  planFresh,
  presentation,
  ranking,
  rowSites,
  selected,
  session,
  states,
} from '../state/store';
import { counted, decibelFigure, printable } from '../text/format';
import { RandomWarning } from './calibrate';
import { type Column, DataTable, type Sort } from './data_table';
import { Warnings } from './messages';
import { RankingPicture } from './ranking_bars';
import { goTo, ViewTitle } from './steps';
import { Switch } from './switch';

const search = signal('');
/** The table's own order, when a header was pressed; null: as the picture's. */
const tableSort = signal<Sort | null>(null);

const kSorts: Record<Order, Sort> = {
  worst: { key: 'score', descending: false },
  graph: { key: 'order', descending: false },
};

const kColumns: readonly Column<Entry>[] = [
  {
    key: 'order',
    label: 'Site',
    numeric: true,
    sortable: true,
    width: '5rem',
    cell: (entry) => entry.order + 1,
  },
  {
    key: 'name',
    label: 'Quantizer',
    names: true,
    sortable: true,
    cell: (entry) => printable(entry.name),
    title: (entry) => printable(entry.name, 2000),
  },
  { key: 'role', label: 'Role', sortable: true, width: '7rem', cell: (entry) => entry.role },
  {
    key: 'score',
    label: 'PSNR',
    unit: 'dB',
    numeric: true,
    sortable: true,
    width: '8rem',
    cell: (entry) => (entry.score === null ? '\u2026' : decibelFigure(entry.score)),
    title: (entry) => (entry.score === null ? 'not known yet' : `${entry.score} dB`),
  },
];

function compareBy(key: string, a: Entry, b: Entry): number {
  if (key === 'name') return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
  if (key === 'role') return a.role < b.role ? -1 : a.role > b.role ? 1 : 0;
  if (key === 'score')
    return (a.score ?? Number.POSITIVE_INFINITY) - (b.score ?? Number.POSITIVE_INFINITY) || 0;
  return a.order - b.order;
}

/** Ties keep the order of sites in both directions; unknown scores stay last. */
function sorted(entries: readonly Entry[], { key, descending }: Sort): Entry[] {
  return entries.slice().sort((a, b) => {
    if (key === 'score' && (a.score === null) !== (b.score === null)) return a.score === null ? 1 : -1;
    return (descending ? -1 : 1) * compareBy(key, a, b) || a.order - b.order;
  });
}

function pressHeader(key: string): void {
  const now = tableSort.value ?? kSorts[order.value];
  tableSort.value = { key, descending: now.key === key ? !now.descending : false };
}

function Exports({ entries }: { entries: readonly Entry[] }): VNode {
  const results = ranking.value?.value.results ?? null;
  const stem = (session.value?.fileName ?? 'model').replace(/\.onnx$/i, '');
  const { write } = bench();
  return (
    <fieldset class="exports" disabled={results === null}>
      <legend>Save as</legend>
      <button
        type="button"
        onClick={() =>
          results && download(`${stem}.sensitivity.csv`, write.sensitivityCsv(results), 'text/csv')
        }
      >
        CSV
      </button>
      <button
        type="button"
        onClick={() =>
          results && download(`${stem}.sensitivity.json`, write.sensitivity(results), 'application/json')
        }
      >
        JSON
      </button>
      <button
        type="button"
        onClick={() =>
          download(
            `${stem}.sensitivity.svg`,
            rankingSvg(entries, `Sensitivity of ${printable(stem)}`),
            'image/svg+xml',
          )
        }
      >
        SVG
      </button>
    </fieldset>
  );
}

function ToolBar({ entries }: { entries: readonly Entry[] }): VNode {
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
      <label>
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
      {presentation.value === 'bars' && <Legend />}
      <Exports entries={entries} />
    </div>
  );
}

function Legend(): VNode {
  return (
    <p class="legend" aria-hidden="true">
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
    </p>
  );
}

/** What the numbers are of; also the table's caption. */
function captionText(): string {
  const made = ranking.value?.value;
  if (made === undefined) return 'Each quantizer alone, all others off.';
  if (made.results === null)
    return `Each quantizer alone, all others off. ${made.rows.length} of ${made.total} are known.`;
  const { scored, samples } = made.results.halftone;
  const partial = made.complete ? '' : ` Stopped early: ${made.rows.length} of ${made.total} are known.`;
  return `PSNR of ${scored.map((name) => printable(name)).join(', ')} over ${counted(samples, 'sample')}, each quantizer alone, all others off.${partial}`;
}

function Head(): VNode {
  const state = states.value.sensitivity;
  const canRun =
    planFresh.value && states.value.calibrate === 'done' && job.value === null && state !== 'done';
  return (
    <div class="view-head">
      <ViewTitle>Sensitivity</ViewTitle>
      {state === 'stale' && <p class="stale">Stale: plan, samples or ranges changed since.</p>}
      {state === 'done' ? (
        <button type="button" class="primary next" onClick={() => goTo('save')}>
          Save
        </button>
      ) : (
        <button
          type="button"
          class={canRun ? 'primary next' : 'next'}
          disabled={!canRun}
          onClick={() => void rank()}
        >
          {state === 'stale' ? 'Rank again' : 'Rank'}
        </button>
      )}
    </div>
  );
}

export function Sensitivity(): VNode {
  const made = ranking.value?.value ?? null;
  const wanted = search.value.trim().toLowerCase();
  const all = made === null ? [] : entriesOf(rowSites.value, made.rows, order.value);
  const entries = wanted === '' ? all : all.filter((entry) => entry.name.toLowerCase().includes(wanted));
  const sort = tableSort.value ?? kSorts[order.value];
  return (
    <section class="view fill" aria-labelledby="view-title">
      <Head />
      <RandomWarning />
      {made === null ? (
        <p class="lead">
          {states.value.calibrate === 'done'
            ? `${counted(rowSites.value.length, 'quantizer')} to rank, each alone, all others off.`
            : 'Calibrate first; then every quantizer is tried alone, all others off.'}
        </p>
      ) : (
        <>
          <Warnings list={made.results?.halftone.warnings ?? []} />
          <ToolBar entries={entries} />
          {presentation.value === 'bars' ? (
            <>
              <p class="caption">{captionText()}</p>
              <RankingPicture entries={entries} />
            </>
          ) : (
            <DataTable
              label="Ranking as a table"
              caption={captionText()}
              columns={kColumns}
              items={tableSort.value === null ? entries : sorted(entries, sort)}
              keyOf={(entry) => entry.name}
              sort={sort}
              onSort={pressHeader}
              selectedKey={selected.value}
              onSelect={(name) => {
                selected.value = name;
              }}
              empty="No quantizer fits the search."
            />
          )}
        </>
      )}
    </section>
  );
}
