import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { type AddressInfo, connect as connectPlain, createServer } from 'node:net';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import {
  expiredIdentity,
  strangersCertificate,
  testClientIdentity,
  testIdentity,
} from '../../test/databases/tls.js';
import { clientCertificates } from '../access/client-certificates.js';
import { gate } from '../concurrency/test-support/gate.js';
import { temporaryFolder } from '../config/test-support/temporary-folder.js';
import type { FwConfig } from '../config/types.js';
import type { HttpServer } from './http-server.js';
import { followCertificate } from './process/certificate-reload.js';
import { ServerCertificate } from './server-certificate.js';
import { forgedClientIdentity, nextIdentity, serviceIdentity } from './test-support/certificates.js';
import { collectLog } from './test-support/collect-log.js';
import { FakeProcess } from './test-support/fake-process.js';
import { walletOpenApi } from './test-support/wallet-open-api.js';
import { WalletApplication } from './test-support/wallet-server.js';

const folder = temporaryFolder();
const put = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const app = new WalletApplication();
let config: NonNullable<FwConfig['http']['tls']>;
let server: HttpServer | undefined;
let port = 0;

beforeEach(() => {
  config = {
    certificate: put('server.pem', testIdentity.certificate),
    key: put('server.key', testIdentity.key),
    clientAuthorities: put('clients.pem', testIdentity.certificate),
    clientCertificates: 'optional',
    strictTransportSeconds: 60,
  };
});
afterEach(async () => {
  app.reset();
  await server?.close(0);
  server = undefined;
});

async function listen(certificate: ServerCertificate, options: object = {}): Promise<string> {
  server = app.server({
    certificate,
    strictTransportSeconds: 60,
    authenticator: clientCertificates(),
    ...options,
  });
  const address = await server.listen({ host: '127.0.0.1', port: 0 });
  port = address.port;
  return address.url;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly fingerprint: string;
}

function ask(path: string, options: object = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ca = [testIdentity.certificate, nextIdentity.certificate];
    const all = { host: 'localhost', port, path, ca, agent: false, family: 4, ...options };
    const sent = request(all, (response) => {
      const { fingerprint256 } = (response.socket as TLSSocket).getPeerCertificate();
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body,
          fingerprint: fingerprint256,
        }),
      );
    });
    sent.on('error', reject).end();
  });
}

const asClient = ({ certificate: cert, key } = testClientIdentity): object => ({ cert, key });
const wallet = (): string => `/wallets/${app.open()}`;

test('serves HTTPS, a caller being the subject of the certificate', async () => {
  expect(await listen(new ServerCertificate(config), { openApi: walletOpenApi })).toMatch(/^https:/);
  const answer = await ask(wallet(), asClient());
  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    'strict-transport-security': 'max-age=60',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  expect(app.executions.at(-1)?.principal).toMatchObject({ name: 'fw_test' });
  const docs = await ask('/docs');
  expect(docs.body).toContain(`https://localhost:${port}/wallets`);
});

test.each([
  ['no certificate', {}, /client certificate is required/],
  ['one that calls itself fw_test and no authority has signed', asClient(forgedClientIdentity), /is refused/],
  [
    'one with two common names',
    asClient(serviceIdentity),
    /exactly one name of the kind common-name, found 2/,
  ],
  ['one that has expired', asClient(expiredIdentity), /is refused/],
  ['a header that claims a certificate', { headers: { 'x-client-cert': 'CN=fw_test' } }, /is required/],
])('401 for %s', async (_, options, detail) => {
  await listen(new ServerCertificate(config));
  const refused = await ask(wallet(), options);
  expect(refused.status).toBe(401);
  expect(JSON.parse(refused.body)['detail']).toMatch(detail);
  expect(app.executions).toEqual([]);
});

test('takes the alternative name that the configuration names, and never a part of another one', async () => {
  await listen(new ServerCertificate(config), { authenticator: clientCertificates({ name: 'uri' }) });
  expect((await ask(wallet(), asClient(serviceIdentity))).status).toBe(200);
  expect(app.executions.at(-1)?.principal).toMatchObject({ name: 'spiffe://example/reports' });
});

test('refuses the handshake of a client without a trusted certificate where one is required', async () => {
  await listen(new ServerCertificate({ ...config, clientCertificates: 'required' }));
  await expect(ask(wallet())).rejects.toThrow();
  await expect(ask(wallet(), asClient(forgedClientIdentity))).rejects.toThrow();
  expect((await ask(wallet(), asClient())).status).toBe(200);
});

test('answers with new files without a restart, and keeps the old ones while the new ones cannot be used', async () => {
  const certificate = new ServerCertificate(config);
  await listen(certificate);
  const port = new FakeProcess();
  const log: Parameters<typeof collectLog>[0] = [];
  const unfollow = followCertificate(certificate, collectLog(log), port);
  onTestFinished(() => void unfollow());
  const first = await ask(wallet(), asClient());
  // Connections that are open stay open.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await ask(wallet(), { ...asClient(), agent });
  put('server.pem', nextIdentity.certificate);
  await expect
    .poll(() => JSON.stringify(log), { timeout: 30_000 })
    .toContain('server.key is not the private key');
  expect((await ask(wallet(), asClient())).fingerprint).toBe(first.fingerprint);
  put('server.key', nextIdentity.key);
  await expect
    .poll(async () => (await ask(wallet(), asClient())).fingerprint, { timeout: 30_000 })
    .not.toBe(first.fingerprint);
  expect((await ask(wallet(), { ...asClient(), agent })).fingerprint).toBe(first.fingerprint);
  agent.destroy();
  // Authorities are taken over as well: who was trusted before is not any more.
  put('clients.pem', strangersCertificate);
  port.hangup();
  expect((await ask(wallet(), asClient())).status).toBe(401);
  put('server.pem', 'no certificate');
  port.hangup();
  expect(log.at(-1)).toMatchObject({ reason: expect.stringContaining('server.pem cannot be used') });
  expect((await ask(wallet())).status).toBe(401);
});

test('after a change of the authorities, no connection that the old ones verified takes a further request', async () => {
  const { opened: held, open: free } = gate();
  const certificate = new ServerCertificate(config);
  await listen(certificate);
  const [busy, idle, handshake] = [await secure(), await secure(), connectPlain(port, '127.0.0.1')];
  handshake.on('error', () => {});
  const closed = [busy.socket, idle.socket, handshake.resume()].map(
    (socket) => new Promise((resolve) => socket.once('close', resolve)),
  );
  const path = wallet();
  idle.socket.write(get(path));
  await expect.poll(idle.text, { timeout: 30_000 }).toContain('200 OK');
  app.behaviour = async () => {
    await held;
    return [...app.wallets.values()][0];
  };
  busy.socket.write(deposit(path) + deposit(path));
  await expect.poll(() => app.executions.length, { timeout: 30_000 }).toBe(2);
  certificate.reload();
  expect([busy, idle].map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  put('clients.pem', strangersCertificate);
  certificate.reload();
  await Promise.all(closed.slice(1));
  free();
  await closed[0];
  expect(busy.text()).toMatch(/^HTTP\/1.1 200 OK[\s\S]*connection: close/i);
  expect(busy.text().match(/HTTP\/1.1/g)).toHaveLength(1);
  expect(app.executions).toHaveLength(2);
  expect((await ask(path, asClient())).status).toBe(401);
});

test.each([
  ['a certificate that is not there', { certificate: 'none' }, /none\.pem cannot be used: ENOENT/],
  ['a key of another certificate', { key: 'next' }, /next\.pem is not the private key of the certificate in/],
  ['authorities that are none', { clientAuthorities: 'next' }, /next\.pem cannot be used/],
])('a start with %s fails and names the file', (_, change, message) => {
  put('next.pem', nextIdentity.key);
  const files = Object.entries(change).map(([name, file]) => [name, join(folder, `${file}.pem`)]);
  expect(() => new ServerCertificate({ ...config, ...Object.fromEntries(files) })).toThrow(message);
});

/** A connection over TLS whose bytes are in the test's hands. */
async function secure(): Promise<{ readonly socket: TLSSocket; readonly text: () => string }> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...asClient() });
  let text = '';
  socket.setEncoding('latin1').on('data', (more) => {
    text += more;
  });
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  return { socket, text: () => text };
}

const deposit = (path: string): string =>
  `POST ${path}/deposit HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"amount":"1"}`;
const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

test('serves pipelined requests in order, answers what the parser refuses, and limits handshakes', async () => {
  await listen(new ServerCertificate(config), {
    limits: { connections: 3, headersTimeoutMs: 500, requestTimeoutMs: 1_000 },
  });
  const client = await secure();
  client.socket.write(get(wallet()) + get('/nowhere') + get('/health/live'));
  await expect.poll(client.text, { timeout: 30_000 }).toMatch(/200 OK[\s\S]*404 Not Found[\s\S]*"live"/);
  client.socket.write('GET / HTTP/1.1\nbroken');
  await expect
    .poll(client.text, { timeout: 30_000 })
    .toMatch(/400 Bad Request[\s\S]*strict-transport-security: max-age=60/);
  client.socket.destroy();
  // Clients that never finish their handshakes count, and are dropped after a while.
  const idle = Array.from({ length: 6 }, () => connectPlain(port, '127.0.0.1').on('error', () => {}));
  const closed = idle.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve)));
  await Promise.all(closed);
  expect((await ask(wallet(), asClient())).status).toBe(200);
});

test('a drain answers what was sent, refuses nothing, and ends handshakes that do not come to an end', async () => {
  const { opened: held, open: free } = gate();
  app.behaviour = async () => {
    await held;
    return [...app.wallets.values()][0];
  };
  await listen(new ServerCertificate(config), { limits: { requestTimeoutMs: 1_000 } });
  const clients = await Promise.all([secure(), secure()]);
  const path = wallet();
  for (const { socket } of clients) socket.write(deposit(path));
  const half = connectPlain(port, '127.0.0.1').on('error', () => {});
  await expect.poll(() => app.executions.length, { timeout: 30_000 }).toBe(2);
  const closing = server?.close(20_000);
  free();
  await closing;
  half.destroy();
  expect(clients.map(({ text }) => text().slice(0, 12))).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
});

test('a drain ends a handshake with its grace period', async () => {
  await listen(new ServerCertificate(config));
  const half = connectPlain(port, '127.0.0.1').on('error', () => {});
  await new Promise((resolve) => half.resume().once('connect', resolve));
  const ended = new Promise((resolve) => half.once('close', resolve));
  const startedMs = performance.now();
  await server?.close(500);
  await ended;
  expect(performance.now() - startedMs).toBeLessThan(4_000);
});

test('a drain waits for a handshake that has begun, however slowly its client goes on', async () => {
  await listen(new ServerCertificate(config), {
    limits: { headersTimeoutMs: 60_000, requestTimeoutMs: 60_000 },
  });
  let hasBegun = false;
  const { opened: goingOn, open: goOn } = gate();
  // Lets the first message of a client through, and the others later.
  const slow = createServer((client) => {
    const upstream = connectPlain(port, '127.0.0.1').on('error', () => client.destroy());
    upstream.once('data', () => {
      hasBegun = true;
    });
    upstream.pipe(client.on('error', () => {}));
    client.once('data', (hello) => {
      upstream.write(hello);
      client.pause();
      void goingOn.then(() => client.pipe(upstream));
    });
  });
  await new Promise<void>((resolve) => void slow.listen(0, '127.0.0.1', resolve));
  const answer = ask(wallet(), { ...asClient(), port: (slow.address() as AddressInfo).port });
  await expect.poll(() => hasBegun, { timeout: 30_000 }).toBe(true);
  const closing = server?.close(60_000);
  // Longer than a connection may be silent on which nothing has arrived.
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  goOn();
  expect((await answer).status).toBe(200);
  await closing;
  slow.close();
});
