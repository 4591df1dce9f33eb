// The recipes of README for more than one machine, run as they stand there: with a shell loop in place of GNU parallel, and with
// the variables that Slurm and Kubernetes set. Every one must end in the bytes of a single run.
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openPaths, readSamples } from '../../bindings/js/src/samples/index.js';
import { float32Npy } from '../samples/make_files.js';

const N = 3;
const CLI = resolve('bindings/js/dist/cli.js');
const SAMPLE = JSON.parse(readFileSync('web/samples/samples.json', 'utf8')).samples[0];
let folder: string;

function recipe(name: string): string {
  const blocks = [
    ...readFileSync(resolve(home, 'README.md'), 'utf8').matchAll(/```(?:sh|yaml)\n([\s\S]*?)```/g),
  ];
  const found = blocks.map((block) => block[1]!).filter((text) => text.includes(`# recipe: ${name}`));
  expect(found).toHaveLength(1);
  return found[0]!;
}

const home = process.cwd();

/** Reads numbers, and runs what stands after its own options once for each, with the number in place of {}. */
const PARALLEL = `#!/bin/bash
while [ "$1" != halftone ]; do shift; done
while read -r i; do "\${@//\\{\\}/$i}" || exit 1; done
`;

function program(name: string, text: string): void {
  writeFileSync(join(folder, 'bin', name), text);
  chmodSync(join(folder, 'bin', name), 0o755);
}

function bash(script: string, variables: Record<string, string> = {}): void {
  const env = { ...process.env, PATH: `${join(folder, 'bin')}${delimiter}${process.env.PATH}`, ...variables };
  const { status, stderr } = spawnSync('bash', ['-e'], { input: script, cwd: folder, env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
}

function merged(): Buffer {
  bash('halftone merge shard-*.json -o merged.json');
  return readFileSync(join(folder, 'merged.json'));
}

beforeAll(() => {
  expect(existsSync(CLI), `${CLI} is missing: run npm run build first`).toBe(true);
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'halftone-recipes-'));
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'samples'));
  program('halftone', `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(CLI)} "$@"\n`);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The bundled model and two of its samples. */
async function bundledSample(): Promise<void> {
  copyFileSync(join('node_modules', SAMPLE.model.package, SAMPLE.model.path), join(folder, 'model.onnx'));
  const files = SAMPLE.files.slice(0, 2).map((file: string) => join('web/samples', SAMPLE.folder, file));
  const inputs = [{ name: 'x', type: 'float32', shape: [1, 3, 48, 192] }];
  const samples = await readSamples(openPaths(files), inputs, SAMPLE.images);
  for (let i = 0; i < samples.count; ++i) {
    const { dims, data } = (await samples.load(i)).x!;
    writeFileSync(join(folder, 'samples', `${i}.npy`), float32Npy(dims, [...(data as Float32Array)]));
  }
}

function smallGraph(): void {
  copyFileSync('tests/golden/graphs/g01_res_identity.onnx', join(folder, 'model.onnx'));
  for (const i of [0, 1])
    copyFileSync(`tests/golden/graphs/g01_res_identity.s${i}.x.npy`, join(folder, 'samples', `${i}.npy`));
}

/** What all parts together must be. */
function singleRun(): Buffer {
  bash('halftone sensitivity model.onnx --samples samples --quiet -o whole.json');
  return readFileSync(join(folder, 'whole.json'));
}

describe('the recipes', () => {
  it('GNU parallel, its lines in a plain loop, on the bundled model', async () => {
    await bundledSample();
    program('parallel', PARALLEL);
    const text = recipe('parallel');
    expect(text).toContain(`N=${N}\n`);
    bash(text);
    const whole = singleRun();
    expect(JSON.parse(whole.toString()).ranking.length).toBeGreaterThan(100);
    expect(readFileSync(join(folder, 'sensitivity.json')).equals(whole)).toBe(true);
  });

  it('a Slurm array, a task of which is queued again', () => {
    smallGraph();
    const script = recipe('slurm');
    const task = (i: number) =>
      bash(script, {
        SLURM_ARRAY_TASK_ID: String(i),
        SLURM_ARRAY_TASK_COUNT: String(N),
        SLURM_CPUS_PER_TASK: '2',
      });
    for (let i = 1; i <= N; ++i) task(i);
    const first = readFileSync(join(folder, 'shard-1.json'));
    task(1);
    expect(readFileSync(join(folder, 'shard-1.json')).equals(first)).toBe(true);
    expect(merged().equals(singleRun())).toBe(true);
    const options = [...script.matchAll(/^#SBATCH (--[a-z-]+)(?:=\S+)?$/gm)].map((match) => match[1]);
    expect(options).toEqual(['--array', '--cpus-per-task', '--time', '--signal', '--requeue']);
  });

  it('a Kubernetes Indexed Job', () => {
    smallGraph();
    const job = parse(recipe('kubernetes'));
    expect([job.apiVersion, job.kind, job.spec.completionMode]).toEqual(['batch/v1', 'Job', 'Indexed']);
    const { containers, volumes, restartPolicy } = job.spec.template.spec;
    expect(restartPolicy).not.toBe('Always');
    const [{ command, args, env, volumeMounts, workingDir }] = containers;
    expect(command).toEqual(['bash', '-c']);
    expect(env).toEqual([{ name: 'PARTS', value: String(job.spec.completions) }]);
    expect(volumeMounts).toEqual([{ name: volumes[0].name, mountPath: workingDir }]);
    for (let i = 0; i < N; ++i) bash(args[0], { JOB_COMPLETION_INDEX: String(i), PARTS: String(N) });
    expect(merged().equals(singleRun())).toBe(true);
  });

  it('are all valid shell', () => {
    for (const text of [
      recipe('parallel'),
      recipe('slurm'),
      parse(recipe('kubernetes')).spec.template.spec.containers[0].args[0],
    ])
      execFileSync('bash', ['-n'], { input: text });
  });
});
