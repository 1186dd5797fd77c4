import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { useTime } from '../../concurrency/time.js';
import { ShardedId } from '../../domain/id.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { IssuerUnavailableError, UnauthenticatedError } from '../../errors.js';
import type { FeedEvent } from '../../persistence/read/feed-reader.js';
import {
  LiveFeeds,
  type LiveFeedsOptions,
  lastVersion,
  type ReadFeeds,
  type StreamedReply,
} from './live-feeds.js';

const streamed = (raw: ServerResponse): StreamedReply => ({ raw, hijack: () => {}, getHeaders: () => ({}) });

const HERE = ShardIdentifier.of(0, 0);
/** The default model, or one of its own for each path. */
const idOf = (path = '/'): ShardedId<unknown> =>
  path === '/' ? ID : ShardedId.named('Wallet', `01890a5d-ac96-7d4c-8000-${path.slice(1).padStart(12, '0')}`);
const ID = ShardedId.named('Wallet', '01890a5d-ac96-7d4c-8000-c2b7a4f8a001');
const opened: { readonly server: Server; readonly feeds: LiveFeeds }[] = [];

let restoreTime = (): void => {};

afterEach(() => {
  restoreTime();
  for (const { server, feeds } of opened.splice(0)) {
    feeds.close();
    server.closeAllConnections();
    server.close();
  }
});

function event(modelVersion: number): FeedEvent {
  const createdDate = new Date('2026-01-02T03:04:05Z');
  return {
    id: `e${modelVersion}`,
    eventType: 'Paid',
    eventVersion: 1,
    modelVersion,
    payload: {},
    createdDate,
    position: String(modelVersion),
  };
}

/** A server on which each request opens a stream. `versions` is the model's log. */
async function serve(options: Partial<LiveFeedsOptions> = {}, authenticate: () => unknown = () => {}) {
  const versions: number[] = [];
  const reads: number[] = [];
  const read: ReadFeeds = async (_shard, models, page) => {
    reads.push(models.length);
    return models.map(({ after }) =>
      versions
        .filter((version) => version > after)
        .slice(0, page.events)
        .map(event),
    );
  };
  const feeds = new LiveFeeds({ read, defaultShard: () => HERE, pollMs: 5, ...options });
  const server = createServer((request, response) => {
    try {
      const after = lastVersion(request.headers['last-event-id']);
      feeds.open(streamed(response), idOf(request.url), { caller: 'tester', after, authenticate });
    } catch (error) {
      response.writeHead(503).end(String(error));
    }
  });
  // As the product's server has it.
  Object.assign(server, { httpAllowHalfOpen: true });
  opened.push({ server, feeds });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    versions,
    feeds,
    server,
    reads,
  };
}

/** The ids that arrive, until there are `count` or the stream ends. */
async function ids(response: Response, count: number): Promise<readonly string[]> {
  let text = '';
  const decoder = new TextDecoder();
  const found = (): readonly string[] => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id = '']) => id);
  const reader = response.body?.getReader();
  while (reader !== undefined && found().length < count) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  reader?.releaseLock();
  return found();
}

/** A client that opens a stream and reads it as the test says. */
function openRaw(url: string): Socket {
  const client = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  client.pause().write('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
  return client;
}

test('a stream returns past events, then new ones', async () => {
  const { url, versions } = await serve();
  versions.push(1, 2);
  const response = await fetch(url);
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(await ids(response, 2)).toEqual(['1', '2']);
  versions.push(3);
  expect(await ids(response, 1)).toEqual(['3']);
});

test('a stream ends once its credential is refused, but not while the credential cannot be checked', async () => {
  let refusal: Error = new IssuerUnavailableError('away');
  let checks = 0;
  const { url, versions } = await serve({ authenticateMs: 5 }, async () => {
    checks += 1;
    throw refusal;
  });
  const response = await fetch(url);
  await expect.poll(() => checks).toBeGreaterThan(1);
  versions.push(1);
  expect(await ids(response, 1)).toEqual(['1']);
  refusal = new UnauthenticatedError('The API key was revoked', { challenge: 'Bearer' });
  expect(await ids(response, 1)).toEqual([]);
});

test('of several events of one version only the last carries the id, so that none is lost between them', async () => {
  const { url, versions } = await serve();
  versions.push(1, 2, 2, 2, 3);
  const response = await fetch(url);
  expect(await ids(response, 3)).toEqual(['1', '2', '3']);
});

test('more than a page is sent at once, without waiting for the next poll', async () => {
  const { url, versions } = await serve({ pollMs: 60_000 });
  versions.push(...Array.from({ length: 250 }, (_, index) => index + 1));
  expect(await ids(await fetch(url), 250)).toHaveLength(250);
});

test.each([
  ['refuses', () => Promise.reject(new Error('down'))],
  ['does not answer', () => new Promise<never>(() => {})],
])('a stream stays alive while the shard %s', async (_what, read) => {
  const { url } = await serve({ heartbeatMs: 1, read });
  let text = '';
  const client = openRaw(url).on('data', (data) => {
    text += String(data);
  });
  client.resume();
  await vi
    .waitFor(() => expect(text.split('\n:\n').length).toBeGreaterThan(2), { timeout: 10_000 })
    .finally(() => client.destroy());
});

test('the streams of a shard share one statement, and a process has a maximum of them', async () => {
  const { url, reads, feeds } = await serve({ streams: 3 });
  await Promise.all([fetch(`${url}/1`), fetch(`${url}/2`), fetch(`${url}/2`)]);
  while (!reads.includes(2)) await new Promise((resolve) => setTimeout(resolve, 2));
  expect(feeds.size).toBe(3);
  // Two streams of one model are read once.
  expect(reads).not.toContain(3);
  expect((await fetch(url)).status).toBe(503);
});

test('a caller has a maximum of streams, and its place is free as soon as one is closed', async () => {
  const { url, feeds } = await serve({ streamsPerCaller: 1 });
  const leaving = openRaw(url).resume();
  await vi.waitFor(() => expect(feeds.size).toBe(1), { timeout: 30_000 });
  expect(await (await fetch(url)).text()).toContain('tester has 1 event streams open');
  leaving.end();
  await vi.waitFor(() => expect(feeds.size).toBe(0), { timeout: 30_000 });
});

test('a poll reads a part of a long history, so that one stream cannot occupy the process', async () => {
  let read = 0;
  const endless: ReadFeeds = async (_shard, models, { events }) => {
    read += models.length * events;
    // Like a database, it leaves the process time to write.
    await new Promise((resolve) => setTimeout(resolve, 1));
    return models.map(({ after }) => Array.from({ length: events }, (_, index) => event(after + index + 1)));
  };
  const { url } = await serve({ read: endless, pollMs: 60_000 });
  const client = openRaw(url).resume();
  await vi.waitFor(() => expect(read).toBeGreaterThanOrEqual(1_000), { timeout: 30_000 });
  // Without a limit, it would go on for as long as the client reads.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(read).toBeLessThanOrEqual(2_000);
  client.destroy();
});

test('a statement asks for a bounded number of models, events and bytes, however many streams there are', async () => {
  const asked: { models: number; events: number; bytes: number }[] = [];
  const read: ReadFeeds = async (_shard, models, { events, bytes }) => {
    asked.push({ models: models.length, events, bytes });
    return models.map(() => []);
  };
  const { url, feeds } = await serve({ read, streamsPerCaller: 300 });
  await Promise.all(Array.from({ length: 250 }, (_, index) => fetch(`${url}/${index}`)));
  expect(feeds.size).toBe(250);
  await vi.waitFor(() => expect(asked.map(({ models }) => models)).toContain(200), { timeout: 30_000 });
  for (const { models, events, bytes } of asked) {
    expect(models).toBeLessThanOrEqual(200);
    expect(models * events).toBeLessThan(2_000 + models);
    expect(models * bytes).toBeLessThanOrEqual(200 * 65_536);
  }
});

test('a client that does not read gets no more than its buffer, and the rest when it reads', async () => {
  const text = 'x'.repeat(50_000);
  const read: ReadFeeds = async (_shard, models) =>
    models.map(({ after }) =>
      Array.from({ length: Math.min(100, 2_000 - after) }, (_, index) => ({
        ...event(after + index + 1),
        payload: { text },
      })),
    );
  const responses: ServerResponse[] = [];
  const { url, server } = await serve({ read });
  server.prependListener('request', (_request, response) => responses.push(response));
  const client = openRaw(url);
  await vi.waitFor(() => expect(responses[0]?.writableLength).toBeGreaterThan(262_144), { timeout: 30_000 });
  expect(responses[0]?.writableLength).toBeLessThan(400_000);
  let received = 0;
  client.on('data', (chunk) => {
    received += chunk.length;
  });
  client.resume();
  await vi.waitFor(() => expect(received).toBeGreaterThan(2_000_000), { timeout: 30_000 });
  client.destroy();
});

test('a stream ends after five minutes, so that its caller is authorized again with the next one', async () => {
  let nowMs = 1_000;
  restoreTime = useTime({ nowMs: () => nowMs });
  const { url, versions, feeds } = await serve();
  const response = await fetch(url);
  nowMs += 300_000;
  versions.push(1);
  expect(await ids(response, 1)).toEqual(['1']);
  nowMs += 1;
  expect(await ids(response, 1)).toEqual([]);
  await vi.waitFor(() => expect(feeds.size).toBe(0), { timeout: 30_000 });
  versions.push(2);
  const again = await fetch(url, { headers: { 'last-event-id': '1' } });
  expect(await ids(again, 1)).toEqual(['2']);
});

test('clients that do not read share a buffer: above it, only those that have read everything get more', async () => {
  const text = 'x'.repeat(50_000);
  const read: ReadFeeds = async (_shard, models) =>
    models.map(({ after }) => [{ ...event(after + 1), payload: { text } }]);
  const responses: ServerResponse[] = [];
  const { url, server } = await serve({ read, bufferBytes: 1 });
  server.prependListener('request', (_request, response) => responses.push(response));
  const client = openRaw(url);
  await vi.waitFor(() => expect(responses[0]?.writableLength).toBeGreaterThan(0), { timeout: 30_000 });
  // It is asked for again at each poll, every 5 ms.
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(responses[0]?.writableLength).toBeLessThan(110_000);
  expect(await ids(await fetch(url), 3)).toEqual(['1', '2', '3']);
  client.destroy();
});

test('a client that does not read is cut off soon after the end of its stream', async () => {
  let nowMs = 1_000;
  restoreTime = useTime({ nowMs: () => nowMs });
  // More than the system buffers for a connection.
  const large = { ...event(1), payload: { text: 'x'.repeat(16_000_000) } };
  let sent = false;
  const read: ReadFeeds = async (_shard, models) => {
    setImmediate(() => {
      sent = true;
    });
    return models.map(({ after }) => (after < 1 ? [large] : []));
  };
  const { url, feeds } = await serve({ read });
  const client = openRaw(url);
  await vi.waitFor(() => expect(sent).toBe(true), { timeout: 30_000 });
  expect(feeds.size).toBe(1);
  nowMs += 310_001;
  await vi.waitFor(() => expect(feeds.size).toBe(0), { timeout: 30_000 });
  client.destroy();
});

test('a client that leaves is no longer polled for, and a closing server ends every stream', async () => {
  const { url, feeds } = await serve();
  const leaving = new AbortController();
  await fetch(url, { signal: leaving.signal });
  leaving.abort();
  while (feeds.size > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  const staying = await fetch(url);
  feeds.close();
  expect(await ids(staying, 1)).toEqual([]);
});

test('a stream of a closing server ends at once, so that a browser reconnects: after a refusal it would not', async () => {
  const { url, feeds, versions } = await serve();
  feeds.close();
  versions.push(1);
  const late = await fetch(url);
  expect(late.status).toBe(200);
  expect(await late.text()).toBe('retry: 1000\n\n');
  expect(feeds.size).toBe(0);
});

test.each([
  ['ended its side', 'end', (client: Socket) => client.end()],
  ['reset the connection', 'close', (client: Socket) => client.resetAndDestroy()],
] as const)('a client that %s before its stream began takes no slot', async (_, event, leave) => {
  const { feeds, server, url } = await serve({ streams: 1 });
  const client = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
  const left = new Promise<void>((resolve) => {
    server.removeAllListeners('request').once('request', (request, response) => {
      request.socket
        .on('error', () => {})
        .once(event, () => {
          feeds.open(streamed(response), ID, { caller: 'tester', after: 0, authenticate: () => {} });
          resolve();
        });
      leave(client);
    });
  });
  client.write('GET / HTTP/1.1\r\nHost: test\r\n\r\n');
  await left;
  expect(feeds.size).toBe(0);
  client.destroy();
});

test.each(['x', '-1', '1.5', '1234567890123456'])('a Last-Event-ID of no version is refused: %s', (text) => {
  expect(() => lastVersion(text)).toThrow('must be the version of a model');
});
