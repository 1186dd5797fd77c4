import type { IncomingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { HttpReceiver } from '../../test-support/http-receiver.js';
import { sinkConformance } from '../../test-support/sink-conformance.js';
import type { ReceivedMessage } from '../../test-support/tested-sink.js';
import { webhookSink } from './webhook-sink.js';

const SECRET = Buffer.alloc(32, 7).toString('base64');
const received: ReceivedMessage[] = [];

/** Accepts every message except those marked as unacceptable. */
const receiver = new HttpReceiver(({ headers }, body, response) => {
  if (body.includes('unacceptable')) return void response.writeHead(422).end();
  const attributes = attributesOf(headers);
  received.push({ id: String(headers['webhook-id']), key: attributes['subject'], attributes, body });
  response.writeHead(204).end();
});

function attributesOf(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const found = Object.entries(headers).filter(([name]) => name.startsWith('ce-'));
  return Object.fromEntries(found.map(([name, value]) => [name.slice(3), decodeURIComponent(String(value))]));
}

beforeAll(receiver.open);
afterAll(receiver.close);

const cases = sinkConformance({
  open: () => webhookSink({ url: receiver.url, secret: SECRET }),
  received: () => received,
  unacceptable: (message) => ({ ...message, body: '"unacceptable"' }),
  outage: { begin: receiver.close, end: receiver.open },
});

describe('A webhook', () => {
  for (const { name, run } of cases) test(name, run, 120_000);
});
