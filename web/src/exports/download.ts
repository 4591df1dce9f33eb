// Hands bytes to the browser as a file. Nothing is requested: the address is a piece of this tab's memory.
import { dropUnusedBlobs } from './unused_blobs';

const kKeepMs = 60_000;

export function download(name: string, content: Blob | string, type: string): void {
  const blob = typeof content === 'string' ? new Blob([content], { type }) : content;
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser reads the address after this returns; how long it takes depends on where it saves.
  setTimeout(() => {
    URL.revokeObjectURL(address);
    dropUnusedBlobs();
  }, kKeepMs);
}
