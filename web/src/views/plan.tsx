// Every tensor on which a quantizer can sit: whether it does, by which rule, and why.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { chooseOptions, resetOptions } from '../actions/plan';
import type { FormatName, Site } from '../package';
import { kActivationFormats, kDefaultOptions, kWeightFormats, sameOptions } from '../state/options';
import { options, plan, selected, session, states } from '../state/store';
import { count, counted, printable } from '../text/format';
import { type Column, DataTable, type Item } from './data_table';
import { Warnings } from './messages';
import { goTo, ViewTitle } from './steps';

const search = signal('');
const role = signal<'all' | Site['role']>('all');
const decision = signal<'all' | 'quantized' | 'float'>('all');
const grouped = signal(false);

export function granularityText(site: Site): string {
  if (site.granularity === 'tensor') return 'per tensor';
  if (site.granularity === 'channel') return `per channel, axis ${site.axis ?? 0}`;
  return `blocks of ${site.block_size ?? 0}`;
}

const kColumns: readonly Column<Site>[] = [
  {
    key: 'tensor',
    label: 'Tensor',
    names: true,
    width: '26%',
    cell: (site) => printable(site.tensor),
    title: (site) => printable(site.tensor, 2000),
  },
  { key: 'role', label: 'Role', width: '7rem', cell: (site) => site.role },
  { key: 'format', label: 'Format', width: '5rem', cell: (site) => (site.quantized ? site.format : 'float') },
  {
    key: 'granularity',
    label: 'Granularity',
    width: '11.5rem',
    cell: (site) => (site.quantized ? granularityText(site) : '\u2013'),
  },
  {
    key: 'why',
    label: 'Why',
    cell: (site) => printable(site.why, 400),
    title: (site) => `${site.rule}: ${printable(site.why, 2000)}`,
  },
];

function filtered(sites: readonly Site[]): Site[] {
  const wanted = search.value.trim().toLowerCase();
  return sites.filter(
    (site) =>
      (role.value === 'all' || site.role === role.value) &&
      (decision.value === 'all' || site.quantized === (decision.value === 'quantized')) &&
      (wanted === '' ||
        site.tensor.toLowerCase().includes(wanted) ||
        site.rule.includes(wanted) ||
        site.why.toLowerCase().includes(wanted) ||
        site.consumers.some(([node]) => node.toLowerCase().includes(wanted))),
  );
}

function byRule(sites: readonly Site[]): Item<Site>[] {
  const rules = new Map<string, Site[]>();
  for (const site of sites) {
    const list = rules.get(site.rule);
    if (list === undefined) rules.set(site.rule, [site]);
    else list.push(site);
  }
  return [...rules].flatMap(([rule, list]) => [
    { group: rule, note: counted(list.length, 'tensor') },
    ...list,
  ]);
}

function FormatChoice(props: {
  label: string;
  value: FormatName;
  all: readonly FormatName[];
  onChoose: (format: FormatName) => void;
}): VNode {
  return (
    <label>
      {props.label}{' '}
      <select
        value={props.value}
        onChange={(event) => props.onChoose(event.currentTarget.value as FormatName)}
      >
        {props.all.map((format) => (
          <option key={format} value={format} selected={format === props.value}>
            {format}
          </option>
        ))}
      </select>
    </label>
  );
}

function noPlan(): string {
  const pairs = session.value?.summary.quantized.pairs ?? 0;
  return pairs === 0 ? 'There is no plan.' : 'The model is quantized already; open the float model to plan.';
}

function OptionBar(): VNode {
  const { activations, weights, perChannel } = options.value;
  return (
    <fieldset class="options">
      <legend>Options</legend>
      <FormatChoice
        label="Activations"
        value={activations}
        all={kActivationFormats}
        onChoose={(format) => void chooseOptions({ activations: format })}
      />
      <FormatChoice
        label="Weights"
        value={weights}
        all={kWeightFormats}
        onChoose={(format) => void chooseOptions({ weights: format })}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={perChannel}
          onChange={(event) => void chooseOptions({ perChannel: event.currentTarget.checked })}
        />{' '}
        Weights per channel
      </label>
      <button
        type="button"
        disabled={sameOptions(options.value, kDefaultOptions)}
        onClick={() => void resetOptions()}
      >
        Reset
      </button>
    </fieldset>
  );
}

function FilterBar(): VNode {
  return (
    <search class="filters" aria-label="Sites">
      <label>
        <span class="unseen">Search tensors, rules and reasons</span>
        <input
          type="search"
          placeholder="Search"
          value={search.value}
          onInput={(event) => {
            search.value = event.currentTarget.value;
          }}
        />
      </label>
      <label>
        <span class="unseen">Role</span>
        <select
          value={role.value}
          onChange={(event) => {
            role.value = event.currentTarget.value as typeof role.value;
          }}
        >
          <option value="all">All roles</option>
          <option value="activation">Activations</option>
          <option value="weight">Weights</option>
          <option value="bias">Biases</option>
        </select>
      </label>
      <label>
        <span class="unseen">Decision</span>
        <select
          value={decision.value}
          onChange={(event) => {
            decision.value = event.currentTarget.value as typeof decision.value;
          }}
        >
          <option value="all">Quantized or not</option>
          <option value="quantized">Quantized</option>
          <option value="float">Left in float</option>
        </select>
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={grouped.value}
          onChange={(event) => {
            grouped.value = event.currentTarget.checked;
          }}
        />{' '}
        Group by rule
      </label>
    </search>
  );
}

export function PlanView(): VNode {
  const made = plan.value?.value;
  const sites = made?.sites ?? [];
  const quantized = sites.filter((site) => site.quantized).length;
  const shown = filtered(sites);
  return (
    <section class="view fill" aria-labelledby="view-title">
      <div class="view-head">
        <ViewTitle>Plan</ViewTitle>
        <p class="lead figures">
          {made === undefined
            ? noPlan()
            : `${count(quantized)} of ${counted(sites.length, 'tensor')} quantized for ${made.target}`}
        </p>
        <button
          type="button"
          class="primary next"
          disabled={states.value.plan !== 'done'}
          onClick={() => goTo('calibrate')}
        >
          Calibrate
        </button>
      </div>
      <OptionBar />
      <Warnings list={made?.warnings ?? []} />
      <FilterBar />
      <DataTable
        label="Sites of the plan"
        caption={`${counted(shown.length, 'tensor')} in the order of the graph`}
        columns={kColumns}
        items={grouped.value ? byRule(shown) : shown}
        keyOf={(site) => site.tensor}
        selectedKey={selected.value}
        onSelect={(tensor) => {
          selected.value = tensor;
        }}
        empty={
          sites.length === 0 ? 'No tensor of this model can carry a quantizer.' : 'No tensor fits the filter.'
        }
      />
    </section>
  );
}
