// Serves the built page on this machine. Every response carries the page's strict policy, so that nothing leaves the machine
// even if a script were changed; workers inherit it too.
import { createReadStream, realpathSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';
import { HalftoneError } from '../shared/errors.js';

export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' blob:",
  "connect-src 'self'",
  'worker-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.ico': 'image/x-icon',
  '.wasm': 'application/wasm',
  '.onnx': 'application/octet-stream',
  '.npy': 'application/octet-stream',
};

/** The builder puts a hash of the content into names under assets/: such a file never changes. */
const HASHED = /^\/assets\/.+-[A-Za-z0-9_-]{8,}\.[a-z0-9]+$/;

export interface PageServerOptions {
  /** The folder of the built page. */
  root: string;
  /** 0 takes any free port. Default: 8321, or the next free one. */
  port?: number;
  /** Default: only this machine. */
  host?: string;
  /** False leaves the policy out, as static hosts do that send no headers; for tests of the page's own policy. */
  headers?: boolean;
}

export interface PageServer {
  address: string;
  close(): Promise<void>;
}

const DEFAULT_PORT = 8321;
const TRIES = 20;

/** Errors: invalid_state if the page isn't built, or no port is free. */
export async function startPageServer(options: PageServerOptions): Promise<PageServer> {
  const { host = '127.0.0.1', headers = true } = options;
  if (statSync(join(options.root, 'index.html'), { throwIfNoEntry: false }) === undefined) {
    throw new HalftoneError(
      'invalid_state',
      `The page is not built: there is no ${join(options.root, 'index.html')}.`,
      {
        where: options.root,
        next: 'Build it first; in a checkout, ./run does so.',
      },
    );
  }
  const root = realpathSync(options.root);
  const server = createServer((request, response) => answer(root, headers, request, response));
  const port = await listen(server, host, options.port);
  const name = host.includes(':') ? `[${host}]` : host;
  return {
    address: `http://${name}:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function listen(server: Server, host: string, wanted: number | undefined): Promise<number> {
  const first = wanted ?? DEFAULT_PORT;
  const last = wanted === undefined ? first + TRIES - 1 : first;
  for (let port = first; ; ++port) {
    const error = await tryPort(server, host, port);
    if (error === null) {
      const address = server.address();
      return typeof address === 'object' && address !== null ? address.port : port;
    }
    if (error.code === 'EADDRINUSE' && port < last) continue;
    const reason =
      error.code === 'EADDRINUSE'
        ? 'it is in use'
        : error.code === 'EACCES'
          ? 'it may not be used'
          : error.message;
    throw new HalftoneError('invalid_state', `Port ${port} can't be served: ${reason}.`, {
      where: String(port),
      next: 'Give another one with --port.',
    });
  }
}

function tryPort(server: Server, host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException) => {
      server.off('listening', listening);
      resolve(error);
    };
    const listening = () => {
      server.off('error', failed);
      resolve(null);
    };
    server.once('error', failed);
    server.once('listening', listening);
    server.listen(port, host);
  });
}

function answer(root: string, headers: boolean, request: IncomingMessage, response: ServerResponse): void {
  if (headers) {
    response.setHeader('Content-Security-Policy', PAGE_POLICY);
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.setHeader('Referrer-Policy', 'no-referrer');
    response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
  }
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    refuse(response, 405, 'Only GET and HEAD are answered here.');
    return;
  }
  const found = findFile(root, request.url ?? '/');
  if (found === null) {
    refuse(response, 404, 'There is no such file.');
    return;
  }
  response.setHeader('Content-Type', TYPES[extname(found.path)] ?? 'application/octet-stream');
  response.setHeader('Content-Length', found.bytes);
  response.setHeader(
    'Cache-Control',
    HASHED.test(found.urlPath) ? 'public, max-age=31536000, immutable' : 'no-cache',
  );
  response.writeHead(200);
  if (request.method === 'HEAD') response.end();
  else
    createReadStream(found.path)
      .on('error', () => response.destroy())
      .pipe(response);
}

function refuse(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' });
  response.end(`${sentence}\n`);
}

/** Only regular files whose real place, links resolved, is below the root. */
function findFile(root: string, url: string): { path: string; urlPath: string; bytes: number } | null {
  let urlPath: string;
  try {
    urlPath = decodeURIComponent(url.split(/[?#]/, 1)[0] ?? '/');
  } catch {
    return null;
  }
  const bad =
    urlPath.includes('\0') ||
    urlPath.includes('\\') ||
    urlPath.split('/').some((part) => part === '..' || part.startsWith('.'));
  if (bad || !urlPath.startsWith('/')) return null;
  const wanted = join(root, urlPath.endsWith('/') ? `${urlPath}index.html` : urlPath);
  try {
    const path = realpathSync(wanted);
    const facts = statSync(path);
    return path.startsWith(root + sep) && facts.isFile() ? { path, urlPath, bytes: facts.size } : null;
  } catch {
    return null;
  }
}
