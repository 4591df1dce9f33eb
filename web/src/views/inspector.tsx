// Everything about the selected tensor: what was decided and why, its range, its values, what quantizing costs it.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { encodingOf, type Reading as ReadValues, reading } from '../actions/inspect';
import type { Encoding, Site, TensorStatistics } from '../package';
import { Histogram } from '../pictures/histogram';
import { lossAxis } from '../pictures/loss_axis';
import { type InputRow, readingsByTensor, scaleGroups } from '../state/plan_rows';
import { encodings, encodingsKey, plan, ranking, rowByTensor, selected, siteByTensor } from '../state/store';
import { count, counted, decibel, percent, printable, significant } from '../text/format';
import { granularityText, partitionText, sharingText } from '../text/plan_words';
import { chosenInput, selectInput } from './inputs_table';

const logarithmic = signal(false);

export function closeInspector(): boolean {
  if (selected.value === null) return false;
  selected.value = null;
  return true;
}

function Decision({ site }: { site: Site }): VNode {
  const group = site.scale_group === null ? undefined : scaleGroups.value.get(site.scale_group);
  return (
    <>
      <p class="tags">
        <span>{site.role}</span>
        <span>{site.quantized ? site.format : 'float'}</span>
        {site.quantized && <span>{granularityText(site)}</span>}
        {site.quantized && <span>{site.symmetric ? 'symmetric' : 'asymmetric'}</span>}
      </p>
      <dl class="facts small">
        <dt>Why</dt>
        <dd>
          {printable(site.why, 600)} <code class="rule">{site.rule}</code>
        </dd>
        {group !== undefined && (
          <>
            <dt>Scale</dt>
            <dd>{sharingText(site, group)}</dd>
          </>
        )}
      </dl>
    </>
  );
}

const kReadingsShown = 4;
const kReadingsListed = 200;

function Reading({ row, chosen }: { row: InputRow; chosen: boolean }): VNode {
  return (
    <li class={chosen ? 'reading chosen' : 'reading'} data-input={row.at}>
      <button type="button" class="row-name" aria-pressed={chosen} onClick={() => selectInput(row)}>
        {printable(row.node, 60)}
      </button>
      <span>
        {printable(row.op, 40)}, input {row.input}, {row.quantized ? 'quantized' : 'float'}
      </span>
      {chosen && <p>{printable(row.why, 600)}</p>}
      <p>
        <code class="rule">{row.rule}</code>
        {row.partition !== null && <span class="hint"> in {partitionText(row.partition)}</span>}
      </p>
    </li>
  );
}

/** Who reads the tensor, and how: the reading that was selected first, with its reason. */
function Readings({ tensor }: { tensor: string }): VNode | null {
  const chosen = chosenInput();
  // Inputs that aren't given have no tensor in common.
  const all = tensor === '' ? [] : (readingsByTensor.value.get(tensor) ?? []);
  const rows = chosen === null ? all : [chosen, ...all.filter((row) => row !== chosen)];
  if (rows.length === 0) return plan.value === null ? null : <p class="hint">No node reads it.</p>;
  const list = (part: readonly InputRow[]): VNode => (
    <ul class="readings small">
      {part.map((row) => (
        <Reading key={row.at} row={row} chosen={row === chosen} />
      ))}
    </ul>
  );
  const rest = rows.length - kReadingsShown;
  return (
    <section aria-label="Readers">
      <h3>Read by {counted(rows.length, 'node input')}</h3>
      {list(rows.slice(0, kReadingsShown))}
      {rest > 0 && (
        <details>
          <summary>{counted(rest, 'more reader')}</summary>
          {list(rows.slice(kReadingsShown, kReadingsListed))}
          {rows.length > kReadingsListed && (
            <p class="hint">
              {counted(rows.length - kReadingsListed, 'further reader')}; the table of inputs has all.
            </p>
          )}
        </details>
      )}
    </section>
  );
}

function spread(values: readonly number[], figure: (value: number) => string = significant): string {
  if (values.length === 0) return '\u2013';
  let [low, high] = [values[0] ?? 0, values[0] ?? 0];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low === high ? figure(low) : `${figure(low)} \u2026 ${figure(high)}`;
}

function full(values: readonly number[]): string {
  const shown = values.slice(0, 32).join(', ');
  return values.length > 32 ? `${shown}, and ${values.length - 32} more` : shown;
}

function Chosen({ encoding }: { encoding: Encoding }): VNode {
  const stale = encodings.value?.key !== encodingsKey.value;
  const least = encoding.min.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = encoding.max.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return (
    <dl class="facts small figures" data-part="encoding">
      {stale && (
        <>
          <dt>State</dt>
          <dd class="stale">from an older calibration</dd>
        </>
      )}
      <dt>Range</dt>
      <dd title={`${least} to ${most}`}>
        {significant(least)} to {significant(most)}
      </dd>
      <dt>{encoding.scale.length > 1 ? counted(encoding.scale.length, 'scale') : 'Scale'}</dt>
      <dd title={full(encoding.scale)}>{spread(encoding.scale)}</dd>
      <dt>Zero point</dt>
      <dd title={full(encoding.zero_point)}>{spread(encoding.zero_point, count)}</dd>
    </dl>
  );
}

function Values({
  tensor,
  statistics,
  encoding,
}: {
  tensor: string;
  statistics: TensorStatistics;
  encoding: Encoding | null;
}): VNode {
  return (
    <>
      <Histogram
        tensor={printable(tensor)}
        statistics={statistics}
        encoding={encoding}
        logarithmic={logarithmic.value}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={logarithmic.value}
          onChange={(event) => {
            logarithmic.value = event.currentTarget.checked;
          }}
        />{' '}
        Log count
      </label>
      <dl class="facts small figures" data-part="statistics">
        <dt>Values</dt>
        <dd>
          {count(statistics.count)}, from {significant(statistics.min)} to {significant(statistics.max)}
        </dd>
        {statistics.clipped !== null && (
          <>
            <dt>Clipped</dt>
            <dd title={String(statistics.clipped)}>{percent(statistics.clipped)}</dd>
          </>
        )}
        {encoding !== null && (
          <>
            <dt>SQNR</dt>
            <dd title={String(statistics.sqnr)}>{decibel(statistics.sqnr)}</dd>
          </>
        )}
      </dl>
      <BinTable statistics={statistics} />
    </>
  );
}

function BinTable({ statistics }: { statistics: TensorStatistics }): VNode {
  const step = (statistics.max - statistics.min) / Math.max(1, statistics.histogram.length);
  return (
    <details>
      <summary>The bins as a table</summary>
      <table class="plain bins">
        <caption class="unseen">Bins of the histogram</caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col" class="number">
              Values
            </th>
          </tr>
        </thead>
        <tbody>
          {statistics.histogram.map((bin, index) => (
            <tr key={`bin ${index}`}>
              <th scope="row" class="figures">
                {significant(statistics.min + index * step)}
              </th>
              <td class="number">{count(bin)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function ReadingPart({ tensor, now }: { tensor: string; now: ReadValues }): VNode | null {
  switch (now.state) {
    case 'none':
      return null;
    case 'needs samples':
      return <p class="hint">Its values appear as soon as there are samples.</p>;
    case 'reading':
      return (
        <p class="hint" aria-busy="true">
          Reading its values{'\u2026'}
        </p>
      );
    case 'failed':
      return (
        <p class="notice">
          {now.problem.message} {now.problem.next}
        </p>
      );
    case 'read':
      return <Values tensor={tensor} statistics={now.statistics} encoding={encodingOf(tensor)} />;
  }
}

function noSite(tensor: string): string {
  if (plan.value === null) return 'There is no plan yet.';
  if (tensor === '') return 'The node leaves this optional input out.';
  return readingsByTensor.value.has(tensor)
    ? 'No quantizer can sit on this tensor.'
    : 'This model has no such tensor in its plan.';
}

/** What the ranking says about it: of its own quantizer, or of the group that it is in. */
function Score({ tensor }: { tensor: string }): VNode | null {
  const row = rowByTensor.value.get(tensor);
  const made = ranking.value?.value;
  if (row === undefined || made === undefined) return null;
  const { title, unit, figure } = lossAxis(made.measure, []);
  const suffix = unit === '' ? '' : ` ${unit}`;
  const alone = made.choice.by === 'quantizer' ? 'this quantizer' : printable(row.name, 60);
  return (
    <p class="score figures" title={`${row.score}${suffix}`}>
      <strong>
        {figure(row.score)}
        {suffix}
      </strong>{' '}
      {title} with {alone} {made.choice.sweep === 'enable' ? 'alone' : 'left out'}
    </p>
  );
}

function Selected({ tensor }: { tensor: string }): VNode {
  const site = siteByTensor.value.get(tensor);
  const encoding = encodingOf(tensor);
  return (
    <>
      <div class="inspector-head">
        <h2 title={printable(tensor, 2000)}>{tensor === '' ? 'Input not given' : printable(tensor, 120)}</h2>
        <button type="button" class="close" aria-label="Close the inspector" onClick={closeInspector}>
          {'\u00d7'}
        </button>
      </div>
      {site === undefined ? <p class="hint">{noSite(tensor)}</p> : <Decision site={site} />}
      <Readings tensor={tensor} />
      <Score tensor={tensor} />
      {encoding !== null && <Chosen encoding={encoding} />}
      <ReadingPart tensor={tensor} now={reading.value} />
    </>
  );
}

export function Inspector(): VNode {
  const tensor = selected.value;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard
    <aside class={tensor === null ? 'inspector empty' : 'inspector'} aria-label="Inspector" tabIndex={0}>
      {tensor === null ? (
        <p class="hint">Select a row to see its range, its values, and why it is quantized or not.</p>
      ) : (
        <Selected tensor={tensor} />
      )}
    </aside>
  );
}
