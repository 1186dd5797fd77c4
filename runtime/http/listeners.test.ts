import dns from 'node:dns';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { HttpServer } from './http-server.js';
import { canSharePorts } from './listeners.js';
import { WalletApplication } from './test-support/wallet-server.js';

type Found = (error: null, found: unknown, family?: number) => void;

const HOST = '127.0.0.1';
let server: HttpServer;
beforeEach(() => {
  server = new WalletApplication().server();
});
afterEach(() => server.close(0));

test.each([
  ['linux', '20.19.0', false],
  ['linux', '22.11.0', false],
  ['linux', '22.12.0', true],
  ['linux', '23.0.0', false],
  ['linux', '24.4.1', true],
  ['darwin', '24.4.1', false],
  ['win32', '24.4.1', false],
])('on %s with Node %s, sockets can share a port: %s', (platform, release, expected) => {
  expect(canSharePorts(platform, release)).toBe(expected);
});

test.runIf(process.platform === 'linux')('a server has 16 sockets where they share a port', async () => {
  const { port } = await server.listen({ host: HOST, port: 0 });
  const listening = `:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`;
  const sockets = readFileSync('/proc/net/tcp', 'utf8').split(listening).length - 1;
  expect(sockets).toBe(canSharePorts(process.platform, process.versions.node) ? 16 : 1);
});

test('a port that another server listens on is refused, also by a server of the same kind', async () => {
  const { port } = await server.listen({ host: HOST, port: 0 });
  const second = new WalletApplication().server();
  await expect(second.listen({ host: HOST, port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await second.close(0);
});

test.runIf(process.platform === 'linux')('the limits apply to all addresses of localhost', async () => {
  const addresses = [HOST, '127.0.0.2', '192.0.2.1'].map((address) => ({ address, family: 4 }));
  vi.spyOn(dns.promises, 'lookup').mockResolvedValue(addresses as never);
  // The look-up of Fastify and Node.
  vi.spyOn(dns, 'lookup').mockImplementation(((host: string, ...args: readonly unknown[]) => {
    const done = args.at(-1) as Found;
    if (args.length > 1) done(null, addresses.slice(0, 2));
    else done(null, host === 'localhost' ? HOST : host, 4);
  }) as never);
  const limited = new WalletApplication().server({ limits: { connections: 1 } });
  onTestFinished(async () => {
    vi.restoreAllMocks();
    await limited.close(0);
  });
  const { port } = await limited.listen({ host: 'localhost', port: 0 });
  const ended: string[] = [];
  const first = connect(port, HOST).on('error', () => {});
  await expect.poll(() => first.readyState, { timeout: 20_000 }).toBe('open');
  const second = connect(port, '127.0.0.2').on('error', () => {});
  second.on('close', () => ended.push('second'));
  await expect.poll(() => ended, { timeout: 4_000 }).toEqual(['second']);
  expect(first.destroyed).toBe(false);
  first.destroy();
});

test('every one of many connections is answered, and the port is free after the end', async () => {
  const { port } = await server.listen({ host: HOST, port: 0 });
  const answers = Array.from(
    { length: 100 },
    () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect(port, HOST, () =>
          socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n'),
        );
        socket.once('data', (bytes) => resolve(String(bytes).slice(0, 15)));
        socket.once('error', reject);
      }),
  );
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200 OK']));
  await server.close(0);
  const other = createServer();
  await new Promise<void>((resolve, reject) => {
    other.once('error', reject).listen({ host: HOST, port }, resolve);
  });
  await new Promise((resolve) => other.close(resolve));
});
