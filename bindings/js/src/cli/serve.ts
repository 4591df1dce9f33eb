// halftone serve: the page, locally, until Ctrl-C.
import { checkoutFolder, pageFolder } from './package_files.js';
import { startPageServer } from './page_server.js';
import type { Context } from './work.js';

export interface ServeOptions {
  port?: number;
  host?: string;
}

export async function serve(options: ServeOptions, context: Context): Promise<void> {
  const server = await startPageServer({ root: pageFolder(), ...options });
  const stop =
    checkoutFolder() === null ? 'Ctrl-C ends it' : 'Ctrl-C ends it, ./run --help says what else there is';
  context.terminal.out(`Halftone is at ${server.address} (${stop}).\n`);
  await new Promise<void>((resolve) => {
    if (context.signal.aborted) resolve();
    else context.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await server.close();
}
