// Colours of pictures. On the page they are the style sheet's, so that they follow light, dark and forced colours; a saved
// SVG carries its own, on paper.
export interface Palette {
  paper: string;
  ink: string;
  quiet: string;
  faint: string;
  line: string;
  accent: string;
  chosen: string;
  clear: string;
}

export const kPagePalette: Palette = {
  paper: 'var(--raised)',
  ink: 'var(--ink)',
  quiet: 'var(--quiet)',
  faint: 'var(--faint)',
  line: 'var(--line)',
  accent: 'var(--accent)',
  chosen: 'var(--chosen)',
  clear: 'transparent',
};

export const kPaperPalette: Palette = {
  paper: '#ffffff',
  ink: '#1c1b18',
  quiet: '#5d5a52',
  faint: '#8b877c',
  line: '#d5d0c3',
  accent: '#00637a',
  chosen: '#e7f0f0',
  clear: 'none',
};
