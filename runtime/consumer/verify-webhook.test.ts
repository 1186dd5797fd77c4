import { expect, test } from 'vitest';
import { sign, signingKey } from '../relay/sinks/webhook/signature.js';
import { verifyWebhook } from './verify-webhook.js';

const SECRET = Buffer.alloc(32, 3).toString('base64');
const OTHER = Buffer.alloc(32, 4).toString('base64');
const body = '{"a":1}';

function signed(secret: string, timestamp: number = Math.floor(Date.now() / 1_000)): Record<string, string> {
  return {
    'webhook-id': 'e1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,AAAA ${sign(signingKey(secret), { id: 'e1', timestamp, body })}`,
  };
}

test('accepts a signature of one of the secrets, as text and as bytes', () => {
  expect(() => verifyWebhook(signed(SECRET), body, { secrets: [OTHER, SECRET] })).not.toThrow();
  expect(() => verifyWebhook(signed(SECRET), Buffer.from(body), { secrets: [SECRET] })).not.toThrow();
});

test('refuses another secret, another body, another id and another time', () => {
  const verify = (headers: Record<string, string>, text = body): void =>
    verifyWebhook(headers, text, { secrets: [SECRET] });
  expect(() => verify(signed(OTHER))).toThrow('does not match');
  expect(() => verify(signed(SECRET), '{"a":2}')).toThrow('does not match');
  expect(() => verify({ ...signed(SECRET), 'webhook-id': 'e2' })).toThrow('does not match');
  const later = String(Number(signed(SECRET)['webhook-timestamp']) + 1);
  expect(() => verify({ ...signed(SECRET), 'webhook-timestamp': later })).toThrow('does not match');
});

test('refuses messages while a secret of its own is none, without showing it', () => {
  const verify = (): void => verifyWebhook(signed(SECRET), body, { secrets: ['whsec_short'] });
  expect(verify).toThrow(expect.objectContaining({ code: 'FW_UNAUTHENTICATED' }));
  expect(verify).not.toThrow('short');
});

test('refuses messages that are too old, too new or unsigned', () => {
  const now = Math.floor(Date.now() / 1_000);
  for (const timestamp of [now - 310, now + 310])
    expect(() => verifyWebhook(signed(SECRET, timestamp), body, { secrets: [SECRET] })).toThrow('too old');
  expect(() => verifyWebhook({}, body, { secrets: [SECRET] })).toThrow('are required');
});
