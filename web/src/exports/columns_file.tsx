// A picture of columns as a file of its own.
import { Columns, ColumnTicks } from '../pictures/columns';
import { type Item, layoutColumns, type Spread } from '../pictures/columns_layout';
import { kPaperPalette } from '../pictures/palette';
import { svgFile } from './picture_file';

const kBox = { width: 900, height: 360 };

export function columnsSvg(
  items: readonly Item[],
  spread: Spread,
  joined: boolean,
  words: { title: string; description: string },
): string {
  const layout = layoutColumns(items, kBox, spread);
  return svgFile(
    { ...words, width: layout.width, height: layout.height },
    <>
      <ColumnTicks layout={layout} palette={kPaperPalette} />
      <Columns
        {...{ items, layout, joined }}
        from={0}
        to={items.length}
        chosen={null}
        palette={kPaperPalette}
      />
    </>,
  );
}
