import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testServer } from '../databases/vitest.js';
import { RawConnection } from './raw-connection.js';
import { WalletService } from './wallet-service.js';

const WALLETS = 40;
const CLIENTS = 600;
const SLOW_CLIENTS = 500;
const BODY = '{"amount":"1"}';

describe('The generated wallet beyond its capacity', () => {
  let service: WalletService;
  const wallets: string[] = [];
  const sockets: Socket[] = [];

  beforeAll(async () => {
    service = await WalletService.start('postgresql', testServer());
    for (let wallet = 0; wallet < WALLETS; wallet += 1) wallets.push(await service.openWallet('0'));
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await service.close();
  });

  const deposit = (wallet: string | undefined): string =>
    `POST /wallets/${wallet}/deposit HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${BODY.length}\r\n\r\n${BODY}`;

  async function balances(): Promise<number> {
    let sum = 0;
    for (const wallet of wallets) sum += Number((await service.stateOf(wallet)).wallet['balance']);
    return sum;
  }

  it('serves requests up to its capacity, refuses the rest, and leaves no outcome open', async () => {
    const before = await balances();
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, () => RawConnection.open(service.port)),
    );
    sockets.push(...clients.map(({ socket }) => socket));
    // The kernel connects clients before the server accepts them.
    for (const client of clients) client.write('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
    await Promise.all(clients.map((client) => client.untilAnswers(1)));
    expect(new Set(clients.flatMap((client) => client.statuses()))).toEqual(new Set([200]));
    for (const [number, client] of clients.entries()) client.write(deposit(wallets[number % WALLETS]));
    const answers = await Promise.all(clients.map(async (client) => (await client.untilAnswers(2))[1]));
    const served = answers.filter((answer) => answer?.status === 200);
    const refused = answers.filter((answer) => answer?.status === 503);
    expect(served.length + refused.length).toBe(CLIENTS);
    expect(served.length).toBeGreaterThan(0);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expect(Number(answer?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer?.text).toContain('"code":"FW_SHARD_BUSY"');
    }
    expect(await balances()).toBe(before + served.length);
    expect(service.log.length).toBeLessThan(20);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(/fw_shard_circuit_open\{shard="\(1, 0\)"[^}]*\} 0/);
    expect(metrics).toContain('fw_http_busy_in_flight 0');
    const total = Number(/fw_http_busy_refused_total\{shard="\(1, 0\)"\} (\d+)/.exec(metrics)?.[1]);
    expect(total).toBe(refused.length);
  });

  it('keeps its slots for complete requests, despite slow clients', async () => {
    for (let client = 0; client < SLOW_CLIENTS; client += 1) {
      const bytes = deposit(wallets[client % WALLETS]);
      const socket = connect(service.port, '127.0.0.1').on('error', () => {});
      sockets.push(socket);
      // A part of the head, the complete head, or all but the last byte of the body.
      socket.write(bytes.slice(0, [40, bytes.length - BODY.length, bytes.length - 1][client % 3]));
    }
    for (let request = 0; request < 100; request += 1) {
      const answer = await service.post(`/wallets/${wallets[request % WALLETS]}/deposit`, BODY);
      expect(answer.status).toBe(200);
    }
  });
});
