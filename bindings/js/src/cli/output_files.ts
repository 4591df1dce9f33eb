// Files that a command writes: never over the input, over another file only with --force, and never half a file.
import {
  closeSync,
  createWriteStream,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { HalftoneError } from '../shared/errors.js';

function identity(path: string): { device: bigint; file: bigint; folder: boolean; ordinary: boolean } | null {
  try {
    const facts = statSync(path, { bigint: true });
    return { device: facts.dev, file: facts.ino, folder: facts.isDirectory(), ordinary: facts.isFile() };
  } catch {
    // Not there, or not to be seen: if it can't be written either, writing says why.
    return null;
  }
}

/** Links are followed, so another name of the same file is the same file. */
function sameFile(a: string, b: string): boolean {
  const [left, right] = [identity(a), identity(b)];
  return left !== null && right !== null && left.device === right.device && left.file === right.file;
}

/** Called before any work, so that an hour of scoring doesn't end in a refusal. `inputs` are files that are read. */
export function checkOutput(path: string, inputs: readonly string[], force: boolean): void {
  const clash = inputs.find((input) => sameFile(input, path));
  if (clash !== undefined) {
    throw new HalftoneError(
      'invalid_state',
      `The output ${path} is the input ${clash}, which is never overwritten.`,
      {
        where: path,
        next: 'Give another name after -o.',
      },
    );
  }
  const there = identity(path);
  if (there?.folder) {
    throw new HalftoneError('invalid_state', `The output ${path} is a folder.`, {
      where: path,
      next: 'Give the name of a file after -o.',
    });
  }
  // A file that is complete takes the name: /dev/null would be one from then on.
  if (there?.ordinary === false) {
    throw new HalftoneError(
      'invalid_state',
      `The output ${path} is a device or a pipe, which isn't replaced.`,
      {
        where: path,
        next: 'Give the name of a file after -o.',
      },
    );
  }
  if (there !== null && !force) {
    throw new HalftoneError('invalid_state', `The output ${path} exists already.`, {
      where: path,
      next: 'Give another name after -o, or --force to replace it.',
    });
  }
}

/** Makes the folder if it's missing. The file appears under its name when it is complete. */
export async function writeOutput(path: string, content: string | Blob): Promise<number> {
  const blob = typeof content === 'string' ? new Blob([content]) : content;
  const partial = join(dirname(path), `.${basename(path)}.${process.pid}.part`);
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (cause) {
    throw unwritable(path, cause);
  }
  try {
    await pipeline(Readable.fromWeb(blob.stream() as never), createWriteStream(partial));
    renameSync(partial, path);
  } catch (cause) {
    rmSync(partial, { force: true });
    throw unwritable(path, cause);
  }
  return blob.size;
}

/** A file that is written bit by bit, and appears under its name when it is complete. */
export class GrowingOutput {
  private readonly partial: string;
  private readonly file: number;

  constructor(private readonly path: string) {
    this.partial = join(dirname(path), `.${basename(path)}.${process.pid}.part`);
    try {
      mkdirSync(dirname(path), { recursive: true });
      this.file = openSync(this.partial, 'w');
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }

  write(bytes: Uint8Array): void {
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(this.file, bytes, done);
    } catch (cause) {
      throw unwritable(this.path, cause);
    }
  }

  finish(): void {
    closeSync(this.file);
    try {
      renameSync(this.partial, this.path);
    } catch (cause) {
      rmSync(this.partial, { force: true });
      throw unwritable(this.path, cause);
    }
  }

  discard(): void {
    closeSync(this.file);
    rmSync(this.partial, { force: true });
  }
}

/** Runs `fill` over a new file, which is there afterwards if all went well, and isn't if anything failed. */
export async function writeGrowing<T>(path: string, fill: (output: GrowingOutput) => Promise<T>): Promise<T> {
  const output = new GrowingOutput(path);
  let result: T;
  try {
    result = await fill(output);
  } catch (error) {
    output.discard();
    throw error;
  }
  output.finish();
  return result;
}

function unwritable(path: string, cause: unknown): HalftoneError {
  return new HalftoneError('invalid_state', `${path} can't be written: ${reason(cause)}.`, {
    where: path,
    next: 'Give another place after -o.',
    cause,
  });
}

function reason(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'it may not be written there';
  if (code === 'ENOSPC') return 'the disk is full';
  if (code === 'ENAMETOOLONG') return 'the name is too long';
  if (code === 'ENOTDIR' || code === 'EEXIST') return 'a part of its path is not a folder';
  return cause instanceof Error ? cause.message : String(cause);
}

/** A name that no file has yet: "a.json", "a-1.json", … */
export function freeName(stem: string, extension: string): string {
  for (let i = 0; ; ++i) {
    const name = `${stem}${i === 0 ? '' : `-${i}`}${extension}`;
    if (identity(name) === null) return name;
  }
}
