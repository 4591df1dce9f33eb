import { defineConfig } from 'vitest/config';
import { viteReportScript } from './bindings/js/report_script.mjs';

// The page in a real browser. One file after another: each starts a browser of its own, and the machine may have two cores.
export default defineConfig({
  plugins: [viteReportScript()],
  test: {
    include: ['tests/e2e/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
  },
});
