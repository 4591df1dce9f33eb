import type { Plugin as EsbuildPlugin } from 'esbuild';
import type { Plugin as VitePlugin } from 'vite';

export const reportScript: EsbuildPlugin;
export function viteReportScript(): VitePlugin;
