// The lines of a PNG: from what its data inflates to, to bytes of pixels. PNG specification, third edition, parts 8 and 9.

/** An image, or one of the seven that an interlaced one is sent as: its first pixel, and how far apart its pixels are. */
export interface Pass {
  x: number;
  y: number;
  stepX: number;
  stepY: number;
}

const WHOLE: readonly Pass[] = [{ x: 0, y: 0, stepX: 1, stepY: 1 }];
const ADAM7: readonly Pass[] = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
].map(([x = 0, y = 0, stepX = 1, stepY = 1]) => ({ x, y, stepX, stepY }));

export interface PngLayout {
  width: number;
  height: number;
  /** Of all channels of a pixel together. Interlaced images have whole bytes. */
  bitsPerPixel: number;
  interlaced: boolean;
}

interface PassLines {
  pass: Pass;
  columns: number;
  rows: number;
  lineBytes: number;
}

/** Passes that hold a pixel at all, in the order in which their lines come. */
function passesOf({ width, height, bitsPerPixel, interlaced }: PngLayout): PassLines[] {
  return (interlaced ? ADAM7 : WHOLE)
    .map((pass) => {
      const columns = Math.ceil((width - pass.x) / pass.stepX);
      const rows = Math.ceil((height - pass.y) / pass.stepY);
      return { pass, columns, rows, lineBytes: Math.ceil((bitsPerPixel * columns) / 8) };
    })
    .filter(({ columns, rows }) => columns > 0 && rows > 0);
}

/** Bytes of all lines, each with the byte of its filter in front. */
export function lineBytesOf(layout: PngLayout): number {
  return passesOf(layout).reduce((sum, { rows, lineBytes }) => sum + rows * (1 + lineBytes), 0);
}

/** How much of `a` is left, `b` is above and `c` above to the left; what is nearest to a + b - c. */
function paeth(a: number, b: number, c: number): number {
  const [fromA, fromB, fromC] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
  if (fromA <= fromB && fromA <= fromC) return a;
  return fromB <= fromC ? b : c;
}

/** Undoes a line's filter in place. `above` is the line before it, of zeros for the first. False for a filter that isn't known. */
function undoFilter(filter: number, line: Uint8Array, above: Uint8Array, step: number): boolean {
  if (filter > 4) return false;
  for (let i = 0; filter > 0 && i < line.length; ++i) {
    const a = i < step ? 0 : (line[i - step] ?? 0);
    const b = above[i] ?? 0;
    const c = i < step ? 0 : (above[i - step] ?? 0);
    const predicted = [0, a, b, (a + b) >> 1, filter === 4 ? paeth(a, b, c) : 0][filter] ?? 0;
    line[i] = (line[i] ?? 0) + predicted;
  }
  return true;
}

/** Lines from the top, each from a whole byte on; null if a filter isn't known. `lines` has lineBytesOf(layout) bytes and is used up. */
export function pixelBytes(lines: Uint8Array, layout: PngLayout): Uint8Array | null {
  const { width, height, bitsPerPixel } = layout;
  const step = Math.max(1, bitsPerPixel >> 3);
  const fullLine = Math.ceil((bitsPerPixel * width) / 8);
  const out = new Uint8Array(fullLine * height);
  let at = 0;
  for (const { pass, columns, rows, lineBytes } of passesOf(layout)) {
    let above: Uint8Array = new Uint8Array(lineBytes);
    for (let row = 0; row < rows; ++row) {
      const line = lines.subarray(at + 1, at + 1 + lineBytes);
      if (!undoFilter(lines[at] ?? 0, line, above, step)) return null;
      const start = (pass.y + row * pass.stepY) * fullLine;
      if (pass.stepX === 1 && pass.x === 0) out.set(line, start);
      else {
        for (let column = 0; column < columns; ++column) {
          const pixel = line.subarray(column * step, (column + 1) * step);
          out.set(pixel, start + (pass.x + column * pass.stepX) * step);
        }
      }
      above = line;
      at += 1 + lineBytes;
    }
  }
  return out;
}

let table: Uint32Array | null = null;

function crcTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; ++bit) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    return value;
  });
}

/** The check that a chunk ends with, over its type and data. */
export function crc32(bytes: Uint8Array): number {
  table ??= crcTable();
  let value = 0xffffffff;
  for (const byte of bytes) value = (value >>> 8) ^ (table[(value ^ byte) & 255] ?? 0);
  return ~value >>> 0;
}
