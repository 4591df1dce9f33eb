// Where bars, ranges and codes go.
import { describe, expect, test } from 'vitest';
import type { SensitivityRow } from '../../web/src/package.js';
import { layoutColumns } from '../../web/src/pictures/columns_layout.js';
import { layoutHistogram } from '../../web/src/pictures/histogram_layout.js';
import { decibelEnd, lossAxis } from '../../web/src/pictures/loss_axis.js';
import { axisOf, entriesInGraph, layoutRanking, ordered } from '../../web/src/pictures/ranking_layout.js';
import { ticks } from '../../web/src/pictures/scale.js';
import type { Order } from '../../web/src/state/address.js';
import { kPsnr } from '../../web/src/state/sweep.js';
import { fakePlan, fakeScore } from './fake_bench.js';

const kSites = fakePlan(6, {}).sites;
const kRows: SensitivityRow[] = kSites.map((site, order) => ({
  name: site.tensor,
  score: fakeScore(order),
  role: site.role === 'weight' ? 'weight' : 'activation',
  order,
  sites: [site.tensor],
  interval: null,
  samples: 8,
}));

const entriesOf = (rows: readonly SensitivityRow[], order: Order, higherIsWorse = false) =>
  ordered(entriesInGraph(kSites, rows), order, higherIsWorse);

describe('ranking', () => {
  const ties: SensitivityRow[] = [
    { ...kRows[3]!, score: 50 },
    { ...kRows[1]!, score: 50 },
    { ...kRows[5]!, score: 41 },
    { ...kRows[4]!, score: Number.NaN },
  ];

  test('worst first, ties in site order, unknown ones last', () => {
    const names = entriesOf(ties, 'worst').map((entry) => entry.order);
    expect(names).toEqual([4, 5, 1, 3, 0, 2, 6, 7, 8, 9, 10, 11]);
    expect(entriesOf(ties, 'graph').map((entry) => entry.order)).toEqual(kSites.map((_, index) => index));
  });

  test('a metric whose higher values are worse turns the order, and nothing else', () => {
    const names = entriesOf(ties, 'worst', true).map((entry) => entry.order);
    expect(names).toEqual([4, 1, 3, 5, 0, 2, 6, 7, 8, 9, 10, 11]);
  });

  test('groups are known by their rows alone, and keep the order of the graph', () => {
    const rows = [
      { ...kRows[0]!, name: 'Relu', order: 1, sites: ['a', 'b'], role: undefined },
      { ...kRows[0]!, name: 'Conv', order: 0, sites: ['c'], role: undefined },
    ] as unknown as SensitivityRow[];
    const entries = entriesInGraph(null, rows);
    expect(entries.map(({ name, role }) => [name, role])).toEqual([
      ['Conv', 'group'],
      ['Relu', 'group'],
    ]);
  });

  test('a longer bar is more loss, and nothing is drawn at no loss', () => {
    const entries = entriesOf(kRows, 'worst');
    const layout = layoutRanking(entries, axisOf(kPsnr, entries), 900);
    const lengths = entries.map((entry) => layout.length(entry.score ?? 100));
    expect(lengths).toEqual([...lengths].sort((a, b) => b - a));
    expect(layout.length(100)).toBe(0);
    expect(layout.length(140)).toBe(0);
    expect(layout.length(layout.axis.at(1))).toBeCloseTo(layout.right - layout.zero, 9);
    expect(layout.length(Number.NaN)).toBeCloseTo(layout.right - layout.zero, 9);
    expect(layout.height).toBe(entries.length * layout.rowHeight);
  });

  test('the axis is round, and reaches beyond the worst', () => {
    expect([99, 41, 39.9, -5, -100, -180].map(decibelEnd)).toEqual([40, 40, 30, -10, -100, -100]);
    const entries = entriesOf(kRows, 'worst');
    const { ticks } = layoutRanking(entries, axisOf(kPsnr, entries), 360);
    expect(ticks[0]?.value).toBe(100);
    for (const [index, tick] of ticks.entries())
      if (index > 0) expect(tick.x - ticks[index - 1]!.x).toBeGreaterThan(40);
  });
});

describe('axes of loss', () => {
  test('errors are apart by their powers of ten, larger is longer, zero costs nothing', () => {
    const axis = lossAxis({ metric: 'mse', higherIsWorse: true }, [0, 1e-7, 3e-4, 0.02]);
    expect(axis.ticks(8)).toEqual(
      [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1].map((value) => expect.closeTo(value, 12)),
    );
    expect(axis.share(0)).toBe(0);
    expect(axis.share(1e-4)).toBeCloseTo(0.5, 12);
    expect(axis.share(0.02)).toBeLessThan(1);
    expect(axis.at(axis.share(3e-4))).toBeCloseTo(3e-4, 12);
  });

  test('a likeness of one costs nothing, and the axis ends at a round figure below the worst', () => {
    const axis = lossAxis({ metric: 'cosine', higherIsWorse: false }, [0.9993, 0.9871]);
    expect(axis.share(1)).toBe(0);
    expect(axis.at(1)).toBeCloseTo(0.986, 12);
    expect(axis.share(0.9871)).toBeLessThan(1);
    expect(axis.at(axis.share(0.99))).toBeCloseTo(0.99, 12);
  });

  test('round values', () => {
    expect(ticks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(ticks(-2, 2, 5)).toEqual([-2, -1, 0, 1, 2]);
    expect(ticks(0.1, 0.7, 6)).toEqual([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]);
    expect(ticks(131, 989, 4)).toEqual([200, 400, 600, 800]);
    expect(ticks(5, 5, 4)).toEqual([5]);
    expect(ticks(0, Number.POSITIVE_INFINITY, 4)).toEqual([]);
  });
});

describe('columns', () => {
  const item = (low: number | null, high = low) => ({ key: String(low), low, high, solid: true, title: '' });

  test('fit the box while they can, and scroll when there are many', () => {
    const few = layoutColumns(
      Array.from({ length: 10 }, (_, at) => item(at)),
      { width: 700, height: 300 },
      'even',
    );
    expect(few.width).toBe(700);
    expect(few.y(9)).toBeLessThan(few.y(0));
    const many = layoutColumns(
      Array.from({ length: 1000 }, (_, at) => item(at)),
      { width: 700, height: 300 },
      'even',
    );
    expect(many.width).toBeGreaterThan(4000);
  });

  test('both signs lie around zero, apart by their powers of ten', () => {
    const layout = layoutColumns([item(-10, 10), item(-0.1, 0.1)], { width: 400, height: 300 }, 'both signs');
    const above = layout.y(0) - layout.y(0.1);
    expect(above).toBeGreaterThan(0.2 * (layout.y(0) - layout.y(10)));
    expect(layout.y(-0.1) - layout.y(0)).toBeCloseTo(above, 9);
    expect(layout.ticks.map(({ value }) => value)).toContain(0);
  });

  test('what is no number leaves its place empty and the others where they are', () => {
    const layout = layoutColumns([item(null), item(3), item(5)], { width: 400, height: 300 }, 'even');
    expect(layout.y(5)).toBeLessThan(layout.y(3));
    expect(Number.isFinite(layout.y(3))).toBe(true);
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
