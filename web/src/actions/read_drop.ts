// Files out of a drop, folders included. What the browser hands over is only valid while the event runs, so the entries
// are taken at once and read afterwards.
import type { PathFile } from '../engine/bench';

const kDeepest = 8;
const kMostFiles = 10_000;

export class TooManyFiles extends Error {}

/** The promise of everything that was dropped; rejects with TooManyFiles for a folder that can't be meant. */
export function filesOfDrop(transfer: DataTransfer): Promise<PathFile[]> {
  const entries: FileSystemEntry[] = [];
  const plain: PathFile[] = [];
  for (const item of Array.from(transfer.items)) {
    if (item.kind !== 'file') continue;
    const entry = item.webkitGetAsEntry?.() ?? null;
    if (entry?.isDirectory) {
      entries.push(entry);
      continue;
    }
    const file = item.getAsFile();
    if (file !== null) plain.push({ file, path: file.name });
  }
  return entries.length === 0 ? Promise.resolve(plain) : withFolders(plain, entries);
}

async function withFolders(plain: PathFile[], entries: FileSystemEntry[]): Promise<PathFile[]> {
  const found = [...plain];
  for (const entry of entries) await walk(entry, entry.name, 0, found);
  return found;
}

async function walk(entry: FileSystemEntry, path: string, depth: number, found: PathFile[]): Promise<void> {
  if (found.length > kMostFiles || depth > kDeepest) {
    throw new TooManyFiles(`${path} holds more than ${kMostFiles} files or is nested too deeply.`);
  }
  if (entry.isFile) {
    found.push({ file: await fileOf(entry as FileSystemFileEntry), path });
    return;
  }
  const children = await childrenOf(entry as FileSystemDirectoryEntry);
  children.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  for (const child of children) await walk(child, `${path}/${child.name}`, depth + 1, found);
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject));
}

async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return all; // The reader hands out at most a hundred at a time.
    all.push(...some);
  }
}

/** Files chosen in the dialog; those of a folder carry its name in front. */
export function filesOfDialog(list: FileList): PathFile[] {
  return Array.from(list, (file) => ({ file, path: file.webkitRelativePath || file.name }));
}
