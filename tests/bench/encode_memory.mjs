// Encodes an array of 500 MB to NF4 by the command line and measures the largest memory that it takes: the ratio to input and
// output together, which may be 1.2 at most.  node tests/bench/encode_memory.mjs [megabytes]
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeLargeArray } from './support/large_array.mjs';

const LIMIT = 1.2;
const cli = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'bindings', 'js', 'dist', 'cli.js');
const megabytes = Number(process.argv[2] ?? 500);
const values = (megabytes * 1_000_000) / 4;
const folder = mkdtempSync(join(tmpdir(), 'halftone-encode-'));
const [input, output] = [join(folder, 'array.npy'), join(folder, 'array.pb')];

/** The system's own mark of the most memory that the process ever had, in bytes. */
function peak(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmHWM:\s*(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

try {
  writeLargeArray(input, values);
  const started = performance.now();
  const args = [cli, 'encode', input, '--format', 'nf4', '--block', '64', '-o', output];
  const child = spawn(process.execPath, args, { stdio: 'inherit' });
  let most = 0;
  const timer = setInterval(() => {
    try {
      most = Math.max(most, peak(child.pid));
    } catch {
      // It has ended.
    }
  }, 50);
  const code = await new Promise((resolve) => child.on('exit', resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`halftone encode ended with ${code}`);
  const seconds = (performance.now() - started) / 1000;
  const both = statSync(input).size + statSync(output).size;
  const ratio = most / both;
  const mb = (bytes) => (bytes / 1e6).toFixed(0);
  console.log(`input and output  ${mb(both)} MB`);
  console.log(`peak memory       ${mb(most)} MB`);
  console.log(`ratio             ${ratio.toFixed(3)} (at most ${LIMIT})`);
  console.log(
    `time              ${seconds.toFixed(1)} s, ${(megabytes / seconds).toFixed(0)} MB/s of floats`,
  );
  if (ratio > LIMIT) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}
