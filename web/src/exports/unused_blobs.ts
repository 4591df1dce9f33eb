// Blobs that nothing refers to any more keep their memory until the engine looks for garbage, and it doesn't count their
// bytes: a gigabyte of them in an idle page stays. It counts this buffer's, which nobody touches, so that it takes no memory.

const kEnoughToLook = 2 ** 26;

export function dropUnusedBlobs(): void {
  new ArrayBuffer(kEnoughToLook).slice(0, 0);
}
