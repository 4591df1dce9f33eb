// Names, sizes and scores as people read them, wherever they are shown. Exports never pass through here.

/** A name from a model or a file: without control characters, line breaks and marks that turn the direction of text. */
export function printable(name: string): string {
  return name.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, '');
}

export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(bytes < 1e4 ? 1 : 0)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(2)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

export function decibels(score: number | null): string {
  return score === null || Number.isNaN(score) ? 'n/a' : `${score.toFixed(2)} dB`;
}
