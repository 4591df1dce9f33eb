// A picture as a file of its own: drawn again outside the page, with its own colours, and turned into text.
import { render } from 'preact';
import { kPaperPalette } from '../pictures/palette';
import { describeRanking, kAxisHeight, RankingAxis, RankingBars } from '../pictures/ranking';
import { type Entry, layoutRanking } from '../pictures/ranking_layout';

const kWidth = 900;
const kMargin = 16;

export function rankingSvg(entries: readonly Entry[], title: string): string {
  const layout = layoutRanking(entries, kWidth);
  const height = layout.height + kAxisHeight + 2 * kMargin;
  const host = document.createElement('div');
  render(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      viewBox={`0 0 ${kWidth + 2 * kMargin} ${height}`}
      width={kWidth + 2 * kMargin}
      height={height}
      font-family="Helvetica, Arial, sans-serif"
    >
      <title>{title}</title>
      <desc>{describeRanking(entries)}</desc>
      <rect width="100%" height="100%" fill="#ffffff" />
      <g transform={`translate(${kMargin} ${kMargin})`}>
        <RankingAxis layout={layout} palette={kPaperPalette} />
        <g transform={`translate(0 ${kAxisHeight})`}>
          <RankingBars
            entries={entries}
            layout={layout}
            from={0}
            to={entries.length}
            chosen={null}
            palette={kPaperPalette}
          />
        </g>
      </g>
    </svg>,
    host,
  );
  const svg = host.querySelector('svg');
  const text = svg === null ? '' : new XMLSerializer().serializeToString(svg);
  render(null, host);
  return `${text}\n`;
}
