import { once } from 'node:events';
import { appendFileSync, copyFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../runtime/config/test-support/temporary-folder.js';
import { createWallet } from '../customer/http-client.js';
import { type ServerProcess, startServerProcess } from '../customer/server-process.js';
import { writeWalletConfig } from '../customer/wallet-config.js';
import { testIdentity } from '../databases/tls.js';
import { testServer } from '../databases/vitest.js';
import { ClosedLoop } from './drain-clients.js';
import { RawConnection } from './raw-connection.js';
import { OWNER, type Places, serverPlaces } from './wallet-service.js';

/** Set by `npm run proof:drain`. */
const ROUNDS = Number(process.env['FW_PROOF_DRAINS'] ?? 1);

describe('The generated wallet at SIGTERM', () => {
  const directory = temporaryFolder();
  let places: Places;
  let config: string;
  let encryptedConfig: string;
  let wallet: string;

  const start = (file = config): Promise<ServerProcess> => startServerProcess(file);
  const portOf = ({ url }: ServerProcess): number => Number(new URL(url).port);
  const deposit = (): string => {
    const lines = 'Host: a\r\nContent-Type: application/json\r\nContent-Length: 14\r\n';
    return `POST /wallets/${wallet}/deposit HTTP/1.1\r\n${lines}\r\n{"amount":"1"}`;
  };
  const read = (): string => `GET /wallets/${wallet} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const endOf = async ({ process }: ServerProcess): Promise<unknown> => {
    const [code] = process.exitCode === null ? await once(process, 'exit') : [process.exitCode];
    return code;
  };

  beforeAll(async () => {
    places = await serverPlaces(testServer());
    config = writeWalletConfig(directory, places);
    encryptedConfig = encrypted(config);
    const first = await start();
    wallet = (await createWallet(first.url, 'MX', OWNER)).id;
    await first.stop();
  }, 120_000);
  afterAll(() => places?.drop());

  // From 64 connections on, further listeners share the socket; with 70 open connections they are created under load.
  it.each([
    { clients: 64, keeping: 52, until: 500 },
    { clients: 152, keeping: 140, until: 500 },
    { clients: 82, keeping: 70, until: 30 },
    // Ended while most clients are in their handshakes, and after them.
    { clients: 108, keeping: 96, until: 10, isEncrypted: true },
    { clients: 64, keeping: 52, until: 500, isEncrypted: true },
  ])(
    `answers every request that $clients clients have sent, ended after $until answers (${ROUNDS} rounds, TLS: $isEncrypted)`,
    async ({ keeping, until, isEncrypted = false }) => {
      const lost: string[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const server = await start(isEncrypted ? encryptedConfig : config);
        const loop = new ClosedLoop({
          port: portOf(server),
          isEncrypted,
          request: round % 2 === 0 ? deposit() : read(),
          keeping,
          connecting: 8,
          pausesMs: [50, 100, 200, 400],
        });
        const ended = loop.run();
        await expect.poll(() => loop.done, { timeout: 60_000, interval: 5 }).toBeGreaterThan(until);
        server.process.kill('SIGTERM');
        const tally = await ended;
        expect(await endOf(server)).toBe(0);
        // A busy machine may refuse some requests, which counts as an answer.
        expect(tally.others.filter((status) => status !== 503)).toEqual([]);
        lost.push(...tally.lost.map((reason) => `round ${round}: ${reason}`));
      }
      expect(lost).toEqual([]);
    },
    60_000 * ROUNDS,
  );

  it('answers requests on a connection that was idle, and requests that were sent in one piece', async () => {
    const server = await start();
    const port = portOf(server);
    const idle = await RawConnection.open(port);
    const fresh = await RawConnection.open(port);
    const pipelining = await RawConnection.open(port);
    idle.write(read());
    await idle.untilAnswers(1);
    server.process.kill('SIGTERM');
    await expect.poll(() => server.output(), { interval: 10 }).toContain('finishing requests in progress');
    idle.write(deposit());
    fresh.write(deposit());
    pipelining.write(deposit() + deposit() + read());
    await Promise.all([idle, fresh, pipelining].map((connection) => connection.untilClosed()));
    expect([idle, fresh, pipelining].map((connection) => connection.statuses())).toEqual([
      [200, 200],
      [200],
      [200, 200, 200],
    ]);
    const closing = [idle, fresh, pipelining].map(({ answers }) => answers.at(-1)?.headers.get('connection'));
    expect(closing).toEqual(['close', 'close', 'close']);
    expect(await endOf(server)).toBe(0);
  }, 60_000);
});

/** The same configuration with TLS, in a file beside it. */
function encrypted(config: string): string {
  const folder = dirname(config);
  const file = join(folder, 'encrypted.yaml');
  writeFileSync(join(folder, 'server.pem'), testIdentity.certificate);
  writeFileSync(join(folder, 'server-key.pem'), testIdentity.key);
  copyFileSync(config, file);
  appendFileSync(file, '  http:\n    tls: { certificate: server.pem, key: server-key.pem }\n');
  return file;
}
