// Light, dark, or as the system says. The choice is the only thing the page stores.
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
export const kThemes: readonly Theme[] = ['system', 'light', 'dark'];

const kStorageKey = 'halftone.theme';

function stored(): Theme {
  try {
    const value = localStorage.getItem(kStorageKey);
    return value === 'light' || value === 'dark' ? value : 'system';
  } catch {
    return 'system'; // Storage can be forbidden; the choice then lasts until the page is left.
  }
}

export const theme = signal<Theme>('system');

export function startTheme(root: HTMLElement): void {
  theme.value = stored();
  effect(() => {
    if (theme.value === 'system') root.removeAttribute('data-theme');
    else root.dataset.theme = theme.value;
  });
}

export function chooseTheme(choice: Theme): void {
  theme.value = choice;
  try {
    if (choice === 'system') localStorage.removeItem(kStorageKey);
    else localStorage.setItem(kStorageKey, choice);
  } catch {
    // See stored().
  }
}
