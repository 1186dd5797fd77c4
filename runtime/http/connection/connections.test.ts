import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { DEFAULT_HTTP_LIMITS } from '../limits.js';
import { Connections } from './connections.js';
import { httpListener } from './http-listener.js';

/** From this number of connections on, further listeners share the socket. */
const MANY = 64;
const clients: Socket[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
});

interface Listening {
  readonly connections: Connections;
  readonly server: Server;
  readonly port: number;
  readonly streams: readonly ServerResponse[];
}

/** Answers at once, and `/stream` with a head and no end. */
async function listen(): Promise<Listening> {
  const connections = new Connections(DEFAULT_HTTP_LIMITS);
  const streams: ServerResponse[] = [];
  const server = httpListener(DEFAULT_HTTP_LIMITS, {
    request: ({ url }, response) => {
      if (url !== '/stream') return void response.end('whole');
      streams.push(response);
      response.write('first');
    },
    expectation: (_request, response) => void response.end(),
    connections,
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  return { connections, server, port: address.port, streams };
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** Resolves when `text` has arrived. */
function arrived(client: Socket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = '';
    client.on('data', (bytes) => {
      received += bytes.toString();
      if (received.includes(text)) resolve();
    });
    client.on('close', () => reject(new Error(`Closed after: ${received}`)));
  });
}

it('answers a request on an idle connection soon after it begins to close, also beside an open stream', async () => {
  const { connections, port, streams } = await listen();
  const open = async (): Promise<Socket> => {
    const client = connect(port, '127.0.0.1');
    clients.push(client);
    await once(client, 'connect');
    return client;
  };
  const stream = await open();
  stream.write(get('/stream'));
  await arrived(stream, 'first');
  const idle = await open();
  idle.write(get('/'));
  await arrived(idle, 'whole');
  const drained = connections.drain(20_000, () => {});
  const startMs = performance.now();
  idle.write(get('/'));
  await arrived(idle, 'whole');
  expect(performance.now() - startMs).toBeLessThan(10_000);
  expect(stream.destroyed).toBe(false);
  for (const response of streams) response.end();
  stream.destroy();
  idle.destroy();
  await drained;
});

it('begins one of many pipelined requests in each turn of the event loop, so that others have their turns', async () => {
  const { server, port } = await listen();
  const begunIn: number[] = [];
  let turn = 0;
  let next: NodeJS.Immediate | undefined;
  const count = (): void => {
    turn += 1;
    next = setImmediate(count);
  };
  count();
  server.on('request', () => void begunIn.push(turn));
  const client = connect(port, '127.0.0.1');
  clients.push(client);
  client.write(get('/').repeat(20));
  await expect.poll(() => begunIn.length, { timeout: 30_000 }).toBe(20);
  clearImmediate(next);
  expect(new Set(begunIn).size).toBe(20);
});

/** A client that stays open when the server ends the connection. */
async function refusedTunnel(port: number, behind = ''): Promise<Socket> {
  const tunnel = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  clients.push(tunnel);
  tunnel.on('error', () => {});
  const refused = arrived(tunnel, 'HTTP_METHOD_NOT_IMPLEMENTED');
  tunnel.write(`CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n${behind}`);
  await refused;
  return tunnel;
}

it('survives a client that resets the connection after its tunnel was refused, and closes one that stays', async () => {
  const { port } = await listen();
  const [resetting, staying] = [await refusedTunnel(port), await refusedTunnel(port)];
  resetting.resetAndDestroy();
  // What it sends meanwhile is read and thrown away, and afterwards refused by the kernel.
  const isClosed = (): boolean => {
    staying.write(get('/'));
    return staying.destroyed;
  };
  await expect.poll(isClosed, { timeout: 30_000 }).toBe(true);
});

it('opens no tunnel, and gives what follows to no parser, which others have by then', async () => {
  const { port } = await listen();
  const tunnel = await refusedTunnel(port, get('/stream'));
  tunnel.write(get('/stream'));
  for (let round = 0; round < 3; round += 1) {
    const other = connect(port, '127.0.0.1');
    clients.push(other);
    other.write(get('/'));
    await arrived(other, 'whole');
  }
});

it('hands an upgraded connection to the plugin that listens to upgrades, also on further listeners', async () => {
  const { server, port } = await listen();
  server.on('upgrade', (_request, socket, head) => {
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n\r\n${head}`);
    socket.on('data', (bytes: Buffer) => void socket.write(`echo ${bytes}`));
  });
  const upgrade = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';
  const talk = async (): Promise<void> => {
    const client = connect(port, '127.0.0.1');
    clients.push(client);
    client.write(`${upgrade}first`);
    await arrived(client, 'echo first');
    client.write('second');
    await arrived(client, 'echo second');
  };
  let acceptedHere = 0;
  server.on('connection', () => {
    acceptedHere += 1;
  });
  // From 64 connections on, further listeners share the socket. Of two clients at a time they accept one.
  while (clients.length < MANY || clients.length === acceptedHere) await Promise.all([talk(), talk()]);
}, 60_000);

it('waits for what is on its way from the end of listening on, however long its clients took to settle', async () => {
  const { connections, port } = await listen();
  const idle = connect(port, '127.0.0.1');
  clients.push(idle);
  idle.write(get('/'));
  await arrived(idle, 'whole');
  // New clients keep the server from settling for as long as it waits at most.
  const connecting = setInterval(() => clients.push(connect(port, '127.0.0.1').on('error', () => {})), 20);
  const drained = connections.drain(20_000, () => {
    clearInterval(connecting);
    idle.write(get('/'));
  });
  await arrived(idle, 'whole');
  for (const client of clients) client.destroy();
  await drained;
});

it('loses no request of clients that connect without a break until nothing listens', async () => {
  const { connections, port } = await listen();
  const lost: string[] = [];
  const pending: Promise<void>[] = [];
  let refused = 0;
  const visit = (): Promise<void> =>
    new Promise((resolve) => {
      const client = connect(port, '127.0.0.1', () => client.write(get('/')));
      clients.push(client);
      let [received, failure] = ['', 'ended'];
      client.on('data', (bytes) => {
        received += bytes.toString();
        if (received.includes('whole')) client.end();
      });
      client.on('error', (error) => {
        failure = String(Reflect.get(error, 'code'));
      });
      client.on('close', () => {
        if (failure === 'ECONNREFUSED') refused += 1;
        else if (!received.includes('whole')) lost.push(failure);
        resolve();
      });
    });
  const timer = setInterval(() => pending.push(visit()), 2);
  const drained = connections.drain(20_000, () => {});
  await expect.poll(() => refused, { timeout: 20_000, interval: 5 }).toBeGreaterThan(0);
  clearInterval(timer);
  await Promise.all(pending);
  await drained;
  expect(lost).toEqual([]);
}, 60_000);

it('has the socket for itself when it stops listening, also while a helper makes further listeners', async () => {
  const { connections, server, port } = await listen();
  const open = (): Socket => {
    const client = connect(port, '127.0.0.1');
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
