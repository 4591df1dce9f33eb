// Which Halftone this is. The page knows its own commit; the core's, once it is there, is the one that models are written with.
import { signal } from '@preact/signals';
import type { Build } from '../engine/bench';

export const build = signal<Build>({ version: __VERSION__, commit: __COMMIT__ });
