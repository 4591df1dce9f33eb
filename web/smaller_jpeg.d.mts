import type { Plugin } from 'vite';

export function withoutUnused(decoder: string): string;
export const smallerJpeg: Plugin;
