// The handle of the threshold line: dragged by pointer, moved by keys, and said as the score that it stands for.
import type { VNode } from 'preact';
import type { RankingLayout } from '../pictures/ranking_layout';
import { placeThreshold } from '../state/threshold';

/** Shares of the axis that a key moves it. */
const kMoves: Record<string, number> = {
  ArrowRight: 0.005,
  ArrowUp: 0.005,
  ArrowLeft: -0.005,
  ArrowDown: -0.005,
  PageUp: 0.05,
  PageDown: -0.05,
  Home: -1,
  End: 1,
};

/** As many digits as the picture can tell apart. */
function rounded(score: number, { axis }: RankingLayout): number {
  return axis.unit === 'dB' ? Math.round(score * 10) / 10 : Number(score.toPrecision(4));
}

function placeAt(share: number, layout: RankingLayout): void {
  placeThreshold(rounded(layout.axis.at(Math.max(0, Math.min(1, share))), layout));
}

/** Follows the pointer until it is let go. `box` is what the layout's zero is measured from. */
export function dragThreshold(event: PointerEvent, box: Element, layout: RankingLayout): void {
  event.preventDefault();
  const target = event.target as Element;
  target.setPointerCapture(event.pointerId);
  const move = ({ clientX }: { clientX: number }): void => {
    const x = clientX - box.getBoundingClientRect().left;
    placeAt((x - layout.zero) / (layout.right - layout.zero), layout);
  };
  const follow = (moved: Event): void => move(moved as PointerEvent);
  const end = (): void => {
    target.removeEventListener('pointermove', follow);
    target.removeEventListener('pointerup', end);
    target.removeEventListener('pointercancel', end);
  };
  target.addEventListener('pointermove', follow);
  target.addEventListener('pointerup', end);
  target.addEventListener('pointercancel', end);
}

export function ThresholdHandle({ layout, threshold }: { layout: RankingLayout; threshold: number }): VNode {
  const { axis } = layout;
  const share = axis.share(threshold);
  const text = `${axis.figure(threshold)}${axis.unit === '' ? '' : ` ${axis.unit}`}`;
  const onKey = (event: KeyboardEvent): void => {
    const by = kMoves[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    placeAt(share + by, layout);
  };
  const ends = [axis.at(0), axis.at(1)];
  return (
    <div
      class="threshold"
      role="slider"
      tabIndex={0}
      aria-label="Threshold"
      aria-valuemin={Math.min(...ends)}
      aria-valuemax={Math.max(...ends)}
      aria-valuenow={threshold}
      aria-valuetext={`${text}, ${axis.title}`}
      title={`Threshold: ${text}. Drag it, or use the arrow keys.`}
      // The page's policy forbids style attributes in markup; this one is set through the object model.
      style={{ transform: `translateX(${layout.zero + share * (layout.right - layout.zero)}px)` }}
      onKeyDown={onKey}
      onPointerDown={(event) => {
        event.currentTarget.focus();
        const box = event.currentTarget.parentElement;
        if (box !== null) dragThreshold(event, box, layout);
      }}
    >
      <span aria-hidden="true">{text}</span>
    </div>
  );
}
