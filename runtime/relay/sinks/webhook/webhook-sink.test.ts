import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { PublishOutcome, RelayMessage } from '../../relay-sink.js';
import { HttpReceiver } from '../../test-support/http-receiver.js';
import { webhookSink } from './webhook-sink.js';

interface Posted {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const KEY = Buffer.alloc(32, 7);
const SECRET = `whsec_${KEY.toString('base64')}`;
type Answer = (body: string) => { status: number; headers?: Record<string, string>; text?: string };

async function receiver(answer: Answer | 'silent') {
  const posted: Posted[] = [];
  const opened = new HttpReceiver((request, body, response) => {
    posted.push({ headers: request.headers, body });
    if (answer === 'silent') return;
    const { status, headers = {}, text = '' } = answer(body);
    response.writeHead(status, headers).end(text);
  });
  await opened.open();
  onTestFinished(opened.close);
  return { url: opened.url, posted, close: opened.close };
}

function message(id: string, key: string, more: Partial<RelayMessage> = {}): RelayMessage {
  const common = { modelName: 'Wallet', eventType: 'Created', contentType: 'application/json' };
  return { id, key, ...common, attributes: {}, body: `{"id":"${id}"}`, ...more };
}

const never = new AbortController().signal;

/** The outcome of one message for a receiver that answers so. */
async function outcomeOf(answer: Answer | 'silent', timeoutMs = 10_000): Promise<PublishOutcome | undefined> {
  const { url } = await receiver(answer);
  const sink = webhookSink({ url, secret: SECRET, timeoutMs });
  return (await sink.publish([message('e', 'm')], never))[0];
}

test('posts signed messages with the attributes of their CloudEvent as headers', async () => {
  const { url, posted } = await receiver(() => ({ status: 204 }));
  const sink = webhookSink({ url, secret: SECRET });
  const attributes = { type: 'a.b', subject: 'Größe 5"' };
  const outcomes = await sink.publish([message('e1', 'm1', { attributes })], never);
  expect(outcomes).toEqual([{ kind: 'accepted' }]);
  const [{ headers, body } = { headers: {}, body: '' }] = posted;
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'ce-type': 'a.b',
    'ce-subject': 'Gr%C3%B6%C3%9Fe%205%22',
    'webhook-id': 'e1',
  });
  const timestamp = String(headers['webhook-timestamp']);
  expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(60);
  const expected = createHmac('sha256', KEY).update(`e1.${timestamp}.${body}`).digest('base64');
  expect(headers['webhook-signature']).toBe(`v1,${expected}`);
});

test.each([
  [200, 'accepted'],
  [202, 'accepted'],
  [300, 'deferred'],
  [400, 'rejected'],
  [401, 'deferred'],
  [404, 'deferred'],
  [410, 'gone'],
  [413, 'rejected'],
  [422, 'rejected'],
  [429, 'deferred'],
  [500, 'deferred'],
  [503, 'deferred'],
] as const)('takes %i for %s', async (status, kind) => {
  const outcome = await outcomeOf(() => ({ status, headers: { location: '/elsewhere' } }));
  expect(outcome?.kind).toBe(kind);
});

test.each([
  ['7', 7_000, 'the receiver answered 429 with Retry-After: 7'],
  ['nonsense', 0, 'the receiver answered 429'],
  ['Mon, 01 Jan 2024 00:00:00 GMT', 0, 'the receiver answered 429'],
])('waits as long as the receiver asks it to: Retry-After: %s', async (retryAfter, retryAfterMs, reason) => {
  const outcome = await outcomeOf(() => ({ status: 429, headers: { 'retry-after': retryAfter } }));
  expect(outcome).toEqual({ kind: 'deferred', reason, retryAfterMs });
});

test('waits until the date that the receiver names', async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  const outcome = await outcomeOf(() => ({ status: 503, headers: { 'retry-after': date } }));
  const waitMs = outcome?.kind === 'deferred' ? outcome.retryAfterMs : undefined;
  expect(waitMs).toBeGreaterThan(3_000_000);
  expect(waitMs).toBeLessThanOrEqual(3_600_000);
});

test('counts a 500 against the message only while the receiver accepts others', async () => {
  const { url } = await receiver((body) => ({ status: body.includes('bad') ? 500 : 204 }));
  const sink = webhookSink({ url, secret: SECRET });
  const [alone] = await sink.publish([message('bad', 'm')], never);
  expect(alone).toEqual({ kind: 'deferred', reason: 'the receiver answered 500' });
  const outcomes = await sink.publish([message('bad', 'm'), message('good', 'n')], never);
  expect(outcomes).toEqual([{ kind: 'rejected', reason: 'the receiver answered 500' }, { kind: 'accepted' }]);
});

test('gives up a request that is not answered in time, and fails at once for a closed port', async () => {
  expect(await outcomeOf('silent', 20)).toEqual({ kind: 'deferred', reason: 'no answer within 20 ms' });
  const gone = await receiver(() => ({ status: 200 }));
  await gone.close();
  const closed = webhookSink({ url: gone.url, secret: SECRET });
  const [refused] = await closed.publish([message('e', 'm')], never);
  expect(refused).toMatchObject({ kind: 'deferred', reason: expect.stringContaining('ECONNREFUSED') });
});

test('reads no more of an answer than it needs', async () => {
  const outcome = await outcomeOf(() => ({ status: 200, text: 'x'.repeat(5_000_000) }));
  expect(outcome?.kind).toBe('accepted');
});

test('takes a secret of 24 to 64 bytes, and refuses another one without showing it', () => {
  const url = 'http://127.0.0.1';
  const ofBytes = (count: number): string => Buffer.alloc(count).toString('base64');
  for (const count of [24, 64]) webhookSink({ url, secret: ofBytes(count) });
  for (const secret of ['short', 'whsec_!!!not base64!!!', ofBytes(23), ofBytes(65)]) {
    expect(() => webhookSink({ url, secret })).toThrow(/24 to 64 bytes in base64/);
    expect(() => webhookSink({ url, secret })).not.toThrow(secret);
  }
});
