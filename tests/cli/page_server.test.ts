import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGE_POLICY, type PageServer, startPageServer } from '../../bindings/js/src/cli/page_server.js';
import { headerPolicy } from '../../web/policy.mjs';

let root: string;
let server: PageServer;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'halftone-page-'));
  mkdirSync(join(root, 'web', 'assets'), { recursive: true });
  writeFileSync(join(root, 'secret.txt'), 'secret');
  const web = join(root, 'web');
  writeFileSync(join(web, 'index.html'), '<!doctype html>ä');
  writeFileSync(join(web, 'assets', 'main-AbCd1234.js'), 'export {}');
  writeFileSync(join(web, 'halftone.wasm'), Uint8Array.of(0, 97, 115, 109));
  writeFileSync(join(web, '.hidden'), 'hidden');
  symlinkSync(join(root, 'secret.txt'), join(web, 'link.txt'));
  server = await startPageServer({ root: web, port: 0 });
});

afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

/** Sends the path as it is; fetch would tidy it up. */
function raw(
  path: string,
  method = 'GET',
): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
  const { hostname, port } = new URL(server.address);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (part) => {
        body += part;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });
}

describe('the page server', () => {
  it('has the policy of the page', () => {
    expect(PAGE_POLICY).toBe(headerPolicy);
  });

  it.each([
    ['/', 200, 'text/html; charset=utf-8', 'no-cache'],
    ['/index.html?x=1', 200, 'text/html; charset=utf-8', 'no-cache'],
    [
      '/assets/main-AbCd1234.js',
      200,
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ],
    ['/halftone.wasm', 200, 'application/wasm', 'no-cache'],
    ['/nothing.js', 404, 'text/plain; charset=utf-8', 'no-store'],
  ])('%s: status, type, caching, and the policy on every response', async (path, status, type, caching) => {
    const answer = await raw(path);
    expect([answer.status, answer.headers['content-type'], answer.headers['cache-control']]).toEqual([
      status,
      type,
      caching,
    ]);
    expect(answer.headers['content-security-policy']).toBe(PAGE_POLICY);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  it.each([
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/assets/../../secret.txt',
    '/link.txt',
    '/.hidden',
    '/%00',
    '/%',
    '/..\\secret.txt',
    '/assets',
    'index.html',
  ])('refuses %s', async (path) => {
    const { status, body } = await raw(path);
    expect([404, 400]).toContain(status);
    expect(body).not.toContain('secret');
  });

  it('answers GET and HEAD only', async () => {
    expect(await raw('/', 'HEAD')).toMatchObject({ status: 200, body: '' });
    const post = await raw('/', 'POST');
    expect([post.status, post.headers.allow, post.headers['content-security-policy']]).toEqual([
      405,
      'GET, HEAD',
      PAGE_POLICY,
    ]);
  });

  it('listens on this machine only, and takes the next port when one is taken', async () => {
    expect(server.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    const taken = createServer();
    await new Promise<void>((resolve) =>
      taken.listen(8321, '127.0.0.1', resolve).on('error', () => resolve()),
    );
    try {
      const next = await startPageServer({ root: join(root, 'web') });
      expect(Number(new URL(next.address).port)).toBeGreaterThan(8321);
      await next.close();
      const { port } = new URL(server.address);
      await expect(startPageServer({ root: join(root, 'web'), port: Number(port) })).rejects.toMatchObject({
        message: `Port ${port} can't be served: it is in use.`,
        next: 'Give another one with --port.',
      });
    } finally {
      taken.close();
    }
  });

  it('can leave the headers out, and says when the page is not built', async () => {
    const bare = await startPageServer({ root: join(root, 'web'), port: 0, headers: false });
    expect((await fetch(bare.address)).headers.get('content-security-policy')).toBeNull();
    await bare.close();
    await expect(startPageServer({ root: join(root, 'nowhere') })).rejects.toMatchObject({
      code: 'invalid_state',
      message: `The page is not built: there is no ${join(root, 'nowhere', 'index.html')}.`,
    });
  });
});
