// The format bench: choose weights and formats, see what each costs and loses, keep the result.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import {
  chosenFormats,
  chosenWeights,
  closeArray,
  compare,
  encode,
  encodeAs,
  isFigures,
  type Known,
  known,
  learn,
  mostBits,
  withWinner,
  written,
} from '../actions/formats';
import { svgFile } from '../exports/picture_file';
import { comparisonCsv, type FormatFigures, jsonFile, type TensorComparison } from '../package';
import { FormatErrors, FormatPanel, kPanel, panelsOf } from '../pictures/format_errors';
import { kPaperPalette } from '../pictures/palette';
import { arrayFile, compared, formatChoice, formatsKey, job, session } from '../state/store';
import { count, counted, decibelFigure, printable, shape, significant } from '../text/format';
import { Choice } from './choice';
import { type Column, DataTable } from './data_table';
import { Exports } from './exports';

type Row = TensorComparison['formats'][number] & { wins: boolean };

/** The tensor and the row of it that are shown; null: the first, and the winner. */
const shownTensor = signal<string | null>(null);
const shownRow = signal<string | null>(null);

const keyOf = ({ format, block }: { format: string; block: number }): string => `${format} ${block}`;

function figure(
  key: string,
  label: string,
  read: (row: FormatFigures) => number | null,
  unit?: string,
): Column<Row> {
  const text = (value: number | null): string =>
    unit === 'dB' ? decibelFigure(value) : value === null ? '' : significant(value);
  return {
    key,
    label,
    ...(unit !== undefined && { unit }),
    numeric: true,
    width: '7rem',
    cell: (row) => (isFigures(row) ? text(read(row)) : ''),
    title: (row) => (isFigures(row) ? String(read(row) ?? 'nothing was lost') : ''),
  };
}

const kFigures = [
  figure('bits', 'Bits/weight', (row) => row.bitsPerWeight),
  figure('max', 'Max error', (row) => row.maxError),
  figure('rms', 'RMS error', (row) => row.rmsError),
  figure('sqnr', 'SQNR', (row) => row.sqnr, 'dB'),
];

const kColumns: readonly Column<Row>[] = [
  { key: 'format', label: 'Format', names: true, width: '11rem', cell: (row) => row.format },
  { key: 'block', label: 'Block', numeric: true, width: '4.5rem', cell: (row) => row.block || '' },
  ...kFigures,
  {
    key: 'note',
    label: 'Note',
    cell: (row) => ('error' in row ? row.error.message : row.wins ? 'loses least' : ''),
    title: (row) => ('error' in row ? `${row.error.message} ${row.error.next}` : ''),
  },
];

interface Winner {
  one: TensorComparison;
  row: Row | undefined;
}

const kWinnerColumns: readonly Column<Winner>[] = [
  {
    key: 'weight',
    label: 'Weight',
    names: true,
    cell: ({ one }) => printable(one.tensor),
    title: ({ one }) => printable(one.tensor, 2000),
  },
  { key: 'count', label: 'Values', numeric: true, width: '6rem', cell: ({ one }) => count(one.count) },
  { key: 'format', label: 'Format', width: '11rem', cell: ({ row }) => row?.format ?? 'none' },
  { key: 'block', label: 'Block', numeric: true, width: '4.5rem', cell: ({ row }) => row?.block ?? '' },
  ...kFigures.map(({ value: _, ...column }) => ({
    ...column,
    cell: ({ row }: Winner) => (row === undefined ? '' : column.cell(row)),
    title: ({ row }: Winner) => (row === undefined ? '' : (column.title?.(row) ?? '')),
  })),
];

function rowsOf({ formats, winner }: TensorComparison): Row[] {
  const bits = (row: Row): number => (isFigures(row) ? row.bitsPerWeight : Number.POSITIVE_INFINITY);
  return formats
    .map((row) => ({ ...row, wins: winner !== null && keyOf(winner) === keyOf(row) }))
    .sort((a, b) => bits(a) - bits(b) || 0);
}

function Picks(props: {
  name: string;
  all: readonly string[];
  chosen: readonly string[];
  onChoose: (chosen: string[]) => void;
}): VNode {
  const chosen = new Set(props.chosen);
  return (
    <details class="fold" data-part={props.name.toLowerCase()}>
      <summary>
        {props.name}{' '}
        <span class="hint">
          {count(chosen.size)} of {count(props.all.length)}
        </span>
      </summary>
      <fieldset class="chips" disabled={job.value !== null}>
        <legend class="unseen">{props.name}</legend>
        <button type="button" onClick={() => props.onChoose([...props.all])}>
          All
        </button>
        <button type="button" onClick={() => props.onChoose([])}>
          None
        </button>
        {props.all.map((name) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={chosen.has(name)}
              onChange={() =>
                props.onChoose(props.all.filter((each) => (each === name) !== chosen.has(each)))
              }
            />{' '}
            {printable(name)}
          </label>
        ))}
      </fieldset>
    </details>
  );
}

/** Block sizes as they are typed: "32, 64". */
function readBlocks(text: string): number[] {
  const sizes = text.split(/\D+/).map(Number);
  return [...new Set(sizes.filter((size) => size > 0 && size <= 2 ** 31 - 1))];
}

function Choices({ about }: { about: Known }): VNode {
  const [formats, weights] = [chosenFormats(about), chosenWeights(about)];
  const choose = (part: Partial<typeof formatChoice.value>): void => {
    formatChoice.value = { ...formatChoice.value, ...part };
  };
  const fresh = compared.value?.key === formatsKey.value;
  const ready = formats.length > 0 && (session.value === null || weights.length > 0);
  return (
    <>
      {session.value !== null && (
        <Picks
          name="Weights"
          all={about.weights}
          chosen={weights}
          onChoose={(tensors) => choose({ tensors })}
        />
      )}
      <Picks
        name="Number formats"
        all={about.formats.map(({ name }) => name)}
        chosen={formats}
        onChoose={(names) => choose({ formats: names })}
      />
      <fieldset class="options">
        <legend class="unseen">Comparison</legend>
        <label>
          Block sizes{' '}
          <input
            type="text"
            size={12}
            placeholder="each format's"
            disabled={job.value !== null}
            value={formatChoice.value.blocks.join(', ')}
            onChange={({ currentTarget }) => choose({ blocks: readBlocks(currentTarget.value) })}
          />
        </label>
        <label>
          Best within{' '}
          <input
            type="number"
            min={1}
            max={64}
            step={0.1}
            value={mostBits.value}
            onChange={({ currentTarget }) => {
              const typed = Number(currentTarget.value);
              mostBits.value = typed > 0 ? typed : 4.5;
            }}
          />
          {'\u00a0'}bits per weight
        </label>
        <button
          type="button"
          class={fresh ? '' : 'primary'}
          disabled={job.value !== null || !ready}
          onClick={() => void compare(about)}
        >
          {compared.value === null ? 'Compare' : 'Compare again'}
        </button>
        {!ready && (
          <span class="hint">Choose a format{session.value === null ? '' : ' and a weight'} first.</span>
        )}
        {compared.value !== null && !fresh && <span class="stale">Stale: the choice changed since.</span>}
      </fieldset>
    </>
  );
}

function Encode({ about }: { about: Known }): VNode {
  const ofModel = session.value !== null;
  const set = (part: Partial<typeof encodeAs.value>): void => {
    encodeAs.value = { ...encodeAs.value, ...part };
  };
  const offered = about.formats.filter(({ family }) => !ofModel || family === 'onnx-light profile');
  const { format, block, standard } = encodeAs.value;
  return (
    <fieldset class="options" disabled={job.value !== null}>
      <legend class="unseen">Encoding</legend>
      <Choice
        label="Encode as"
        value={format}
        all={offered.map(({ name }) => [name, name] as const)}
        onChoose={(name) => set({ format: name })}
      />
      <label>
        Block{' '}
        <input
          type="number"
          min={0}
          placeholder="usual"
          value={block || ''}
          onChange={({ currentTarget }) => set({ block: readBlocks(currentTarget.value)[0] ?? 0 })}
        />
      </label>
      {ofModel && (
        <label class="check">
          <input
            type="checkbox"
            checked={standard}
            onChange={({ currentTarget }) => set({ standard: currentTarget.checked })}
          />{' '}
          Standard ONNX where it can say the same
        </label>
      )}
      <button
        type="button"
        disabled={ofModel && chosenWeights(about).length === 0}
        onClick={() => void encode(about)}
      >
        {ofModel ? 'Save the encoded model' : 'Save the encoded array'}
      </button>
      <span class="figures">{written.value}</span>
    </fieldset>
  );
}

function Picture({ row, tensor }: { row: FormatFigures; tensor: string }): VNode {
  return (
    <div class="filters" data-part="picture">
      {panelsOf(row).map((panel) => (
        <svg
          key={panel.title}
          viewBox={`0 0 ${kPanel.width} ${kPanel.height}`}
          style={{ flex: '1 1 17rem', maxWidth: '34rem' }}
          role="img"
          aria-label={`${panel.title}: ${row.format}, ${printable(tensor)}. ${panel.below}.`}
        >
          <FormatPanel panel={panel} />
        </svg>
      ))}
    </div>
  );
}

function svgOf(row: FormatFigures | undefined, tensor: string): string {
  const title = `${row?.format ?? ''}: ${printable(tensor)}`;
  const sheet = { title, description: title, width: 2 * kPanel.width, height: kPanel.height };
  return svgFile(sheet, row && <FormatErrors row={row} palette={kPaperPalette} />);
}

function Found({ all }: { all: readonly TensorComparison[] }): VNode | null {
  const found = all.map((one) => withWinner(one, mostBits.value));
  const one = found.find(({ tensor }) => tensor === shownTensor.value) ?? found[0];
  if (one === undefined) return null;
  const rows = rowsOf(one);
  const drawable = rows.filter((row): row is Row & FormatFigures => isFigures(row));
  const row =
    drawable.find((each) => keyOf(each) === shownRow.value) ??
    drawable.find(({ wins }) => wins) ??
    drawable[0];
  return (
    <>
      <div class="filters">
        <Exports
          what="formats"
          csv={() => comparisonCsv(found)}
          json={() => jsonFile({ bits_per_weight: mostBits.value, tensors: found })}
          svg={() => svgOf(row, one.tensor)}
        />
      </div>
      {found.length > 1 && (
        <DataTable<Winner>
          label="The best format of each weight"
          caption={`What loses least within ${mostBits.value} bits per weight, overhead included`}
          columns={kWinnerColumns}
          items={found.map((each) => ({ one: each, row: rowsOf(each).find(({ wins }) => wins) }))}
          minWidth="62rem"
          keyOf={(each) => each.one.tensor}
          selectedKey={one.tensor}
          onSelect={(tensor) => {
            shownTensor.value = tensor;
          }}
        />
      )}
      <DataTable<Row>
        label="Formats of one tensor"
        caption={`${printable(one.tensor)}, ${shape(one.dims)}, ${counted(one.count, 'value')}`}
        columns={kColumns}
        items={rows}
        minWidth="56rem"
        keyOf={keyOf}
        selectedKey={row === undefined ? null : keyOf(row)}
        onSelect={(key) => {
          shownRow.value = key;
          const [format = '', block] = key.split(' ');
          encodeAs.value = { ...encodeAs.value, format, block: Number(block) };
        }}
      />
      {row !== undefined && <Picture row={row} tensor={one.tensor} />}
    </>
  );
}

export function FormatsView(): VNode {
  const [revision, file] = [session.value?.revision, arrayFile.value];
  useEffect(() => void learn(), [revision, file]);
  const about = known.value;
  if (about === null) return <p aria-busy="true">Reading the weights{'\u2026'}</p>;
  return (
    <>
      {file !== null && (
        <p class="actions">
          <strong>{printable(file.name)}</strong>
          <button type="button" onClick={closeArray}>
            Close
          </button>
        </p>
      )}
      <Choices about={about} />
      {compared.value !== null && <Found all={compared.value.value} />}
      <Encode about={about} />
    </>
  );
}
