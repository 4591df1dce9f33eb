// What lies beyond the threshold, and raising its precision: what it costs and is expected to bring, before it is done.
import type { VNode } from 'preact';
import {
  flipPreview,
  kRaiseTo,
  type Raise,
  raise,
  raiseOpen,
  takePreview,
  undo,
  type Which,
} from '../actions/change';
import type { Flip } from '../package';
import type { LossAxis } from '../pictures/loss_axis';
import type { Entry } from '../pictures/ranking_layout';
import { change, changes, job, selected } from '../state/store';
import { beyondOf, threshold } from '../state/threshold';
import { bytes, counted, decibel, percent, printable } from '../text/format';
import { Choice } from './choice';
import { Warnings } from './messages';
import { goTo } from './steps';

const kListed = 60;

function choose(part: Partial<Raise>): void {
  raise.value = { ...raise.value, ...part };
}

const kWhich: readonly (readonly [Which, string])[] = [
  ['beyond', 'all beyond the threshold'],
  ['worst', 'the worst, by number'],
  ['percent', 'the worst, by share'],
  ['selected', 'the selected one'],
];

function Amount({
  label,
  value,
  most,
  onChange,
}: {
  label: string;
  value: number;
  most: number;
  onChange: (value: number) => void;
}): VNode {
  return (
    <label>
      {label}{' '}
      <input
        type="number"
        min={1}
        max={most}
        value={value}
        onChange={({ currentTarget }) => {
          const typed = Math.round(Number(currentTarget.value));
          onChange(Number.isFinite(typed) ? Math.max(1, Math.min(most, typed)) : 1);
        }}
      />
    </label>
  );
}

/** The names as buttons, worst first. */
function BeyondList({ entries }: { entries: readonly Entry[] }): VNode {
  return (
    <ul class="chips" aria-label="Beyond the threshold">
      {entries.slice(0, kListed).map(({ name }) => (
        <li key={name}>
          <button
            type="button"
            class="row-name"
            aria-pressed={selected.value === name}
            onClick={() => {
              selected.value = name;
            }}
          >
            {printable(name, 40)}
          </button>
        </li>
      ))}
      {entries.length > kListed && (
        <li class="hint">and {entries.length - kListed} more; the table has all.</li>
      )}
    </ul>
  );
}

function ratio(before: number, after: number): string {
  return before > 0 ? ` (${percent(after / before)})` : '';
}

/** Large counts in the units that people use for them. */
function operations(value: number): string {
  return value >= 1e9 ? `${(value / 1e9).toPrecision(3)} G` : `${(value / 1e6).toPrecision(3)} M`;
}

export function FlipFigures({ flip }: { flip: Flip }): VNode {
  const { before, after, predicted, flipped } = flip;
  return (
    <dl class="facts figures small" data-part="flip">
      <dt>Raised</dt>
      <dd
        title={flipped
          .map((name) => printable(name))
          .slice(0, kListed)
          .join('\n')}
      >
        {counted(flipped.length, 'quantizer')}
      </dd>
      <dt>Weights</dt>
      <dd title={`${before.weight_bytes} to ${after.weight_bytes} bytes`}>
        {bytes(before.weight_bytes)} {'\u2192'} {bytes(after.weight_bytes)}
        {ratio(before.weight_bytes, after.weight_bytes)}
      </dd>
      <dt>Bit operations</dt>
      <dd title={`${before.bit_ops} to ${after.bit_ops}`}>
        {before.bit_ops === 0 ? (
          'shapes unknown'
        ) : (
          <>
            {operations(before.bit_ops)} {'\u2192'} {operations(after.bit_ops)}
            {ratio(before.bit_ops, after.bit_ops)}
          </>
        )}
      </dd>
      <dt>Predicted PSNR</dt>
      <dd title={predicted === null ? undefined : `${predicted} dB`}>
        {predicted === null ? 'these scores can\u2019t tell' : decibel(predicted)}
      </dd>
    </dl>
  );
}

function Preview(): VNode | null {
  const preview = flipPreview.value;
  if (preview === null) return <p class="hint">Nothing is chosen that could be raised.</p>;
  if (preview.state === 'failed') return <p class="notice">{preview.message}</p>;
  const none = preview.flip.flipped.length === 0;
  return (
    <>
      <FlipFigures flip={preview.flip} />
      <p class="actions">
        <button type="button" class="primary" disabled={none || job.value !== null} onClick={takePreview}>
          Raise
        </button>
        <span class="hint">
          {none ? 'All of these have that precision already.' : 'It can be undone; the ranking stays.'}
        </span>
      </p>
      <Warnings list={preview.flip.warnings} />
    </>
  );
}

/** What was raised so far, newest counting. */
export function ChangeLine(): VNode | null {
  const now = change.value;
  if (now === null) return null;
  const more = changes.value.length - 1;
  return (
    <p class="notice actions" data-part="change">
      <span>
        {now.title}
        {more > 0 && `, after ${counted(more, 'change')} before`}.
      </span>
      <button type="button" disabled={job.value !== null} onClick={undo}>
        Undo
      </button>
      <button type="button" onClick={() => goTo('save')}>
        Measure and save
      </button>
    </p>
  );
}

export function ActOnIt({ entries, axis }: { entries: readonly Entry[]; axis: LossAxis }): VNode | null {
  const line = threshold.value;
  if (line === null) return null;
  const found = beyondOf(entries, axis.higherIsWorse);
  const { which, to, count, percent: share } = raise.value;
  const unit = axis.unit === '' ? '' : `\u00a0${axis.unit}`;
  return (
    <details
      class="fold"
      data-part="raise"
      open={raiseOpen.value}
      onToggle={({ currentTarget }) => {
        raiseOpen.value = currentTarget.open;
      }}
    >
      <summary>
        Raise precision{' '}
        <span class="hint figures">
          {found.length} of {entries.length} {axis.higherIsWorse ? 'above' : 'below'} {axis.figure(line)}
          {unit}
        </span>
      </summary>
      <BeyondList entries={found} />
      <p class="options">
        <Choice label="Raise" value={which} all={kWhich} onChoose={(value) => choose({ which: value })} />
        {which === 'worst' && (
          <Amount
            label="Number"
            value={count}
            most={entries.length}
            onChange={(value) => choose({ count: value })}
          />
        )}
        {which === 'percent' && (
          <Amount
            label="Per cent"
            value={share}
            most={100}
            onChange={(value) => choose({ percent: value })}
          />
        )}
        <Choice label="to" value={to} all={kRaiseTo} onChoose={(value) => choose({ to: value })} />
      </p>
      <Preview />
    </details>
  );
}
