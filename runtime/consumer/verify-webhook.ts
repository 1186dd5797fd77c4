import { timingSafeEqual } from 'node:crypto';
import { time } from '../concurrency/time.js';
import { UnauthenticatedError } from '../errors.js';
import { sign, signingKey } from '../relay/sinks/webhook/signature.js';
import type { IncomingMessage } from './received-event.js';

/** Secrets and tolerance of the verification. */
interface WebhookVerification {
  /** The sender's secret. Several while a secret is rotated. */
  readonly secrets: readonly string[];
  /** Maximum age, and maximum time in the future, of a message, in milliseconds. Default 300,000. */
  readonly toleranceMs?: number;
}

const DEFAULT_TOLERANCE_MS = 300_000;

/**
 * Verifies the signature and the time of a webhook, according to Standard Webhooks. Pass the body as received: the
 * signature does not match a body that was parsed and serialized again.
 *
 * @throws UnauthenticatedError if none of the secrets has signed it, one is not valid, or it is too old or too new
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
      'The headers webhook-id, webhook-timestamp and webhook-signature are required',
    );
  const seconds = Number(timestamp);
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(time.dateMs() - seconds * 1_000) > toleranceMs)
    throw new UnauthenticatedError("The webhook is too old, or its sender's clock is wrong");
  const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
  const expected = secrets.map((secret) => sign(keyOf(secret), { id, timestamp: seconds, body: text }));
  const given = signatures.split(' ');
  if (!expected.some((each) => given.some((signature) => isSame(each, signature))))
    throw new UnauthenticatedError('The signature of the webhook does not match');
}

/** A mistake in the receiver's own secret is no reason to reject messages: their sender sends them again later. */
function keyOf(secret: string): Buffer {
  try {
    return signingKey(secret);
  } catch (cause) {
    throw new UnauthenticatedError('The secret of the receiver is not valid', { cause });
  }
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
