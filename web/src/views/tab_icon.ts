// Browsers ask for a tab's icon again whenever the address changes, and ours changes with every selection. The icon is
// therefore handed over as a piece of memory: nothing is requested while a person works.
import icon from '../pictures/icon.svg?raw';

export function keepTabIcon(): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (link !== null) link.href = URL.createObjectURL(new Blob([icon], { type: 'image/svg+xml' }));
}
