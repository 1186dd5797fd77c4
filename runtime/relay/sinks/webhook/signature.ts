import { createHmac } from 'node:crypto';
import { ValidationError } from '../../../errors.js';

const PREFIX = 'whsec_';
const SHORTEST_KEY = 24;
const LONGEST_KEY = 64;

/**
 * The key of a Standard Webhooks secret: 24 to 64 bytes in base64, with or without the prefix `whsec_`.
 *
 * @throws ValidationError that does not show the secret
 */
export function signingKey(secret: string): Buffer {
  const text = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  const key = Buffer.from(text, 'base64');
  const isBase64 = key.toString('base64').replace(/=+$/, '') === text.replace(/=+$/, '');
  if (isBase64 && key.length >= SHORTEST_KEY && key.length <= LONGEST_KEY) return key;
  throw new ValidationError(
    `A webhook's secret is ${SHORTEST_KEY} to ${LONGEST_KEY} bytes in base64, with or without ${PREFIX} in front. ` +
      'Make one with: openssl rand -base64 32',
  );
}

export interface SignedContent {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

/** The value of `webhook-signature`: HMAC-SHA256 over id, time and body. */
export function sign(key: Buffer, { id, timestamp, body }: SignedContent): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
