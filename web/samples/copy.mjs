// Puts the two bundled samples into the built page: models from node_modules (never committed), their sample files, and
// samples.json. A model that isn't the pinned one is an error, because the results that people compare would differ.
//
//   node web/samples/copy.mjs [TARGET]        TARGET defaults to bindings/js/dist/web/samples
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, '..', '..');

/** Where an installed package's file is. */
export function modelPath(model) {
  return join(ROOT, 'node_modules', model.package, model.path);
}

async function checkedModel(model) {
  const path = modelPath(model);
  const bytes = await readFile(path).catch(() => {
    throw new Error(`${path} is missing: run npm ci first`);
  });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== model.sha256) {
    throw new Error(`${path} is not the file of ${model.package} ${model.version}: its sha256 is ${sha256}`);
  }
  return path;
}

/** Copies everything that samples.json names into `target`/ID/. */
export async function copySamples(target) {
  const list = JSON.parse(await readFile(join(HERE, 'samples.json'), 'utf8'));
  for (const sample of list.samples) {
    const folder = join(target, sample.id);
    await mkdir(folder, { recursive: true });
    await copyFile(await checkedModel(sample.model), join(folder, sample.model.name));
    for (const file of sample.files) await copyFile(join(HERE, sample.folder, file), join(folder, file));
  }
  await copyFile(join(HERE, 'samples.json'), join(target, 'samples.json'));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const target = process.argv[2] ?? join(ROOT, 'bindings', 'js', 'dist', 'web', 'samples');
  try {
    await copySamples(target);
    console.log(`Samples copied to ${target}`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
