// Serves the built page, with the policy as headers or, as a host that can't set any, without.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { headerPolicy } from '../../../web/policy.mjs';

const kSite = fileURLToPath(new URL('../../../bindings/js/dist/web', import.meta.url));
const kTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
};

/** What a test makes the server do wrong: a status instead of the file, or a type. */
export interface Fault {
  path: RegExp;
  status?: number;
  type?: string;
}

export interface TestServer {
  origin: string;
  /** Paths in the order they were asked for. */
  requests: string[];
  /** Answers from now on; empty it to repair. */
  faults: Fault[];
  close(): Promise<void>;
}

function answer(server: TestServer, headers: boolean, request: IncomingMessage, response: ServerResponse): void {
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  server.requests.push(path);
  const fault = server.faults.find((each) => each.path.test(path));
  const file = join(kSite, normalize(path === '/' ? '/index.html' : path));
  const found = file.startsWith(kSite) && existsSync(file) && statSync(file).isFile();
  const type = fault?.type ?? kTypes[extname(file)] ?? 'application/octet-stream';
  const fields: Record<string, string> = { 'content-type': type };
  if (headers) fields['content-security-policy'] = headerPolicy;
  response.writeHead(fault?.status ?? (found ? 200 : 404), fields);
  if (!found || fault?.status !== undefined) response.end();
  else createReadStream(file).pipe(response);
}

function listening(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

export async function startServer({ headers }: { headers: boolean }): Promise<TestServer> {
  if (!existsSync(join(kSite, 'index.html'))) throw new Error('Build the page first: npx vite build web');
  const http = createServer((request, response) => answer(server, headers, request, response));
  const server: TestServer = {
    origin: '',
    requests: [],
    faults: [],
    close: () =>
      new Promise((resolve) => {
        http.closeAllConnections();
        http.close(() => resolve());
      }),
  };
  server.origin = await listening(http);
  return server;
}

/** Another origin that writes down who called: nobody may. */
export async function startForeign(): Promise<{ origin: string; calls: string[]; close(): Promise<void> }> {
  const calls: string[] = [];
  const http = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'access-control-allow-origin': '*' });
    response.end('heard');
  });
  const origin = await listening(http);
  return {
    origin,
    calls,
    close: () =>
      new Promise((resolve) => {
        http.closeAllConnections();
        http.close(() => resolve());
      }),
  };
}
