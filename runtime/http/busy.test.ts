import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { gate } from '../concurrency/test-support/gate.js';
import type { HttpServer } from './http-server.js';
import { WalletApplication } from './test-support/wallet-server.js';

const app = new WalletApplication();
let server: HttpServer;
let base: string;
let port: number;
let wallet: string;
let finish: () => void;

/** Places that a shard has at first. */
const PLACES = 256;

beforeEach(async () => {
  app.reset();
  wallet = app.open();
  const { opened: finished, open } = gate();
  finish = open;
  app.behaviour = async () => {
    await finished;
    return app.wallets.get(wallet);
  };
  server = app.server();
  ({ url: base, port } = await server.listen({ host: '127.0.0.1', port: 0 }));
});

afterEach(async () => {
  finish();
  await server.close(100);
});

const deposit = (id = wallet): Promise<Response> =>
  fetch(`${base}/wallets/${id}/deposit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"amount": "1"}',
  });

const underWay = (count: number): Promise<void> =>
  expect.poll(() => app.executions.length, { timeout: 20_000 }).toBe(count);

/** Answers by status. */
async function statusesOf(answers: readonly Promise<Response>[]): Promise<Readonly<Record<number, number>>> {
  const counts: Record<number, number> = {};
  for (const { status } of await Promise.all(answers)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** Connections that send the head of a deposit, and no more than a part of its body. */
async function sendHeads(count: number): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets) {
    socket.on('error', () => {});
    socket.write(
      `POST /wallets/${wallet}/deposit HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"am`,
    );
  }
  await Promise.all(sockets.map((socket) => expect.poll(() => socket.bytesWritten).toBeGreaterThan(0)));
  return sockets;
}

describe('A server with more requests than places', () => {
  it('refuses at once what it has no place for, with one log line per second, and serves the rest, health and other shards', async () => {
    const answers = Array.from({ length: 4 * PLACES }, () => deposit());
    await underWay(PLACES);
    // Nothing that is under way ends before all others have been refused.
    let settled = 0;
    for (const answer of answers) answer.then(() => (settled += 1));
    await expect.poll(() => settled, { timeout: 20_000 }).toBe(3 * PLACES);
    const refused = await Promise.any(answers);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await refused.json()).toMatchObject({ code: 'FW_SHARD_BUSY', shard: '(1, 0)' });
    for (const path of ['live', 'ready']) expect((await fetch(`${base}/health/${path}`)).status).toBe(200);
    const elsewhere = wallet.replace(/-8040-/, '-8000-');
    expect(elsewhere).not.toBe(wallet);
    expect((await fetch(`${base}/wallets/${elsewhere}`)).status).toBe(404);
    const summary = () => app.log.some((entry) => Number(entry['suppressed']) > 0);
    await expect.poll(summary, { timeout: 20_000 }).toBe(true);
    expect(app.log.length).toBeLessThan(20);
    finish();
    expect(await statusesOf(answers)).toEqual({ 200: PLACES, 503: 3 * PLACES });
    expect(app.executions.length).toBe(PLACES + 1);
    expect((await deposit()).status).toBe(200);
  });

  it('gives no place to requests that have not arrived as a whole', async () => {
    const sockets = await sendHeads(2 * PLACES);
    const answers = Array.from({ length: PLACES }, () => deposit());
    await underWay(PLACES);
    finish();
    expect(await statusesOf(answers)).toEqual({ 200: PLACES });
    for (const socket of sockets) socket.destroy();
  });

  it.each([Number.NaN, 0, -1])('cannot have the limit %d', (requests) => {
    const message = `limits.requests must be a positive number, got ${requests}`;
    expect(() => app.server({ limits: { requests } })).toThrow(message);
  });
});
