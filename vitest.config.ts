import { defineConfig } from 'vitest/config';
import { viteReportScript } from './bindings/js/report_script.mjs';

// Suites that share one machine's two cores: files run one after another, and nothing depends on time.
export default defineConfig({
  plugins: [viteReportScript()],
  test: {
    include: ['tests/**/*.test.ts'],
    exclude: ['tests/e2e/**', 'node_modules/**'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'forks',
  },
});
