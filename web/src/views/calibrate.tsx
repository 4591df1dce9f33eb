// Where ranges come from: samples, or random values when a person insists.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { calibrate } from '../actions/run';
import { useRandomSamples } from '../actions/samples';
import type { Encoding } from '../package';
import { encodings, job, samples, selected, session, siteByTensor, states } from '../state/store';
import { counted, printable, shape, significant } from '../text/format';
import { type Column, DataTable } from './data_table';
import { ImageFields } from './image_fields';
import { Warnings } from './messages';
import { OpenButton } from './open_button';
import { goTo, ViewTitle } from './steps';

const randomCount = signal(8);
const randomSeed = signal(1);

function number(event: { currentTarget: HTMLInputElement }, least: number, most: number): number {
  const value = Math.round(Number(event.currentTarget.value));
  return Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : least;
}

function RandomChoice(): VNode {
  return (
    <details class="random">
      <summary>Use random values instead</summary>
      <p>
        Random values show that everything runs. Their ranges are not the model's, so scores and the saved
        model mean little; every result will say so.
      </p>
      <p class="actions">
        <label>
          Samples{' '}
          <input
            type="number"
            min={1}
            max={1000}
            value={randomCount.value}
            onChange={(event) => {
              randomCount.value = number(event, 1, 1000);
            }}
          />
        </label>
        <label>
          Seed{' '}
          <input
            type="number"
            min={0}
            max={4294967295}
            value={randomSeed.value}
            onChange={(event) => {
              randomSeed.value = number(event, 0, 4294967295);
            }}
          />
        </label>
        <button
          type="button"
          disabled={job.value !== null}
          onClick={() => void useRandomSamples(randomCount.value, randomSeed.value)}
        >
          Use random values
        </button>
      </p>
    </details>
  );
}

/** Stays in sight wherever results of random values are. */
export function RandomWarning(): VNode | null {
  if (samples.value?.set.random !== true) return null;
  return (
    <p class="notice strong">
      Random calibration data: ranges and scores are not the model's. Drop real samples for numbers that
      count.
    </p>
  );
}

function SampleState(): VNode {
  const current = samples.value;
  const inputs = session.value?.summary.model.inputs ?? [];
  if (current === null) {
    return (
      <>
        <p class="lead">Drop calibration samples anywhere: .npy, .npz, .pb, images, or a folder of them.</p>
        <p>
          {counted(inputs.length, 'input')}:{' '}
          {inputs
            .map((input) => `${printable(input.name)} (${input.type}, ${shape(input.shape)})`)
            .join('; ')}
        </p>
      </>
    );
  }
  const { set } = current;
  const names = Array.from({ length: Math.min(set.count, 3) }, (_, index) =>
    printable(set.name(index), 40),
  ).join(', ');
  return (
    <>
      <p class="lead figures">
        {counted(set.count, 'sample')} ready: {names}
        {set.count > 3 ? ` and ${set.count - 3} more` : ''}
      </p>
      <Warnings list={set.warnings} />
    </>
  );
}

interface Row {
  tensor: string;
  encoding: Encoding;
}

function span(values: readonly number[], pick: (...all: number[]) => number): number {
  return values.reduce((a, b) => pick(a, b), values[0] ?? Number.NaN);
}

function scales(encoding: Encoding): string {
  const [least, most] = [span(encoding.scale, Math.min), span(encoding.scale, Math.max)];
  return least === most ? significant(least) : `${significant(least)} \u2026 ${significant(most)}`;
}

const kColumns: readonly Column<Row>[] = [
  {
    key: 'tensor',
    label: 'Tensor',
    names: true,
    width: '30%',
    cell: (row) => printable(row.tensor),
    title: (row) => printable(row.tensor, 2000),
  },
  { key: 'format', label: 'Format', width: '5rem', cell: (row) => row.encoding.format },
  {
    key: 'min',
    label: 'Min',
    numeric: true,
    cell: (row) => significant(span(row.encoding.min, Math.min)),
    title: (row) => String(span(row.encoding.min, Math.min)),
  },
  {
    key: 'max',
    label: 'Max',
    numeric: true,
    cell: (row) => significant(span(row.encoding.max, Math.max)),
    title: (row) => String(span(row.encoding.max, Math.max)),
  },
  {
    key: 'scale',
    label: 'Scale',
    numeric: true,
    width: '12rem',
    cell: (row) => scales(row.encoding),
    title: (row) => row.encoding.scale.slice(0, 64).join(', '),
  },
  {
    key: 'zero',
    label: 'Zero point',
    numeric: true,
    width: '7rem',
    cell: (row) => row.encoding.zero_point[0] ?? 0,
  },
];

function Ranges(): VNode | null {
  const made = encodings.value?.value;
  if (made === undefined) return null;
  const order = siteByTensor.value;
  const rows = Object.entries(made.encodings)
    .filter(([tensor]) => order.get(tensor)?.role !== 'bias')
    .map(([tensor, encoding]) => ({ tensor, encoding }));
  return (
    <DataTable
      label="Chosen ranges"
      caption={`Ranges chosen by ${made.method} over ${counted(made.samples, 'sample')}`}
      columns={kColumns}
      items={rows}
      keyOf={(row) => row.tensor}
      selectedKey={selected.value}
      onSelect={(tensor) => {
        selected.value = tensor;
      }}
    />
  );
}

export function Calibrate(): VNode {
  const state = states.value.calibrate;
  const ready = samples.value !== null && states.value.plan === 'done' && job.value === null;
  return (
    <section class={encodings.value === null ? 'view' : 'view fill'} aria-labelledby="view-title">
      <div class="view-head">
        <ViewTitle>Calibrate</ViewTitle>
        {state === 'stale' && <p class="stale">Stale: plan or samples changed since.</p>}
        {state === 'done' && (
          <button type="button" class="primary next" onClick={() => goTo('sensitivity')}>
            Sensitivity
          </button>
        )}
      </div>
      <SampleState />
      <RandomWarning />
      <p class="actions">
        <button
          type="button"
          class={state === 'done' ? '' : 'primary'}
          disabled={!ready}
          onClick={() => void calibrate()}
        >
          {state === 'done' || state === 'stale' ? 'Calibrate again' : 'Calibrate'}
        </button>
        <OpenButton label="Choose samples" name="samples" />
        <OpenButton label="Choose folder" name="folder" folder />
      </p>
      <ImageFields />
      <RandomChoice />
      <Ranges />
    </section>
  );
}
