// Numbers as people read them: a unit, sensible digits, the same in every locale. Exports never pass through here.

const kNoBreak = '\u00a0';
const kMinus = '\u2212';

function withMinus(text: string): string {
  return text.startsWith('-') ? kMinus + text.slice(1) : text;
}

/** Groups of three digits, a thin space between them: 12 345. */
export function count(value: number): string {
  const digits = String(Math.round(Math.abs(value))).replace(/\B(?=(\d{3})+$)/g, '\u202f');
  return value < 0 ? kMinus + digits : digits;
}

/** "1 file", "8 files". */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)}${kNoBreak}${value === 1 ? one : many}`;
}

/** Decimal units, as file managers and download lists print them. */
export function bytes(value: number): string {
  if (value < 1000) return `${Math.round(value)}${kNoBreak}B`;
  const units = ['kB', 'MB', 'GB'];
  let scaled = value / 1000;
  let unit = 0;
  while (scaled >= 999.5 && unit < units.length - 1) {
    scaled /= 1000;
    unit += 1;
  }
  const digits = scaled < 10 ? 2 : scaled < 100 ? 1 : 0;
  return `${scaled.toFixed(digits)}${kNoBreak}${units[unit]}`;
}

export function decibel(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return '\u2013';
  return `${withMinus(value.toFixed(2))}${kNoBreak}dB`;
}

/** Decibel without its unit, for columns whose header names it. */
export function decibelFigure(value: number | null): string {
  return value === null || !Number.isFinite(value) ? '\u2013' : withMinus(value.toFixed(2));
}

/** Up to `digits` significant digits; powers of ten only where plain digits would be long. */
export function significant(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return '\u2013';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split('e') as [string, string];
    return `${withMinus(trimZeros(mantissa))}e${withMinus(exponent.replace('+', ''))}`;
  }
  return withMinus(trimZeros(value.toPrecision(digits)));
}

function trimZeros(text: string): string {
  return text.includes('.') && !text.includes('e') ? text.replace(/\.?0+$/, '') : text;
}

/** A share from 0 to 1 as per cent. A share that is not zero never reads as zero. */
export function percent(share: number): string {
  if (share === 0) return `0${kNoBreak}%`;
  const value = share * 100;
  if (value < 0.01) return `<${kNoBreak}0.01${kNoBreak}%`;
  return `${value < 10 ? value.toFixed(2) : value.toFixed(1)}${kNoBreak}%`;
}

/** What is left of a job: "12 s left", "3 min left". */
export function timeLeft(seconds: number): string {
  if (seconds < 1) return `under 1${kNoBreak}s left`;
  if (seconds < 99.5) return `${Math.round(seconds)}${kNoBreak}s left`;
  return `${Math.round(seconds / 60)}${kNoBreak}min left`;
}

export function shape(dims: readonly (number | string | null)[] | null): string {
  if (dims === null) return 'unknown shape';
  if (dims.length === 0) return 'scalar';
  return dims.map((dim) => (dim === null ? '?' : String(dim))).join('\u2009\u00d7\u2009');
}

/** A hostile name made safe to lay out: control and direction characters become visible marks, long names are cut in the middle. */
export function printable(name: string, limit = 96): string {
  const safe = name.replace(
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    '\ufffd',
  );
  if (safe.length <= limit) return safe;
  const head = Math.ceil((limit - 1) * 0.6);
  return `${safe.slice(0, head)}\u2026${safe.slice(safe.length - (limit - 1 - head))}`;
}
