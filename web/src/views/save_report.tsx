// What was quantized, in numbers: by operator, by name, by rule, by type, and what sharing scales cost each branch.
import type { VNode } from 'preact';
import type { ConcatGroup, QuantizeReport } from '../package';
import { bytes, count, counted, printable, significant } from '../text/format';

/** Said as loudly as a failure: a model that was written and yet is the float model. */
export function NothingQuantized({ report }: { report: QuantizeReport }): VNode | null {
  if (report.sites.quantized > 0) return null;
  return (
    <p class="notice strong" role="alert">
      Nothing was quantized: this is the float model. The plan says for each tensor why not; take patterns
      away, or choose another target.
    </p>
  );
}

interface CountTable {
  caption: string;
  what: string;
  unit: string;
  counts: Record<string, number>;
  text?: (value: number) => string;
}

/** Largest first; equal ones by name. */
function Counts({ caption, what, unit, counts, text = count }: CountTable): VNode | null {
  const rows = Object.entries(counts).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  if (rows.length === 0) return null;
  return (
    <table class="plain">
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">{what}</th>
          <th scope="col" class="number">
            {unit}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{printable(name)}</th>
            <td class="number" title={String(value)}>
              {text(value)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const kNamesShown = 2000;

function Names({ names }: { names: readonly string[] }): VNode | null {
  if (names.length === 0) return null;
  return (
    <details>
      <summary>{counted(names.length, 'quantized node')} by name</summary>
      <section
        class="changes"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reachable by keyboard
        tabIndex={0}
        aria-label="Quantized nodes by name"
      >
        <ul class="names">
          {names.slice(0, kNamesShown).map((name, index) => (
            <li key={`${index} ${name}`} title={printable(name, 2000)}>
              {printable(name)}
            </li>
          ))}
          {names.length > kNamesShown && <li>{counted(names.length - kNamesShown, 'more node')}.</li>}
        </ul>
      </section>
    </details>
  );
}

/** "1.9 times coarser": how much larger a branch's steps became by sharing. */
export function growthText(growth: number | null): string {
  if (growth === null) return 'holds only zeros';
  return growth < 1.0005 ? 'as on its own' : `${significant(growth, 3)} times coarser`;
}

const kGroupsShown = 200;

function ConcatGroups({ groups }: { groups: readonly ConcatGroup[] }): VNode | null {
  if (groups.length === 0) return null;
  return (
    <section
      class="table-scroll"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: may scroll on narrow screens
      tabIndex={0}
      aria-label="Scales shared across Concat"
    >
      <table class="plain">
        <caption>{counted(groups.length, 'scale')} shared by the branches of a Concat</caption>
        <thead>
          <tr>
            <th scope="col">Branch</th>
            <th scope="col">Its steps</th>
          </tr>
        </thead>
        {groups.slice(0, kGroupsShown).map((group) => (
          <tbody key={group.group}>
            <tr class="group">
              <th scope="rowgroup" colSpan={2}>
                {printable(group.group)}
              </th>
            </tr>
            {group.branches.map(({ tensor, growth }) => (
              <tr key={tensor}>
                <th scope="row">{printable(tensor)}</th>
                <td title={growth === null ? undefined : `factor ${growth}`}>{growthText(growth)}</td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
      {groups.length > kGroupsShown && (
        <p class="hint">{counted(groups.length - kGroupsShown, 'more group')}.</p>
      )}
    </section>
  );
}

export function SaveReport({ report }: { report: QuantizeReport }): VNode {
  const quantized = Object.values(report.quantized_nodes).reduce((sum, each) => sum + each, 0);
  return (
    <section class="report" aria-labelledby="report-title">
      <h3 id="report-title">Report</h3>
      <div class="columns">
        <Counts
          caption={`${counted(quantized, 'quantized node')} of ${count(report.nodes)}`}
          what="Operator"
          unit="Nodes"
          counts={report.quantized_nodes}
        />
        <Counts
          caption={`${counted(report.sites.quantized, 'quantized tensor')}, by rule`}
          what="Rule"
          unit="Tensors"
          counts={report.sites.by_rule}
        />
        <Counts
          caption="Tensors left in float, by rule"
          what="Rule"
          unit="Tensors"
          counts={report.sites.float_by_rule}
        />
        <Counts caption="Sizes by type" what="Type" unit="Size" counts={report.sizes_by_type} text={bytes} />
      </div>
      <Names names={report.quantized_node_names} />
      <ConcatGroups groups={report.concat_groups} />
    </section>
  );
}
