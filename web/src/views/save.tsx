// The quantized model, how good it is, what was changed, and every file that can be written.
import type { VNode } from 'preact';
import { bench } from '../actions/context';
import { outputName, quantize } from '../actions/save';
import { download } from '../exports/download';
import type { Prediction, Saved } from '../state/saved';
import {
  encodings,
  encodingsKey,
  job,
  plan,
  planFresh,
  ranking,
  saved,
  session,
  states,
} from '../state/store';
import { bytes, count, counted, decibel, percent, printable } from '../text/format';
import { RandomWarning } from './calibrate';
import { Warnings } from './messages';
import { NothingQuantized, SaveReport } from './save_report';
import { ViewTitle } from './steps';

function Figures({ made }: { made: Saved }): VNode {
  const { report } = made.result;
  return (
    <dl class="facts figures">
      <dt>Float</dt>
      <dd>{bytes(report.float_bytes)}</dd>
      <dt>Quantized</dt>
      <dd title={`${report.bytes} bytes`}>
        <strong>{bytes(report.bytes)}</strong> ({percent(report.bytes / Math.max(1, report.float_bytes))} of
        it)
      </dd>
      <dt>PSNR, simulated</dt>
      <dd title={made.score === null ? undefined : `${made.score.simulated} dB`}>
        {made.score === null ? '\u2026' : decibel(made.score.simulated)}
      </dd>
      <dt>PSNR, as the runtime runs it</dt>
      <dd title={made.score === null ? undefined : `${made.score.fused} dB`}>
        {made.score === null ? '\u2026' : decibel(made.score.fused)}
      </dd>
      {made.score?.weights_only !== undefined && (
        <>
          <dt>PSNR, weights alone</dt>
          <dd title={`${made.score.weights_only} dB`}>{decibel(made.score.weights_only)}</dd>
        </>
      )}
      {made.score?.activations_only !== undefined && (
        <>
          <dt>PSNR, activations alone</dt>
          <dd title={`${made.score.activations_only} dB`}>{decibel(made.score.activations_only)}</dd>
        </>
      )}
      <dt>Quantized nodes</dt>
      <dd>
        {count(report.quantized_node_names.length)} of {counted(report.nodes, 'node')}
      </dd>
    </dl>
  );
}

function className(index: number): string {
  return session.value?.bundled?.labels?.[index] ?? `class ${index}`;
}

function PredictionRow({ row }: { row: Prediction }): VNode {
  const agree = row.float.index === row.quantized.index;
  return (
    <tr class={agree ? undefined : 'differs'}>
      <th scope="row">{printable(row.sample)}</th>
      <td>{className(row.float.index)}</td>
      <td class="number">{percent(row.float.probability)}</td>
      <td>{className(row.quantized.index)}</td>
      <td class="number">{percent(row.quantized.probability)}</td>
      <td>{agree ? 'yes' : 'no'}</td>
    </tr>
  );
}

function Predictions({ made }: { made: Saved }): VNode | null {
  if (made.predictions === null) return null;
  const { rows, output } = made.predictions;
  const agree = rows.filter((row) => row.float.index === row.quantized.index).length;
  return (
    <section
      class="table-scroll"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: may scroll on narrow screens
      tabIndex={0}
      aria-label="Predictions"
    >
      <table class="plain">
        <caption>
          {agree} of {counted(rows.length, 'prediction')} agree (largest of {printable(output)})
        </caption>
        <thead>
          <tr>
            <th scope="col">Sample</th>
            <th scope="col">Float</th>
            <th scope="col" class="number">
              Probability
            </th>
            <th scope="col">Quantized</th>
            <th scope="col" class="number">
              Probability
            </th>
            <th scope="col">Same</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <PredictionRow key={row.sample} row={row} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const kChangesShown = 400;

function Changes({ made }: { made: Saved }): VNode {
  const { changes } = made.result.report;
  const warnings = [...made.result.report.warnings, ...(made.score?.warnings ?? [])];
  return (
    <>
      <Warnings list={warnings.filter(({ code }) => code !== 'nothing_quantized')} />
      <details>
        <summary>{counted(changes.length, 'change')} to the model</summary>
        <section
          class="changes"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard
          tabIndex={0}
          aria-label="Changes to the model"
        >
          <ul>
            {changes.slice(0, kChangesShown).map((change, index) => (
              <li key={`${index} ${change.where}`}>
                {printable(change.what, 400)} {change.where !== '' && <code>{printable(change.where)}</code>}
              </li>
            ))}
            {changes.length > kChangesShown && (
              <li>{counted(changes.length - kChangesShown, 'more change')}.</li>
            )}
          </ul>
        </section>
      </details>
    </>
  );
}

interface FileProps {
  name: string;
  what: string;
  make: (() => Blob | string) | null;
  type: string;
  main?: boolean;
}

function FileRow({ name, what, make, type, main }: FileProps): VNode {
  return (
    <li>
      <button
        type="button"
        class={main ? 'primary' : ''}
        disabled={make === null}
        onClick={() => make !== null && download(name, make(), type)}
      >
        Save {name}
      </button>
      <span>{what}</span>
    </li>
  );
}

const kJson = 'application/json';

function Files({ made }: { made: Saved | null }): VNode {
  const { write } = bench();
  const model = outputName(printable(session.value?.fileName ?? 'model.onnx', 200));
  const [planNow, found, results] = [plan.value?.value, encodings.value?.value, ranking.value?.value.results];
  const external = made?.result.externalData;
  return (
    <ul class="files">
      <FileRow
        name={model}
        main={states.value.save === 'done'}
        what={made === null ? 'not made yet' : bytes(made.result.model.size)}
        make={made === null ? null : () => made.result.model}
        type="application/octet-stream"
      />
      {external !== undefined && (
        <FileRow
          name={`${model}.data`}
          what={bytes(external.size)}
          make={() => external}
          type="application/octet-stream"
        />
      )}
      <FileRow
        name="plan.json"
        what="every tensor and node input with its reason"
        make={planNow ? () => write.plan(planNow) : null}
        type={kJson}
      />
      <FileRow
        name="encodings.json"
        what="ranges, scales, zero points"
        make={found ? () => write.encodings(found) : null}
        type={kJson}
      />
      <FileRow
        name="sensitivity.json"
        what="the ranking"
        make={results ? () => write.sensitivity(results) : null}
        type={kJson}
      />
      <FileRow
        name="sensitivity.csv"
        what="the ranking as a table"
        make={results ? () => write.sensitivityCsv(results) : null}
        type="text/csv"
      />
    </ul>
  );
}

export function SaveView(): VNode {
  const made = saved.value?.value ?? null;
  const state = states.value.save;
  const ready = planFresh.value && encodings.value?.key === encodingsKey.value && job.value === null;
  return (
    <section class="view" aria-labelledby="view-title">
      <div class="view-head">
        <ViewTitle>Save</ViewTitle>
        {state === 'stale' && <p class="stale">Stale: plan, samples or ranges changed since.</p>}
      </div>
      <RandomWarning />
      <p class="actions">
        <button
          type="button"
          class={state === 'done' ? '' : 'primary'}
          disabled={!ready || state === 'done'}
          onClick={() => void quantize()}
        >
          {state === 'stale' ? 'Make it again' : 'Make the quantized model'}
        </button>
        {encodings.value === null && <span>Calibrate first.</span>}
      </p>
      {made !== null && <NothingQuantized report={made.result.report} />}
      {made !== null && <Figures made={made} />}
      {made !== null && <Predictions made={made} />}
      {made?.takesCodes && (
        <p class="hint">
          Inputs and outputs of the model are codes, so its predictions aren't compared; the PSNR is that of
          the same arithmetic with float ends.
        </p>
      )}
      <h3>Files</h3>
      <Files made={made} />
      {made !== null && <SaveReport report={made.result.report} />}
      {made !== null && <Changes made={made} />}
    </section>
  );
}
