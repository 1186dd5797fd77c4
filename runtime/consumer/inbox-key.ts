import { percentEncoded } from '../relay/sinks/percent-encoded.js';

/**
 * The idempotency key of a message. No two messages share one: what is not visible ASCII is escaped, and the first `#`
 * ends the source.
 */
export function inboxKey(source: string, id: string): string {
  return `${percentEncoded(source).replaceAll('#', '%23')}#${percentEncoded(id)}`;
}
