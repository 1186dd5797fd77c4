import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { MoreListeners } from './more-listeners.js';

const servers: Server[] = [];
const clients: Socket[] = [];

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await Promise.all(
    servers.splice(0).map((server) => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    }),
  );
});

it('accepts several connections in one turn of the event loop', async () => {
  let accepted = 0;
  const another = (): Server => {
    const server = createServer().on('connection', () => {
      accepted += 1;
    });
    servers.push(server);
    return server;
  };
  const server = another();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  await new MoreListeners(server, { another, backlog: 1_024 }).settled;
  expect(servers.map(({ listening }) => listening)).toEqual(Array(16).fill(true));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  const port = address.port;
  for (let client = 0; client < 64; client += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    clients.push(socket);
  }
  // The kernel connects them while the event loop is busy.
  const until = performance.now() + 50;
  while (performance.now() < until);
  let turns = 0;
  while (accepted < 64 && turns < 10_000) {
    const before = accepted;
    await new Promise((resolve) => setImmediate(resolve));
    if (accepted > before) turns += 1;
  }
  expect(accepted).toBe(64);
  expect(turns).toBeLessThanOrEqual(32);
});

it('leaves nothing listening when the server is closed', async () => {
  const another = (): Server => {
    const server = createServer();
    servers.push(server);
    return server;
  };
  const server = another();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  const more = new MoreListeners(server, { another, backlog: 1_024 });
  more.stop();
  await more.settled;
  await new Promise((resolve) => server.close(resolve));
  expect(servers.length).toBe(1);
  const refused = await new Promise((resolve) => {
    connect(address.port, '127.0.0.1')
      .on('error', () => resolve(true))
      .on('connect', () => resolve(false));
  });
  expect(refused).toBe(true);
});
