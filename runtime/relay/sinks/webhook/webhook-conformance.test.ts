import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { sinkConformance } from '../../test-support/sink-conformance.js';
import type { ReceivedMessage } from '../../test-support/tested-sink.js';
import { webhookSink } from './webhook-sink.js';

const SECRET = Buffer.alloc(32, 7).toString('base64');
const received: ReceivedMessage[] = [];
let server: Server;
let port = 0;

/** Accepts every message except those marked as unacceptable. */
async function listen(): Promise<void> {
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      if (body.includes('unacceptable')) return void response.writeHead(422).end();
      const attributes = attributesOf(request.headers);
      received.push({
        id: String(request.headers['webhook-id']),
        key: attributes['subject'],
        attributes,
        body,
      });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  port = (server.address() as AddressInfo).port;
}

async function stop(): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

function attributesOf(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const found = Object.entries(headers).filter(([name]) => name.startsWith('ce-'));
  return Object.fromEntries(found.map(([name, value]) => [name.slice(3), decodeURIComponent(String(value))]));
}

beforeAll(listen);
afterAll(stop);

const cases = sinkConformance({
  open: () => webhookSink({ url: `http://127.0.0.1:${port}/hook`, secret: SECRET }),
  received: () => received,
  unacceptable: (message) => ({ ...message, body: '"unacceptable"' }),
  outage: { begin: stop, end: listen },
});

describe('A webhook', () => {
  for (const { name, run } of cases) test(name, run, 120_000);
});
