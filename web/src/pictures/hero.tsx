// The picture of the first screen: a distribution in continuous tone that turns into dots, over the grid of sixteen codes.
import type { VNode } from 'preact';

const kWidth = 720;
const kHeight = 170;
const kPitch = 10;
const kCodes = 16;

/** Height of the hill at x in 0..1: the sum of two bells, as weights and their outliers are spread. */
function hill(x: number): number {
  const bell = (center: number, width: number): number => Math.exp(-(((x - center) / width) ** 2));
  return 0.94 * bell(0.44, 0.17) + 0.16 * bell(0.8, 0.09);
}

function circle(x: number, y: number, r: number): string {
  const [left, radius] = [(x - r).toFixed(1), r.toFixed(2)];
  return `M${left} ${y.toFixed(1)}a${radius} ${radius} 0 1 0 ${(2 * r).toFixed(2)} 0a${radius} ${radius} 0 1 0 ${(-2 * r).toFixed(2)} 0`;
}

/** Dots on a screen turned by 45 degrees; a dot's area is the tone below the hill at its place. */
function screen(): string {
  const parts: string[] = [];
  for (let row = 0; row * kPitch * 0.5 < kHeight; ++row) {
    const y = kHeight - row * kPitch * 0.5;
    for (let x = (row % 2) * kPitch * 0.5; x <= kWidth; x += kPitch) {
      const depth = hill(x / kWidth) * kHeight - (kHeight - y);
      const tone = Math.min(1, Math.max(0, depth / 92));
      if (tone > 0.012) parts.push(circle(x, y, kPitch * 0.43 * Math.sqrt(tone)));
    }
  }
  return parts.join('');
}

const kDots = screen();
const kGrid = Array.from(
  { length: kCodes },
  (_, code) => `M${(24 + (code * (kWidth - 48)) / (kCodes - 1)).toFixed(1)} ${kHeight + 6}v7`,
).join('');

export function Hero(): VNode {
  return (
    <svg class="hero" viewBox={`0 0 ${kWidth} ${kHeight + 14}`} aria-hidden="true">
      <path class="hero-dots" d={kDots} />
      <path class="hero-grid" d={kGrid} />
    </svg>
  );
}
