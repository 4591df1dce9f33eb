// Keeps the address and the state in step. Selecting replaces the entry, so that Back leaves a step, not a row.
import { batch, effect } from '@preact/signals';
import { type Address, readAddress, writeAddress } from './address';
import { alarm } from './announce';
import { listing, notice, options, order, picture, presentation, selected, step, sweep } from './store';

function current(): Address {
  return {
    step: step.value,
    picture: picture.value,
    presentation: presentation.value,
    order: order.value,
    listing: listing.value,
    tensor: selected.value,
    options: options.value,
    sweep: sweep.value,
  };
}

function take(hash: string): void {
  const { address, ignored } = readAddress(hash);
  batch(() => {
    step.value = address.step;
    picture.value = address.picture;
    sweep.value = address.sweep;
    presentation.value = address.presentation;
    order.value = address.order;
    listing.value = address.listing;
    selected.value = address.tensor;
    options.value = address.options;
    if (ignored.length > 0) notice.value = 'Part of the address was not understood and was left out.';
  });
  if (ignored.length > 0) alarm('Part of the address was not understood and was left out.');
}

/** `onOptions` runs after an address brought other options than before. */
export function startAddress(onOptions: () => void): void {
  take(location.hash);
  addEventListener('hashchange', () => {
    if (location.hash.replace(/^#/, '') === writeAddress(current())) return;
    const before = JSON.stringify(options.value);
    take(location.hash);
    if (JSON.stringify(options.value) !== before) onOptions();
  });
  effect(() => {
    const hash = writeAddress(current());
    if (hash === location.hash.replace(/^#/, '')) return;
    history.replaceState(null, '', hash === '' ? location.pathname + location.search : `#${hash}`);
  });
}
