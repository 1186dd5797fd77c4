import { afterEach, beforeEach, expect, it } from 'vitest';
import { ask, GuardedServer, PATH } from '../test-support/guarded-server.js';

/** Requests that are refused at once in each second, however early. */
const AT_ONCE = 200;
const BODY = '{"amount":"1"}';
const HEAD = `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: ${BODY.length}\r\n\r\n`;
const DEPOSIT = HEAD + BODY;

// The clock stands still: queued requests keep waiting, and every refused client retries too early.
let server: GuardedServer;

beforeEach(async () => {
  server = await GuardedServer.start();
});
afterEach(() => server.close());

it('gets the same refusal without the parser as with it, and the next request is served', async () => {
  const client = await server.connect();
  expect([await ask(client, DEPOSIT), await ask(client, DEPOSIT)]).toEqual([503, 503]);
  expect(server.parsed).toBe(1);
  const [first, second] = client.answers;
  expect(second?.text).toBe(first?.text);
  const names = ['content-type', 'cache-control', 'x-content-type-options', 'connection', 'content-length'];
  for (const name of names) expect(second?.headers.get(name)).toBe(first?.headers.get(name));
  expect(Number(second?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Date.parse(second?.headers.get('date') ?? '')).toBeGreaterThan(0);
  expect(server.gatekeeper.statistics.refused).toBe(2);
  server.free();
  expect(await ask(client, DEPOSIT)).toBe(200);
  expect(server.served).toEqual([BODY]);
});

it('is refused by the parser if its request comes in pieces, in chunks or with others', async () => {
  const client = await server.connect();
  expect(await ask(client, DEPOSIT)).toBe(503);
  expect(await ask(client, HEAD, BODY)).toBe(503);
  expect(server.parsed).toBe(2);
  const chunked = HEAD.replace(/Content-Length: \d+/, 'Transfer-Encoding: chunked');
  expect(await ask(client, `${chunked}5\r\nabcde\r\n0\r\n\r\n`)).toBe(503);
  client.write(DEPOSIT + DEPOSIT);
  expect((await client.untilAnswers(5)).map(({ status }) => status)).toEqual(Array(5).fill(503));
  expect(server.served).toEqual([]);
  server.free();
  expect(await ask(client, DEPOSIT)).toBe(200);
});

it('is held if too many come back too early, until a place is free', async () => {
  const hasty = await Promise.all(Array.from({ length: AT_ONCE + 2 }, () => server.connect()));
  expect(await Promise.all(hasty.map((client) => ask(client, DEPOSIT)))).toEqual(
    Array(AT_ONCE + 2).fill(503),
  );
  const again = hasty.map((client) => ask(client, DEPOSIT));
  await expect.poll(() => server.gatekeeper.statistics.held, { timeout: 30_000 }).toBe(2);
  const live = await server.connect();
  expect(await ask(live, 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n')).toBe(200);
  server.free();
  const statuses = await Promise.all(again);
  expect(statuses.filter((status) => status === 200)).toEqual([200, 200]);
  expect(server.gatekeeper.statistics.held).toBe(0);
});

it('is answered by a server that closes, also if it is held', async () => {
  const hasty = await Promise.all(Array.from({ length: AT_ONCE + 1 }, () => server.connect()));
  await Promise.all(hasty.map((client) => ask(client, DEPOSIT)));
  const again = hasty.map((client) => ask(client, DEPOSIT));
  await expect.poll(() => server.gatekeeper.statistics.held, { timeout: 30_000 }).toBe(1);
  server.gatekeeper.release();
  expect(await Promise.all(again)).toEqual(Array(AT_ONCE + 1).fill(503));
});

it('leaves no request behind when it goes away while it is held', async () => {
  const hasty = await Promise.all(Array.from({ length: AT_ONCE + 1 }, () => server.connect()));
  await Promise.all(hasty.map((client) => ask(client, DEPOSIT)));
  for (const client of hasty) client.write(DEPOSIT);
  await expect.poll(() => server.gatekeeper.statistics.held, { timeout: 30_000 }).toBe(1);
  for (const { socket } of hasty) socket.destroy();
  // The server has read that they are gone once it answers another client.
  for (let turn = 0; turn < 3; turn += 1)
    await ask(await server.connect(), 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
  server.free();
  await expect.poll(() => server.gatekeeper.statistics.held, { timeout: 30_000 }).toBe(0);
  expect(server.served.filter((body) => body !== '')).toEqual([]);
});
