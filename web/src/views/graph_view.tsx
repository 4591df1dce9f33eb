// The model's graph, marked by what quantizing costs, with its table.
import type { VNode } from 'preact';
import { closeAll, closeAround, openAll, openBlock } from '../actions/graph';
import { svgFile } from '../exports/picture_file';
import type { SensitivityRow } from '../package';
import { GraphPicture } from '../pictures/graph';
import { kPaperPalette } from '../pictures/palette';
import {
  blocks,
  chosenBox,
  graphAxis,
  graphProblem,
  type LaidOut,
  laidOut,
  losses,
  modelGraph,
  net,
  openBlocks,
} from '../state/graph';
import { presentation, selected } from '../state/store';
import { counted, printable } from '../text/format';
import { type Column, DataTable } from './data_table';
import { modelStem, TableExports } from './exports';
import { boxLoss, GraphBox, hovered, panning, wordsOf, zoomAtChosen } from './graph_box';
import { ProblemCard } from './messages';
import { PictureOrTable } from './picture_or_table';

interface Row {
  at: number;
  label: string;
  op: string;
  weight: SensitivityRow | null;
  activation: SensitivityRow | null;
  through: number;
  inFloat: number;
  why: string;
}

function rowsOf(): Row[] {
  return net.value.nodes.flatMap(({ kind, label, op, reads }, at) => {
    if (kind === 'output') return [];
    const { weight, activation } = losses.value[at] ?? { weight: null, activation: null };
    const exempt = reads.filter(({ flow }) => flow === 'exempt');
    const through = reads.filter(({ flow }) => flow === 'quantized').length;
    return [
      { at, label, op, weight, activation, through, inFloat: exempt.length, why: exempt[0]?.why ?? '' },
    ];
  });
}

function score(key: 'weight' | 'activation', label: string): Column<Row> {
  const axis = graphAxis.value;
  return {
    key,
    label,
    ...(axis !== null && axis.unit !== '' && { unit: axis.unit }),
    numeric: true,
    width: '8rem',
    cell: (row) => (row[key] === null ? '\u2013' : (axis?.figure(row[key].score) ?? '')),
    title: (row) => (row[key] === null ? 'no quantizer with a score' : `${row[key].name}: ${row[key].score}`),
    value: (row) => row[key]?.score ?? null,
  };
}

function columns(): readonly Column<Row>[] {
  return [
    {
      key: 'node',
      label: 'Node',
      names: true,
      cell: (row) => printable(row.label),
      title: (row) => printable(row.label, 2000),
      value: (row) => row.label,
    },
    {
      key: 'op',
      label: 'Operator',
      width: '8rem',
      cell: (row) => printable(row.op, 40),
      value: (row) => row.op,
    },
    score('weight', 'Weights'),
    score('activation', 'Makes'),
    {
      key: 'quantized',
      label: 'Q/DQ',
      numeric: true,
      width: '4rem',
      cell: (row) => row.through,
      value: (row) => row.through,
    },
    {
      key: 'float',
      label: 'Float',
      numeric: true,
      width: '4rem',
      cell: (row) => row.inFloat,
      value: (row) => row.inFloat,
    },
    {
      key: 'why',
      label: 'Why in float',
      width: '18rem',
      cell: (row) => printable(row.why, 200),
      title: (row) => printable(row.why, 2000),
      value: (row) => row.why,
    },
  ];
}

function svgOf({ folded, layout }: LaidOut): string {
  const title = `Graph of ${printable(modelStem())}`;
  const description = `${counted(folded.boxes.length, 'box', 'boxes')}. Squares are weights, discs activations; the area is the loss.`;
  return svgFile(
    { title, description, width: Math.ceil(layout.width), height: Math.ceil(layout.height) },
    <GraphPicture
      {...{ folded, layout }}
      lossOf={boxLoss}
      sight={null}
      far={false}
      chosen={null}
      palette={kPaperPalette}
    />,
  );
}

/** What is under the pointer, else what is chosen; its height never changes. */
function Strip({ made }: { made: LaidOut }): VNode {
  const box = made.folded.boxes.find(({ id }) => id === chosenBox.value);
  const text = hovered.value ?? (box === undefined ? null : wordsOf(box));
  const node = box?.block === null ? box.nodes[0] : undefined;
  const around = node === undefined ? [] : (blocks.value.paths[node] ?? []);
  return (
    <div class="strip">
      <p title={text ?? undefined}>
        {text ??
          'Square: its weights; disc: what it makes; the area is the loss. Rails: Q/DQ; dashes: float.'}
      </p>
      {box?.block != null && (
        <button type="button" onClick={() => openBlock(box.block ?? '')}>
          Unfold block
        </button>
      )}
      {node !== undefined && around.some((id) => openBlocks.value.has(id)) && (
        <button type="button" onClick={() => closeAround(node)}>
          Fold block
        </button>
      )}
    </div>
  );
}

function ZoomButtons({ made }: { made: LaidOut }): VNode {
  return (
    <span class="zoom">
      <button
        type="button"
        aria-label="Zoom in"
        onClick={() => panning.value && zoomAtChosen(made, panning.value, 1.4)}
      >
        +
      </button>
      <button
        type="button"
        aria-label="Zoom out"
        onClick={() => panning.value && zoomAtChosen(made, panning.value, 1 / 1.4)}
      >
        {'\u2212'}
      </button>
      <button type="button" onClick={() => panning.value?.fit(made.layout)}>
        Fit
      </button>
    </span>
  );
}

function BlockButtons(): VNode | null {
  const count = blocks.value.all.size;
  if (count === 0) return null;
  return (
    <span class="zoom">
      <button
        type="button"
        aria-label="Fold all blocks"
        disabled={openBlocks.value.size === 0}
        onClick={closeAll}
      >
        Fold
      </button>
      <button
        type="button"
        aria-label="Unfold all blocks"
        disabled={openBlocks.value.size === count}
        onClick={openAll}
      >
        Unfold
      </button>
    </span>
  );
}

function Shown({ made }: { made: LaidOut }): VNode {
  const rows = rowsOf();
  const all = columns();
  return (
    <>
      <div class="filters">
        <PictureOrTable />
        {presentation.value === 'bars' && (
          <>
            <BlockButtons />
            <ZoomButtons made={made} />
          </>
        )}
        <TableExports what="graph" columns={all} rows={rows} svg={() => svgOf(made)} />
      </div>
      {presentation.value === 'bars' ? (
        <>
          <GraphBox made={made} />
          <Strip made={made} />
        </>
      ) : (
        <DataTable
          label="Nodes as a table"
          caption={`${counted(rows.length, 'node')} in the order of the graph; scores of the worst quantizer of each`}
          columns={all}
          items={rows}
          minWidth="66rem"
          keyOf={(row) => String(row.at)}
          selectedKey={chosenBox.value?.replace(/^node /, '') ?? null}
          onSelect={(key) => {
            const row = rows[Number(key)];
            const tensor =
              row?.weight?.name ?? row?.activation?.name ?? net.value.nodes[Number(key)]?.makes[0];
            chosenBox.value = `node ${key}`;
            if (tensor !== undefined) selected.value = tensor;
          }}
        />
      )}
    </>
  );
}

export function GraphView(): VNode {
  if (graphProblem.value !== null) return <ProblemCard what={graphProblem.value} />;
  const made = laidOut.value;
  if (made === null || modelGraph.value === null)
    return (
      <p class="lead" aria-busy="true">
        Laying the graph out{'\u2026'}
      </p>
    );
  return <Shown made={made} />;
}
