// Starts the page: theme, address, drop, engine ahead of need.
import { effect } from '@preact/signals';
import { render } from 'preact';
import { startRaising } from './actions/change';
import { useBench } from './actions/context';
import { startInspecting } from './actions/inspect';
import { updatePlan } from './actions/plan';
import { startPreviewing } from './actions/preview';
import { halftoneBench } from './engine/halftone';
import { startAddress } from './state/address_sync';
import { build } from './state/build';
import { idle } from './state/store';
import { startTheme } from './state/theme';
import { startTraffic } from './state/traffic';
import { missingFeature } from './support';
import { App } from './views/app';
import { loadMoreWithModel } from './views/more';
import { keepTabIcon } from './views/tab_icon';
import { Unsupported } from './views/unsupported';
import { listenToWindow } from './views/window_events';

function start(host: HTMLElement): void {
  startTheme(document.documentElement);
  const missing = missingFeature();
  if (missing !== null) {
    render(<Unsupported {...missing} />, host);
    return;
  }
  keepTabIcon();
  const bench = halftoneBench();
  useBench(bench);
  startTraffic();
  startAddress(() => void updatePlan());
  startInspecting();
  startPreviewing();
  startRaising();
  loadMoreWithModel();
  listenToWindow();
  render(<App />, host);
  effect(() => {
    document.documentElement.dataset.idle = String(idle.value);
  });
  const warmUp = async (): Promise<void> => {
    // What fails here fails again on opening, and is said there.
    const core = await bench.warm().catch(() => null);
    if (core !== null) build.value = { version: core.version, commit: core.commit };
  };
  const warm = (): void => {
    requestIdleCallback(() => void warmUp(), { timeout: 2000 });
  };
  if (document.readyState === 'complete') warm();
  else addEventListener('load', warm, { once: true });
}

const host = document.getElementById('app');
if (host !== null) start(host);
