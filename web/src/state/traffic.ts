// The proof behind "nothing leaves this machine": every request that this page made, as the browser itself lists them.
import { signal } from '@preact/signals';

export interface Traffic {
  /** All requests to the page's own origin, the page itself included. */
  own: number;
  /** Requests to anywhere else. The content security policy refuses them; the browser lists attempts too. */
  foreign: number;
  /** Requests since the current model was opened. */
  sinceOpen: number;
  bytes: number;
}

export const traffic = signal<Traffic>({ own: 0, foreign: 0, sinceOpen: 0, bytes: 0 });

const kNetwork = /^https?:/;

export function startTraffic(): void {
  const observe = (entries: PerformanceEntryList): void => {
    let { own, foreign, sinceOpen, bytes } = traffic.value;
    for (const entry of entries as PerformanceResourceTiming[]) {
      if (!kNetwork.test(entry.name)) continue; // blob: addresses are memory, not network
      if (new URL(entry.name).origin === location.origin) own += 1;
      else foreign += 1;
      sinceOpen += 1;
      bytes += entry.transferSize;
    }
    traffic.value = { own, foreign, sinceOpen, bytes };
  };
  performance.setResourceTimingBufferSize(2000);
  new PerformanceObserver((list) => observe(list.getEntries())).observe({
    type: 'navigation',
    buffered: true,
  });
  new PerformanceObserver((list) => observe(list.getEntries())).observe({ type: 'resource', buffered: true });
}

export function markOpened(): void {
  traffic.value = { ...traffic.value, sinceOpen: 0 };
}
