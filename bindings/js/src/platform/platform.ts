// What differs between a page, a worker of a page, and Node. Detected in one place; nothing is imported that a bundler could
// stumble over.
export const isNode: boolean =
  typeof process === 'object' && typeof process.versions?.node === 'string' && typeof window === 'undefined';

/** One of Node's own modules. Precondition: isNode. */
export function builtin<T>(name: string): T {
  return process.getBuiltinModule(name) as T;
}

export function hardwareThreads(): number {
  return Math.max(1, globalThis.navigator?.hardwareConcurrency ?? nodeThreads());
}

function nodeThreads(): number {
  return isNode ? builtin<typeof import('node:os')>('node:os').availableParallelism() : 1;
}

/** Bytes of memory in the machine, as far as a page may know (browsers round and cap the number). */
export function machineMemory(): number {
  const GIB = 2 ** 30;
  if (isNode) return builtin<typeof import('node:os')>('node:os').totalmem();
  const told = (globalThis.navigator as Navigator & { deviceMemory?: number }).deviceMemory;
  return (told ?? 4) * GIB;
}
