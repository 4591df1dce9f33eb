// Where bars, ranges and codes go.
import { describe, expect, test } from 'vitest';
import { layoutHistogram } from '../../web/src/pictures/histogram_layout.js';
import { axisEnd, entriesOf, layoutRanking } from '../../web/src/pictures/ranking_layout.js';
import { fakePlan, fakeScore } from './fake_bench.js';

const kSites = fakePlan(6, {}).sites;
const kRows = kSites.map((site, order) => ({
  name: site.tensor,
  score: fakeScore(order),
  role: site.role === 'weight' ? ('weight' as const) : ('activation' as const),
  order,
}));

describe('ranking', () => {
  test('worst first, ties in site order, unknown ones last', () => {
    const rows = [
      { ...kRows[3]!, score: 50 },
      { ...kRows[1]!, score: 50 },
      { ...kRows[5]!, score: 41 },
      { ...kRows[4]!, score: Number.NaN },
    ];
    const names = entriesOf(kSites, rows, 'worst').map((entry) => entry.order);
    expect(names).toEqual([4, 5, 1, 3, 0, 2, 6, 7, 8, 9, 10, 11]);
    expect(entriesOf(kSites, rows, 'graph').map((entry) => entry.order)).toEqual(
      kSites.map((_, index) => index),
    );
  });

  test('a longer bar is more loss, and nothing is drawn at no loss', () => {
    const entries = entriesOf(kSites, kRows, 'worst');
    const layout = layoutRanking(entries, 900);
    const lengths = entries.map((entry) => layout.length(entry.score ?? 100));
    expect(lengths).toEqual([...lengths].sort((a, b) => b - a));
    expect(layout.length(100)).toBe(0);
    expect(layout.length(140)).toBe(0);
    expect(layout.length(axisEnd(entries))).toBeCloseTo(layout.right - layout.zero, 9);
    expect(layout.height).toBe(entries.length * layout.rowHeight);
  });

  test('the axis is round, and reaches beyond the worst', () => {
    const withScore = (score: number) => axisEnd([{ name: 'a', role: 'weight', order: 0, score }]);
    expect([99, 41, 39.9, -5, -100, -180].map(withScore)).toEqual([40, 40, 30, -10, -100, -100]);
    const { ticks } = layoutRanking(entriesOf(kSites, kRows, 'worst'), 360);
    expect(ticks[0]?.value).toBe(100);
    for (const [index, tick] of ticks.entries())
      if (index > 0) expect(tick.x - ticks[index - 1]!.x).toBeGreaterThan(40);
  });
});

describe('histogram', () => {
  const statistics = { min: -2, max: 2, histogram: [1, 0, 4, 8] };
  const encoding = { min: [-1], max: [1], scale: [0.25], format: 'int4' as const };

  test('bins outside the range are clipped, codes lie on multiples of the scale', () => {
    const layout = layoutHistogram({ statistics, encoding, width: 400, height: 100, logarithmic: false });
    expect(layout.bars.map((bar) => bar.height)).toEqual([12.5, 0, 50, 100]);
    expect(layout.bars.map((bar) => bar.clipped)).toEqual([false, false, false, false]);
    expect(layout.range).toMatchObject({ from: 100, to: 300 });
    expect(layout.everyCode).toBe(1);
    expect(layout.codes).toEqual([100, 125, 150, 175, 200, 225, 250, 275, 300]);
    const narrow = layoutHistogram({
      statistics,
      encoding: { ...encoding, min: [-0.5], max: [0.5] },
      width: 400,
      height: 100,
      logarithmic: true,
    });
    expect(narrow.bars.map((bar) => bar.clipped)).toEqual([true, false, false, true]);
  });

  test('codes are thinned until they stay apart, and left out per channel', () => {
    const fine = { min: [-1], max: [1], scale: [2 / 255], format: 'uint8' as const };
    const layout = layoutHistogram({
      statistics,
      encoding: fine,
      width: 400,
      height: 100,
      logarithmic: false,
    });
    expect(layout.everyCode).toBe(8); // One code is 0.78 pixels wide; eight are the first power of two beyond four pixels.
    const channels = { min: [-1, -2], max: [1, 2], scale: [0.1, 0.2], format: 'int8' as const };
    expect(
      layoutHistogram({ statistics, encoding: channels, width: 400, height: 100, logarithmic: false }).codes,
    ).toEqual([]);
  });

  test('a constant and an empty tensor still have a picture', () => {
    const constant = layoutHistogram({
      statistics: { min: 3, max: 3, histogram: [7] },
      encoding: null,
      width: 300,
      height: 100,
      logarithmic: false,
    });
    expect(constant.bars).toHaveLength(1);
    expect(constant.bars[0]).toMatchObject({ x: 150, height: 100, clipped: false });
    const nothing = layoutHistogram({
      statistics: { min: Number.NaN, max: Number.NaN, histogram: [] },
      encoding: null,
      width: 300,
      height: 100,
      logarithmic: false,
    });
    expect(nothing.bars).toEqual([]);
  });
});
