import { afterEach, beforeEach, expect, it } from 'vitest';
import { RawConnection } from '../../../test/http/raw-connection.js';
import { Answers } from '../answer.js';
import { Connections } from '../connection/connections.js';
import { httpListener } from '../connection/http-listener.js';
import { DEFAULT_HTTP_LIMITS } from '../limits.js';
import { collectLog } from '../test-support/collect-log.js';
import { Admission } from './admission.js';
import type { Ticket } from './gate.js';
import { Gatekeeper } from './gatekeeper.js';
import { shardInPath } from './path-shard.js';

/** Places that a shard has at first, and requests that may wait for them. */
const PLACES = 256;
/** Requests that are refused at once in each second, however early. */
const AT_ONCE = 200;
const PATH = '/wallets/01942f5e-7c00-7a3b-8040-5d0e9c6b1f27/deposit';
const BODY = '{"amount":"1"}';
const HEAD = `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY.length}\r\n\r\n`;
const DEPOSIT = HEAD + BODY;

const places: Ticket[] = [];
const clients: RawConnection[] = [];
let gatekeeper: Gatekeeper;
let port: number;
/** Bodies that were served, and requests that the parser has read. */
let served: string[];
let parsed: number;
let close: () => Promise<void>;

beforeEach(async () => {
  // The clock is stopped: queued requests keep waiting, and every refused client retries too early.
  const admission = new Admission({ nowMs: () => 0, later: () => {} });
  const connections = new Connections(DEFAULT_HTTP_LIMITS);
  const answers = new Answers({ log: collectLog([]), connections });
  const { keepAliveTimeoutMs } = DEFAULT_HTTP_LIMITS;
  const nowMs = (): number => 0;
  gatekeeper = new Gatekeeper({
    answers,
    connections,
    admission,
    keepAliveTimeoutMs,
    nowMs,
    hasHooks: false,
  });
  [served, parsed, places.length] = [[], 0, 0];
  const request = gatekeeper.guard((message, response) => {
    let body = '';
    message.on('data', (bytes) => {
      body += String(bytes);
    });
    message.on('end', () => {
      served.push(body);
      response.end('served');
    });
  });
  const server = httpListener(DEFAULT_HTTP_LIMITS, { request, expectation: request, connections });
  server.on('request', () => {
    parsed += 1;
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  port = address.port;
  const entrant = {
    admitted: (ticket: Ticket) => void places.push(ticket),
    refused: () => {},
    isGone: false,
  };
  for (let count = 0; count < 2 * PLACES; count += 1) admission.enter(shardInPath(PATH), entrant);
  close = () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    return connections.drain(0, () => {});
  };
});
afterEach(() => close());

async function connected(): Promise<RawConnection> {
  const client = await RawConnection.open(port);
  clients.push(client);
  return client;
}

function freeAll(): void {
  while (places.length > 0) places.shift()?.leave(false);
}

/** Sends a request and waits for its answer. */
async function ask(client: RawConnection, ...pieces: readonly string[]): Promise<number> {
  const before = client.answers.length;
  for (const piece of pieces) {
    client.write(piece);
    // A piece of its own for the server, too.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const answers = await client.untilAnswers(before + 1);
  return answers[before]?.status ?? 0;
}

it('gets the same refusal without the parser as with it, and the next request is served', async () => {
  const client = await connected();
  expect([await ask(client, DEPOSIT), await ask(client, DEPOSIT)]).toEqual([503, 503]);
  expect(parsed).toBe(1);
  const [first, second] = client.answers;
  expect(second?.text).toBe(first?.text);
  const names = ['content-type', 'cache-control', 'x-content-type-options', 'connection', 'content-length'];
  for (const name of names) expect(second?.headers.get(name)).toBe(first?.headers.get(name));
  expect(Number(second?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Date.parse(second?.headers.get('date') ?? '')).toBeGreaterThan(0);
  expect(gatekeeper.statistics.refused).toBe(2);
  freeAll();
  expect(await ask(client, DEPOSIT)).toBe(200);
  expect(served).toEqual([BODY]);
});

it('is refused by the parser if its request comes in pieces, in chunks or with others', async () => {
  const client = await connected();
  expect(await ask(client, DEPOSIT)).toBe(503);
  expect(await ask(client, HEAD, BODY)).toBe(503);
  expect(parsed).toBe(2);
  const chunked = HEAD.replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked');
  expect(await ask(client, `${chunked}5\r\nabcde\r\n0\r\n\r\n`)).toBe(503);
  client.write(DEPOSIT + DEPOSIT);
  expect((await client.untilAnswers(5)).map(({ status }) => status)).toEqual(Array(5).fill(503));
  expect(served).toEqual([]);
  freeAll();
  expect(await ask(client, DEPOSIT)).toBe(200);
});

it('is held if too many come back too early, until a place is free', async () => {
  const hasty = await Promise.all(Array.from({ length: AT_ONCE + 2 }, connected));
  expect(await Promise.all(hasty.map((client) => ask(client, DEPOSIT)))).toEqual(
    Array(AT_ONCE + 2).fill(503),
  );
  const again = hasty.map((client) => ask(client, DEPOSIT));
  await expect.poll(() => gatekeeper.statistics.held, { timeout: 30_000 }).toBe(2);
  const live = await connected();
  expect(await ask(live, 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')).toBe(200);
  freeAll();
  const statuses = await Promise.all(again);
  expect(statuses.filter((status) => status === 200)).toEqual([200, 200]);
  expect(gatekeeper.statistics.held).toBe(0);
});

it('is answered by a server that closes, also if it is held', async () => {
  const hasty = await Promise.all(Array.from({ length: AT_ONCE + 1 }, connected));
  await Promise.all(hasty.map((client) => ask(client, DEPOSIT)));
  const again = hasty.map((client) => ask(client, DEPOSIT));
  await expect.poll(() => gatekeeper.statistics.held, { timeout: 30_000 }).toBe(1);
  gatekeeper.release();
  expect(await Promise.all(again)).toEqual(Array(AT_ONCE + 1).fill(503));
});

it('leaves no request behind when it goes away while it is held', async () => {
  const hasty = await Promise.all(Array.from({ length: AT_ONCE + 1 }, connected));
  await Promise.all(hasty.map((client) => ask(client, DEPOSIT)));
  for (const client of hasty) client.write(DEPOSIT);
  await expect.poll(() => gatekeeper.statistics.held, { timeout: 30_000 }).toBe(1);
  for (const { socket } of hasty) socket.destroy();
  // The server has read that they are gone once it answers another client.
  for (let turn = 0; turn < 3; turn += 1)
    await ask(await connected(), 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
  freeAll();
  await expect.poll(() => gatekeeper.statistics.held, { timeout: 30_000 }).toBe(0);
  expect(served.filter((body) => body !== '')).toEqual([]);
});
