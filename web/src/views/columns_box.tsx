// A picture of columns in its box: scrolls sideways where there are many, draws those in sight, selects by pointer and keys.
import type { VNode } from 'preact';
import { Columns, ColumnTicks } from '../pictures/columns';
import { type Item, layoutColumns, type Spread } from '../pictures/columns_layout';
import { announce } from '../state/announce';
import { useBoxView } from './box_view';

/** Pictures up to this many columns are drawn whole. */
const kWhole = 400;
const kBeyond = 30;

const kMoves: Record<string, number> = {
  ArrowRight: 1,
  ArrowLeft: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

interface Props {
  label: string;
  description: string;
  items: readonly Item[];
  spread: Spread;
  joined: boolean;
  chosen: string | null;
  onChoose: (key: string) => void;
}

export function ColumnsBox(props: Props): VNode {
  const { items, chosen, onChoose } = props;
  const { box, view, measure } = useBoxView();
  const layout = layoutColumns(items, { width: view.width, height: view.height - 4 }, props.spread);
  const whole = items.length <= kWhole;
  const from = whole ? 0 : Math.max(0, Math.floor((view.left - layout.left) / layout.pitch) - kBeyond);
  const to = whole
    ? items.length
    : Math.min(items.length, Math.ceil((view.left + view.width) / layout.pitch) + kBeyond);
  const onKey = (event: KeyboardEvent): void => {
    const by = kMoves[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const now = items.findIndex(({ key }) => key === chosen);
    const index = Math.min(items.length - 1, Math.max(0, now < 0 ? 0 : now + by));
    const item = items[index];
    if (item === undefined || box.current === null) return;
    onChoose(item.key);
    announce(item.title);
    const x = layout.x(index);
    const { scrollLeft, clientWidth } = box.current;
    if (x < scrollLeft + layout.left) box.current.scrollLeft = x - layout.left - layout.pitch;
    else if (x > scrollLeft + clientWidth - layout.pitch)
      box.current.scrollLeft = x - clientWidth + 2 * layout.pitch;
  };
  const onClick = (event: MouseEvent): void => {
    const column = event.target instanceof Element ? event.target.closest('[data-name]') : null;
    const name = column?.getAttribute('data-name');
    if (name != null) onChoose(name);
  };
  return (
    <section
      class="bars-box columns-box"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls and takes arrow keys has to be reachable
      tabIndex={0}
      aria-label={`${props.label}. Arrow keys select; the table has the same numbers.`}
      onScroll={measure}
      onKeyDown={onKey}
      onClick={onClick}
    >
      <svg class="ticks" width={layout.left} height={layout.height} aria-hidden="true">
        <ColumnTicks layout={layout} />
      </svg>
      <svg
        class="bars"
        width={layout.width}
        height={layout.height}
        role="img"
        aria-label={`${props.label}. ${props.description}`}
      >
        <Columns {...{ items, layout, from, to, chosen }} joined={props.joined} />
      </svg>
    </section>
  );
}
