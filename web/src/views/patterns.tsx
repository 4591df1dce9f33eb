// Include and exclude patterns, each with what it takes: while it is typed, and for as long as it is there.
import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { chooseOptions } from '../actions/plan';
import { draft, type Preview, previewOf, previewSentence } from '../actions/preview';
import { options } from '../state/store';
import { counted, printable } from '../text/format';

type Kind = 'include' | 'exclude';

const kind = signal<Kind>('exclude');
const kNamesInTitle = 40;
const kLongestPattern = 1024;

/** More than the sentence has room for. */
function titleOf(preview: Preview | null): string | undefined {
  if (preview?.state !== 'read') return undefined;
  const names = [...preview.match.nodes, ...preview.match.tensors].slice(0, kNamesInTitle);
  return names.length === 0 ? undefined : names.map((name) => printable(name)).join('\n');
}

function change(of: Kind, patterns: readonly string[]): void {
  void chooseOptions({ [of]: patterns });
}

function PatternRow({ of, pattern }: { of: Kind; pattern: string }): VNode {
  const preview = previewOf(pattern);
  const name = printable(pattern, 60);
  return (
    <li data-pattern={pattern}>
      <span class="pattern-kind">{of === 'include' ? 'Include' : 'Exclude'}</span>
      <code title={printable(pattern, 1100)}>{name}</code>
      <button
        type="button"
        class="close"
        aria-label={`Take away the ${of} pattern ${name}`}
        onClick={() =>
          change(
            of,
            options.value[of].filter((other) => other !== pattern),
          )
        }
      >
        {'\u00d7'}
      </button>
      <span class="hint" title={titleOf(preview)}>
        {previewSentence(preview)}
      </span>
    </li>
  );
}

/** An unreadable pattern would leave no plan; it stays in the field, with the reason under it. */
function canAdd(pattern: string, known: readonly string[]): boolean {
  return pattern.trim() !== '' && !known.includes(pattern) && previewOf(pattern)?.state === 'read';
}

function Editor(): VNode {
  const pattern = draft.value;
  const known = options.value[kind.value];
  const ready = canAdd(pattern, known);
  const add = (event: Event): void => {
    event.preventDefault();
    if (!ready) return;
    draft.value = '';
    change(kind.value, [...known, pattern]);
  };
  return (
    <form class="pattern-form" onSubmit={add}>
      <label>
        <span class="unseen">Kind of pattern</span>
        <select
          value={kind.value}
          onChange={(event) => {
            kind.value = event.currentTarget.value as Kind;
          }}
        >
          <option value="exclude">Exclude</option>
          <option value="include">Include</option>
        </select>
      </label>
      <label class="pattern-text">
        <span class="unseen">Pattern</span>
        <input
          type="text"
          placeholder={'name, glob:\u2026, re:\u2026, op:\u2026'}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          maxLength={kLongestPattern}
          value={pattern}
          aria-describedby="pattern-preview"
          onInput={(event) => {
            draft.value = event.currentTarget.value;
          }}
        />
      </label>
      <button type="submit" disabled={!ready}>
        Add
      </button>
      <p class="hint" id="pattern-preview">
        {pattern.trim() === ''
          ? 'Node names, tensor names and operators: exact, glob:conv*, re:^layer[12]/, op:Softmax.'
          : known.includes(pattern)
            ? 'This pattern is there already.'
            : previewSentence(previewOf(pattern))}
      </p>
    </form>
  );
}

function summary(include: number, exclude: number): string {
  const parts = [
    ...(include > 0 ? [counted(include, 'include pattern')] : []),
    ...(exclude > 0 ? [counted(exclude, 'exclude pattern')] : []),
  ];
  return parts.length === 0 ? 'every node' : parts.join(', ');
}

export function Patterns(): VNode {
  const { include, exclude, target } = options.value;
  return (
    <details class="fold" data-part="selection">
      <summary>
        Selection <span class="hint">{summary(include.length, exclude.length)}</span>
      </summary>
      <Editor />
      {include.length + exclude.length > 0 && (
        <ul class="patterns">
          {include.map((pattern) => (
            <PatternRow key={`include ${pattern}`} of="include" pattern={pattern} />
          ))}
          {exclude.map((pattern) => (
            <PatternRow key={`exclude ${pattern}`} of="exclude" pattern={pattern} />
          ))}
        </ul>
      )}
      {include.length > 0 && (
        <p class="hint">
          Only what an include pattern matches is quantized; exclude wins.
          {target === 'tensorrt' &&
            ' The list takes the place of TensorRT\u2019s fusion rules, as in ModelOpt.'}
        </p>
      )}
    </details>
  );
}
