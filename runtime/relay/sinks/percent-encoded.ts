/**
 * Percent-encodes a CloudEvents attribute as the HTTP binding requires for characters that headers cannot hold. NATS
 * headers use the same encoding.
 */
export function percentEncoded(value: string): string {
  return value.replace(/[^\x21\x23\x24\x26-\x7e]/gu, (character) => encodeURIComponent(character));
}
