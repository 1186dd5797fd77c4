import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { DEFAULT_HTTP_LIMITS } from '../limits.js';
import { Connections } from './connections.js';
import { httpListener } from './http-listener.js';

/** From so many on, further listeners share the socket. */
const MANY = 64;
const clients: Socket[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
});

it('has the socket for itself when it stops listening, also while a helper makes further listeners', async () => {
  const connections = new Connections(DEFAULT_HTTP_LIMITS);
  const server = httpListener(DEFAULT_HTTP_LIMITS, {
    request: (_request, response) => void response.end(),
    expectation: (_request, response) => void response.end(),
    connections,
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  const open = (): Socket => {
    const client = connect(address.port, '127.0.0.1');
    clients.push(client);
    return client;
  };
  const accepted = new Promise<void>((resolve) => {
    let count = 0;
    server.on('connection', () => {
      count += 1;
      if (count === MANY) resolve();
    });
  });
  for (let client = 0; client < MANY; client += 1) open();
  await accepted;
  const late = new Promise<string>((resolve) => {
    void connections.drain(5_000, () => {
      open()
        .on('connect', () => resolve('connected'))
        .on('error', (error) => resolve(String(Reflect.get(error, 'code'))));
    });
  });
  expect(await late).toBe('ECONNREFUSED');
});
