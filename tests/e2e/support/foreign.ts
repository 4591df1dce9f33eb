// Another origin that writes down who called: nobody may.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Foreign {
  origin: string;
  calls: string[];
  close(): Promise<void>;
}

export async function startForeign(): Promise<Foreign> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url}`);
    response.writeHead(200, { 'access-control-allow-origin': '*' });
    response.end('heard');
  });
  server.on('upgrade', (request, socket) => {
    calls.push(`upgrade ${request.url}`);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
