// What the plan decides, as two tables: the tensors that carry quantizers, and the inputs of every node.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import type { Plan } from '../package';
import type { Listing } from '../state/address';
import { filterInputs, filterSites, inputRows, type RowFilter } from '../state/plan_rows';
import { listing, plan, session, states } from '../state/store';
import { count, counted } from '../text/format';
import { InputsTable } from './inputs_table';
import { Warnings } from './messages';
import { PlanOptionBar } from './plan_options';
import { SitesTable } from './sites_table';
import { goTo, ViewTitle } from './steps';
import { Switch } from './switch';

const filter = signal<RowFilter>({ search: '', decision: 'all', role: 'all' });
const grouped = signal(false);

function noPlan(): string {
  const pairs = session.value?.summary.quantized.pairs ?? 0;
  return pairs === 0 ? 'There is no plan.' : 'The model is quantized already; open the float model to plan.';
}

const kTargetNames: Record<Plan['target'], string> = {
  onnxruntime: 'onnxruntime',
  tensorrt: 'TensorRT',
  aimet: 'AIMET',
};

function leadSentence({ sites, target, match }: Plan): string {
  const quantized = sites.filter((site) => site.quantized).length;
  const peer = match === null ? '' : `, as ${match === 'modelopt' ? 'ModelOpt' : 'AIMET'} does it`;
  return `${count(quantized)} of ${counted(sites.length, 'tensor')} quantized for ${kTargetNames[target]}${peer}`;
}

function change(part: Partial<RowFilter>): void {
  filter.value = { ...filter.value, ...part };
}

function FilterBar(): VNode {
  const { search, decision, role } = filter.value;
  return (
    <search class="filters" aria-label="Rows of the plan">
      <Switch<Listing>
        legend="Rows"
        all={[
          ['sites', 'Tensors'],
          ['inputs', 'Inputs'],
        ]}
        value={listing.value}
        onChoose={(value) => {
          listing.value = value;
        }}
      />
      <label class="stretch">
        <span class="unseen">Search names, rules and reasons</span>
        <input
          type="search"
          placeholder="Search"
          value={search}
          onInput={(event) => change({ search: event.currentTarget.value })}
        />
      </label>
      {listing.value === 'sites' && (
        <label>
          <span class="unseen">Role</span>
          <select
            value={role}
            onChange={(event) => change({ role: event.currentTarget.value as RowFilter['role'] })}
          >
            <option value="all">All roles</option>
            <option value="activation">Activations</option>
            <option value="weight">Weights</option>
            <option value="bias">Biases</option>
          </select>
        </label>
      )}
      <label>
        <span class="unseen">Decision</span>
        <select
          value={decision}
          onChange={(event) => change({ decision: event.currentTarget.value as RowFilter['decision'] })}
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

function Rows({ made }: { made: Plan | undefined }): VNode {
  const sites = made?.sites ?? [];
  if (listing.value === 'inputs')
    return (
      <InputsTable
        rows={filterInputs(inputRows.value, filter.value)}
        grouped={grouped.value}
        empty={
          inputRows.value.length === 0 ? 'No node of this model has inputs.' : 'No input fits the filter.'
        }
      />
    );
  return (
    <SitesTable
      rows={filterSites(sites, filter.value)}
      grouped={grouped.value}
      empty={
        sites.length === 0 ? 'No tensor of this model can carry a quantizer.' : 'No tensor fits the filter.'
      }
    />
  );
}

export function PlanView(): VNode {
  const made = plan.value?.value;
  return (
    <section class="view fill" aria-labelledby="view-title">
      <div class="view-head">
        <ViewTitle>Plan</ViewTitle>
        <p class="lead figures">{made === undefined ? noPlan() : leadSentence(made)}</p>
        <button
          type="button"
          class="primary next"
          disabled={states.value.plan !== 'done'}
          onClick={() => goTo('calibrate')}
        >
          Calibrate
        </button>
      </div>
      <PlanOptionBar />
      <Warnings list={made?.warnings ?? []} />
      <FilterBar />
      <Rows made={made} />
    </section>
  );
}
