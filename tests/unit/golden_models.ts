// The small graphs of tests/golden with their samples, opened by the package.
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Engine, type Model, readSamples, type SampleSet } from '../../bindings/js/src/index.js';

const graphs = join(dirname(fileURLToPath(import.meta.url)), '..', 'golden', 'graphs');

export function graphPath(name: string): string {
  return join(graphs, `${name}.onnx`);
}

export function graphNames(): string[] {
  return readdirSync(graphs)
    .filter((file) => file.endsWith('.onnx'))
    .map((file) => file.slice(0, -'.onnx'.length))
    .sort();
}

/** The four samples of a graph: `graph.s<K>.<input>.npy` becomes `sample_<K>_<input>.npy`. */
export async function graphSamples(name: string, model: Model): Promise<SampleSet> {
  const prefix = `${name}.s`;
  const files = readdirSync(graphs)
    .filter((file) => file.startsWith(prefix) && file.endsWith('.npy'))
    .sort()
    .map((file) => {
      const [index, ...input] = file.slice(prefix.length).split('.');
      return { name: `sample_${index}_${input.join('.')}`, source: { path: join(graphs, file) } };
    });
  return readSamples(files, (await model.inspect()).model.inputs);
}

export async function openGraph(engine: Engine, name: string): Promise<{ model: Model; samples: SampleSet }> {
  const model = await engine.open({ path: graphPath(name) });
  return { model, samples: await graphSamples(name, model) };
}
