import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RawConnection } from '../../../test/http/raw-connection.js';
import { ask, GuardedServer, PATH } from '../test-support/guarded-server.js';
import type { Ticket } from './gate.js';

/** A queue that does not empty for this time is overload, in milliseconds. */
const BURST_MS = 300;
/** A request waits for less than this under overload, in milliseconds. */
const MOMENT_MS = 20;
const POLL = { timeout: 30_000 };
const REQUEST = `GET ${PATH} HTTP/1.1\r\nHost: a\r\n\r\n`;
const LIVE = 'GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n';
const ABSENT = REQUEST.replace('deposit', 'absent');

let server: GuardedServer;
/** Places of the requests that are served. */
let tickets: Ticket[];

beforeEach(async () => {
  server = await GuardedServer.start();
  tickets = [];
  server.serve = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url !== PATH) response.writeHead(404).end();
    else
      server.gatekeeper.enter(request, response, (ticket) => {
        tickets.push(ticket);
        response.end('served');
      });
  };
});
afterEach(() => server.close());

/** A client that has been served before, on a server that is then overloaded. */
async function regular(): Promise<RawConnection> {
  server.free();
  const client = await server.connect();
  expect(await ask(client, REQUEST)).toBe(200);
  for (const ticket of tickets.splice(0)) ticket.leave(false);
  expect(server.gatekeeper.statistics.inFlight).toBe(0);
  server.fill(257);
  server.pass(BURST_MS);
  server.parsed = 0;
  return client;
}

/** The client's next request waits, beside the one that has made the server overloaded. */
async function waiting(client: RawConnection, request = REQUEST): Promise<void> {
  client.write(request);
  await expect.poll(() => server.gatekeeper.statistics.waiting, POLL).toBe(2);
  expect(server.parsed).toBe(0);
}

describe('Under overload, a request on a kept connection', () => {
  it('waits unparsed, and is refused unparsed', async () => {
    const client = await regular();
    await waiting(client);
    server.pass(MOMENT_MS);
    const answers = await client.untilAnswers(2);
    expect(answers[1]?.status).toBe(503);
    expect(Number(answers[1]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(server.parsed).toBe(0);
    expect(server.gatekeeper.statistics).toMatchObject({ inFlight: 256, waiting: 1, refused: 1 });
  });

  it('is served once a place is free, which it keeps', async () => {
    const client = await regular();
    await waiting(client);
    server.free(2);
    // The place is taken before the request is parsed.
    expect(server.gatekeeper.statistics).toMatchObject({ inFlight: 256, waiting: 0 });
    expect((await client.untilAnswers(2))[1]?.status).toBe(200);
    expect(server.gatekeeper.statistics.inFlight).toBe(256);
    tickets[0]?.leave(true);
    expect(server.gatekeeper.statistics.inFlight).toBe(255);
  });

  it('is served with its place while as many others wait as may', async () => {
    const client = await regular();
    server.fill(30);
    client.write(REQUEST);
    await expect.poll(() => server.gatekeeper.statistics.waiting, POLL).toBe(32);
    // The burst goes first, then the newest.
    server.free(2);
    server.fill(1);
    expect(server.gatekeeper.statistics).toMatchObject({ inFlight: 256, waiting: 31 });
    server.fill(1);
    expect((await client.untilAnswers(2))[1]?.status).toBe(200);
  });

  it('gives its place back if no route takes it', async () => {
    const client = await regular();
    await waiting(client, ABSENT);
    server.free(2);
    expect((await client.untilAnswers(2))[1]?.status).toBe(404);
    await expect.poll(() => server.gatekeeper.statistics.inFlight, POLL).toBe(255);
  });

  it('gives its place back if its client goes before it is answered', async () => {
    const client = await regular();
    await waiting(client);
    server.serve = () => {};
    server.free(2);
    client.socket.resetAndDestroy();
    await expect.poll(() => server.gatekeeper.statistics.inFlight, POLL).toBe(255);
  });

  it('is forgotten if its client goes while it waits', async () => {
    const client = await regular();
    await waiting(client);
    client.socket.resetAndDestroy();
    // The server has read that it is gone once it answers another client.
    for (let turn = 0; turn < 3; turn += 1) await ask(await server.connect(), LIVE);
    server.free(2);
    expect(server.gatekeeper.statistics.inFlight).toBe(255);
  });

  it('is answered before the next one of its connection', async () => {
    const client = await regular();
    await waiting(client);
    client.write(REQUEST + REQUEST);
    // They have arrived once another client has been answered.
    for (let turn = 0; turn < 3; turn += 1) await ask(await server.connect(), LIVE);
    server.pass(MOMENT_MS);
    expect((await client.untilAnswers(2)).map(({ status }) => status)).toEqual([200, 503]);
    server.free();
    expect(await client.untilAnswers(4)).toHaveLength(4);
  });

  it('is answered although its client has ended the connection', async () => {
    const client = await regular();
    await waiting(client);
    client.socket.end();
    await ask(await server.connect(), LIVE);
    server.pass(MOMENT_MS);
    await client.untilClosed();
    expect(client.statuses()).toEqual([200, 503]);
  });

  it('is parsed by a server that closes: its answer must end the connection', async () => {
    const client = await regular();
    server.gatekeeper.release();
    client.write(REQUEST);
    await expect.poll(() => server.parsed, POLL).toBe(1);
  });
});
