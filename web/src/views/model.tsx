// What is in the model: facts, inputs and outputs, operators, warnings.
import type { VNode } from 'preact';
import { closeModel } from '../actions/open';
import type { ValueInfo } from '../package';
import { session } from '../state/store';
import { bytes, count, counted, printable, shape } from '../text/format';
import { Warnings } from './messages';
import { goTo, ViewTitle } from './steps';

function Values({ caption, list }: { caption: string; list: readonly ValueInfo[] }): VNode {
  return (
    <table class="plain">
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Type</th>
          <th scope="col">Shape</th>
        </tr>
      </thead>
      <tbody>
        {list.map((value) => (
          <tr key={value.name}>
            <th scope="row">{printable(value.name)}</th>
            <td>{value.type}</td>
            <td class="figures">{shape(value.shape)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Operators by how often they occur; the length of a row of dots is the count. */
function Operators({ all }: { all: Record<string, number> }): VNode {
  const list = Object.entries(all).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const most = list[0]?.[1] ?? 1;
  return (
    <table class="plain operators">
      <caption>{counted(list.length, 'kind of operator', 'kinds of operators')}</caption>
      <thead>
        <tr>
          <th scope="col">Operator</th>
          <th scope="col" class="number">
            Nodes
          </th>
          <td />
        </tr>
      </thead>
      <tbody>
        {list.map(([name, times]) => (
          <tr key={name}>
            <th scope="row">{printable(name)}</th>
            <td class="number">{count(times)}</td>
            <td class="dots-cell" aria-hidden="true">
              <span class="dots" style={{ width: `${Math.max(1, Math.round((times / most) * 24)) * 6}px` }} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function ModelView(): VNode | null {
  const current = session.value;
  if (current === null) return null;
  const { summary, fileName } = current;
  const { model, parameters } = summary;
  const custom = Object.entries(model.opset).filter(([domain]) => domain !== '' && domain !== 'ai.onnx');
  return (
    <section class="view" aria-labelledby="view-title">
      <ViewTitle>Model</ViewTitle>
      <p class="lead">
        {printable(fileName)} has {counted(summary.nodes, 'node')} and{' '}
        {counted(parameters.count, 'parameter')} in {bytes(parameters.bytes)}.
      </p>
      <Warnings list={summary.warnings} />
      <dl class="facts">
        <dt>Producer</dt>
        <dd>{model.producer === '' ? 'not named' : printable(model.producer)}</dd>
        <dt>Opset</dt>
        <dd class="figures">
          {model.opset[''] ?? model.opset['ai.onnx'] ?? 'none'}
          {custom.map(([domain, version]) => `, ${printable(domain)} ${version}`).join('')}
        </dd>
        <dt>IR version</dt>
        <dd class="figures">{model.ir_version}</dd>
        <dt>SHA-256</dt>
        <dd>
          <code class="wrap">{model.sha256}</code>
        </dd>
      </dl>
      <p class="actions">
        <button type="button" class="primary" onClick={() => goTo('plan')}>
          See the plan
        </button>
        <button type="button" onClick={() => void closeModel()}>
          Close model
        </button>
      </p>
      <div class="columns">
        <div>
          <Values caption={counted(model.inputs.length, 'input')} list={model.inputs} />
          <Values caption={counted(model.outputs.length, 'output')} list={model.outputs} />
        </div>
        <Operators all={summary.operators} />
      </div>
    </section>
  );
}
