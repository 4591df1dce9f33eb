import type { Plugin } from 'vite';

export const packageOnly: Plugin;
