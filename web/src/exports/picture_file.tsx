// A picture as a file of its own: drawn again outside the page, with its own colours, and turned into text.
import { type ComponentChildren, render } from 'preact';
import type { LossAxis } from '../pictures/loss_axis';
import { kPaperPalette } from '../pictures/palette';
import { describeRanking, kAxisHeight, RankingAxis, RankingBars } from '../pictures/ranking';
import { type Entry, layoutRanking } from '../pictures/ranking_layout';

const kWidth = 900;
const kMargin = 16;

export interface Sheet {
  title: string;
  description: string;
  width: number;
  height: number;
}

/** A white sheet with a margin around the picture. */
export function svgFile({ title, description, width, height }: Sheet, picture: ComponentChildren): string {
  const [outerWidth, outerHeight] = [width + 2 * kMargin, height + 2 * kMargin];
  const host = document.createElement('div');
  render(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      viewBox={`0 0 ${outerWidth} ${outerHeight}`}
      width={outerWidth}
      height={outerHeight}
      font-family="Helvetica, Arial, sans-serif"
    >
      <title>{title}</title>
      <desc>{description}</desc>
      <rect width="100%" height="100%" fill="#ffffff" />
      <g transform={`translate(${kMargin} ${kMargin})`}>{picture}</g>
    </svg>,
    host,
  );
  const svg = host.querySelector('svg');
  const text = svg === null ? '' : new XMLSerializer().serializeToString(svg);
  render(null, host);
  return `${text}\n`;
}

export function rankingSvg(
  entries: readonly Entry[],
  axis: LossAxis,
  threshold: number | null,
  title: string,
): string {
  const layout = layoutRanking(entries, axis, kWidth);
  const sheet = { title, description: describeRanking(entries, axis), width: kWidth };
  return svgFile(
    { ...sheet, height: layout.height + kAxisHeight },
    <>
      <RankingAxis layout={layout} palette={kPaperPalette} />
      <g transform={`translate(0 ${kAxisHeight})`}>
        <RankingBars
          {...{ entries, layout, threshold }}
          from={0}
          to={entries.length}
          chosen={null}
          palette={kPaperPalette}
        />
      </g>
    </>,
  );
}
