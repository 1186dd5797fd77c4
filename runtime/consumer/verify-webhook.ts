import { timingSafeEqual } from 'node:crypto';
import { time } from '../concurrency/time.js';
import { UnauthenticatedError } from '../errors.js';
import { sign, signingKey } from '../relay/sinks/webhook/signature.js';
import type { IncomingMessage } from './received-event.js';

/** What a webhook's signature is checked with. */
export interface WebhookVerification {
  /** As the sender has it. Several while a secret is replaced. */
  readonly secrets: readonly string[];
  /** Oldest and newest time of a message, in milliseconds around now. Default 300,000. */
  readonly toleranceMs?: number;
}

const DEFAULT_TOLERANCE_MS = 300_000;

/**
 * Checks the signature and the time of a webhook, as Standard Webhooks describes them. The body must be as it came:
 * parsed and written again it is another one.
 *
 * @throws UnauthenticatedError if it was not signed with one of the secrets, or is too old or too new
 */
export function verifyWebhook(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  body: IncomingMessage['body'],
  { secrets, toleranceMs = DEFAULT_TOLERANCE_MS }: WebhookVerification,
): void {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map(
    (name) => headers[`webhook-${name}`],
  );
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string')
    throw new UnauthenticatedError(
      'The headers webhook-id, webhook-timestamp and webhook-signature are needed',
    );
  const seconds = Number(timestamp);
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(time.dateMs() - seconds * 1_000) > toleranceMs)
    throw new UnauthenticatedError('The webhook is too old, or the clock of its sender is wrong');
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  const expected = secrets.map((secret) => sign(signingKey(secret), { id, timestamp: seconds, body: text }));
  const given = signatures.split(' ');
  if (!expected.some((each) => given.some((signature) => isSame(each, signature))))
    throw new UnauthenticatedError('The signature of the webhook does not match');
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
