// The proof behind "nothing leaves this machine": every request that this page made, as the browser itself lists them.
import { signal } from '@preact/signals';

export interface Traffic {
  /** All requests to the page's own origin, the page itself included. */
  own: number;
  /** Attempts to reach anywhere else: the policy refuses them, and the browser says so. */
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
  let counted: string | null = null;
  document.addEventListener('securitypolicyviolation', ({ blockedURI, originalPolicy }) => {
    // Header and <meta> each report the same attempt; the one that spoke first is counted.
    counted ??= originalPolicy;
    if (originalPolicy !== counted) return;
    if (!kNetwork.test(blockedURI) || new URL(blockedURI).origin === location.origin) return;
    const { foreign, sinceOpen } = traffic.value;
    traffic.value = { ...traffic.value, foreign: foreign + 1, sinceOpen: sinceOpen + 1 };
  });
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
