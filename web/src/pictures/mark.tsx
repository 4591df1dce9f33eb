// The mark: nine dots from large to small.
import type { VNode } from 'preact';

export function Mark(): VNode {
  const dots = [];
  for (let row = 0; row < 3; ++row) {
    for (let column = 0; column < 3; ++column) {
      dots.push(
        <circle
          key={row * 3 + column}
          cx={3 + column * 5}
          cy={3 + row * 5}
          r={2.4 - 0.45 * (row + column)}
        />,
      );
    }
  }
  return (
    <svg class="mark" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      {dots}
    </svg>
  );
}
