import { percentEncoded } from '../relay/sinks/percent-encoded.js';

/**
 * The idempotency key of a message. Different messages have different keys: characters other than visible ASCII are
 * escaped, and the first `#` ends the source.
 */
export function inboxKey(source: string, id: string): string {
  return `${percentEncoded(source).replaceAll('#', '%23')}#${percentEncoded(id)}`;
}
