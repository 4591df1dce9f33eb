// Score against size: mixed-precision models, measured, each of which can be taken and saved.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { kRaiseTo } from '../actions/change';
import {
  chosenPoint,
  type Search,
  search,
  searchTradeOff,
  startingRanking,
  takePoint,
  tradeOff,
} from '../actions/trade_off';
import { svgFile } from '../exports/picture_file';
import type { ParetoPoint } from '../package';
import { kPaperPalette } from '../pictures/palette';
import { layoutTradeOff, type Point, TradeOff } from '../pictures/trade_off';
import { announce } from '../state/announce';
import { encodingsKey, job, presentation } from '../state/store';
import { bytes, counted, decibel, decibelFigure, printable, significant } from '../text/format';
import { useBoxView } from './box_view';
import { Choice } from './choice';
import { type Column, DataTable } from './data_table';
import { modelStem, TableExports } from './exports';
import { PictureOrTable } from './picture_or_table';

type Unit = 'bytes' | 'operations';
const kUnits: readonly (readonly [Unit, string])[] = [
  ['bytes', 'bytes of weights'],
  ['operations', 'bit operations'],
];
const unit = signal<Unit>('bytes');
/** The table has what no other model beats, or all that was measured. */
const beaten = signal(false);

type Row = ParetoPoint & { at: number };

const kColumns: readonly Column<Row>[] = [
  {
    key: 'point',
    label: 'Model',
    names: true,
    width: '5rem',
    cell: (row) => row.at + 1,
    value: (row) => row.at + 1,
  },
  {
    key: 'raised',
    label: 'Raised',
    cell: (row) =>
      row.flipped.length === 0 ? 'nothing' : row.flipped.map((name) => printable(name, 40)).join(', '),
    title: (row) => row.flipped.map((name) => printable(name)).join('\n'),
    value: (row) => row.flipped.join(' '),
  },
  {
    key: 'score',
    label: 'PSNR',
    unit: 'dB',
    numeric: true,
    width: '6.5rem',
    cell: (row) => decibelFigure(row.score),
    title: (row) => `${row.score} dB`,
    value: (row) => row.score,
  },
  {
    key: 'weight_bytes',
    label: 'Weights',
    numeric: true,
    width: '6.5rem',
    cell: (row) => bytes(row.cost.weight_bytes),
    title: (row) => `${row.cost.weight_bytes} bytes`,
    value: (row) => row.cost.weight_bytes,
  },
  {
    key: 'bit_ops',
    label: 'Bit operations',
    numeric: true,
    width: '8rem',
    cell: (row) => significant(row.cost.bit_ops, 4),
    title: (row) => String(row.cost.bit_ops),
    value: (row) => row.cost.bit_ops,
  },
  {
    key: 'front',
    label: 'Unbeaten',
    width: '5.5rem',
    cell: (row) => (row.front ? 'yes' : 'no'),
    value: (row) => String(row.front),
  },
];

function pointsOf(rows: readonly Row[]): Point[] {
  return rows.map(({ cost, score, front, flipped }) => ({
    size: unit.value === 'bytes' ? cost.weight_bytes : cost.bit_ops,
    score,
    front,
    title: `${counted(flipped.length, 'quantizer')} raised, ${bytes(cost.weight_bytes)} of weights`,
  }));
}

/** To the next point to the left or right. */
function step(points: readonly Point[], by: number): void {
  const order = points.map((_, at) => at).sort((a, b) => (points[a]?.size ?? 0) - (points[b]?.size ?? 0));
  const now = chosenPoint.value === null ? -1 : order.indexOf(chosenPoint.value);
  const next = order[Math.max(0, Math.min(order.length - 1, now + by))];
  if (next === undefined) return;
  chosenPoint.value = next;
  const point = points[next];
  if (point !== undefined) announce(`${point.title}, ${decibel(point.score)}`);
}

function Picture({ points }: { points: readonly Point[] }): VNode {
  const { box, view } = useBoxView();
  const layout = layoutTradeOff(points, { width: view.width, height: Math.max(200, view.height - 4) });
  return (
    <section
      class="bars-box"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: takes arrow keys
      tabIndex={0}
      aria-label="Score against size. Arrow keys choose a model; the table has the same numbers."
      onKeyDown={(event) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (by === undefined) return;
        event.preventDefault();
        step(points, by);
      }}
      onClick={({ target }) => {
        const at =
          target instanceof Element ? target.closest('[data-point]')?.getAttribute('data-point') : null;
        if (at != null) chosenPoint.value = Number(at);
      }}
    >
      <svg
        class="bars"
        width={view.width}
        height={layout.height}
        role="img"
        aria-label={`${counted(points.length, 'model')}, score against size`}
      >
        <TradeOff {...{ points, layout }} unit={unit.value} chosen={chosenPoint.value} />
      </svg>
    </section>
  );
}

function Chosen({ rows }: { rows: readonly Row[] }): VNode {
  const row = chosenPoint.value === null ? undefined : rows[chosenPoint.value];
  if (row === undefined) return <p class="hint">Choose a point to take its model.</p>;
  return (
    <p class="actions figures" data-part="point">
      <button
        type="button"
        class="primary"
        disabled={job.value !== null || row.flipped.length === 0}
        onClick={() => takePoint(row.at)}
      >
        Take this model
      </button>
      <span>
        {decibel(row.score)}, {bytes(row.cost.weight_bytes)} of weights,{' '}
        {counted(row.flipped.length, 'quantizer')} raised
      </span>
    </p>
  );
}

function svgOf(points: readonly Point[]): string {
  const size = { width: 900, height: 480 };
  const layout = layoutTradeOff(points, size);
  const title = `Score against size: ${printable(modelStem())}`;
  return svgFile(
    { title, description: counted(points.length, 'model'), ...size },
    <TradeOff {...{ points, layout }} unit={unit.value} chosen={null} palette={kPaperPalette} />,
  );
}

function Found({ rows, complete }: { rows: readonly Row[]; complete: boolean }): VNode {
  const points = pointsOf(rows);
  if (rows.length === 0)
    return (
      <p class="lead">{complete || job.value === null ? 'No model was measured.' : 'Measuring\u2026'}</p>
    );
  return (
    <>
      <div class="filters">
        <PictureOrTable />
        <Choice
          label="Size"
          value={unit.value}
          all={kUnits}
          onChoose={(value) => {
            unit.value = value;
          }}
        />
        {presentation.value === 'table' && (
          <label class="check">
            <input
              type="checkbox"
              checked={beaten.value}
              onChange={({ currentTarget }) => {
                beaten.value = currentTarget.checked;
              }}
            />{' '}
            Beaten ones too
          </label>
        )}
        <TableExports what="trade_off" columns={kColumns} rows={rows} svg={() => svgOf(points)} />
      </div>
      {presentation.value === 'bars' ? (
        <Picture points={points} />
      ) : (
        <DataTable
          label="Models as a table"
          caption={`${counted(rows.length, 'model')}, in the order in which they were measured${complete ? '' : '; stopped early'}`}
          columns={kColumns}
          items={beaten.value ? rows : rows.filter(({ front }) => front)}
          minWidth="50rem"
          keyOf={(row) => String(row.at)}
          selectedKey={chosenPoint.value === null ? null : String(chosenPoint.value)}
          onSelect={(key) => {
            chosenPoint.value = Number(key);
          }}
        />
      )}
      <Chosen rows={rows} />
    </>
  );
}

function Limit({ label, of }: { label: string; of: 'weightBytes' | 'bitOps' }): VNode {
  return (
    <label>
      {label}{' '}
      <input
        type="number"
        min={100}
        max={400}
        value={search.value[of]}
        onChange={({ currentTarget }) => {
          const typed = Math.round(Number(currentTarget.value));
          const value = Number.isFinite(typed) ? Math.max(100, Math.min(400, typed)) : 100;
          search.value = { ...search.value, [of]: value };
        }}
      />
      {'\u00a0'}%
    </label>
  );
}

export function TradeOffView(): VNode {
  const made = tradeOff.value?.key === encodingsKey.value ? tradeOff.value.value : null;
  const ready = startingRanking() !== null;
  return (
    <>
      <fieldset class="options" disabled={job.value !== null}>
        <legend class="unseen">Search</legend>
        <Choice<Search['to']>
          label="Raise to"
          value={search.value.to}
          all={kRaiseTo}
          onChoose={(to) => {
            search.value = { ...search.value, to };
          }}
        />
        <Limit label="Weights up to" of="weightBytes" />
        <Limit label="Bit operations up to" of="bitOps" />
        <button
          type="button"
          class={made === null && ready ? 'primary' : ''}
          disabled={!ready}
          onClick={() => void searchTradeOff()}
        >
          {made === null ? 'Search' : 'Search again'}
        </button>
      </fieldset>
      {made === null ? (
        <p class="lead">
          {ready
            ? 'Raises what hurts most, one step at a time, and measures every model on the way, end to end.'
            : 'Rank first; the search starts from what hurts most.'}
        </p>
      ) : (
        <Found rows={made.points.map((point, at) => ({ ...point, at }))} complete={made.complete} />
      )}
    </>
  );
}
