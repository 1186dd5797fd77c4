/** An attribute of a CloudEvent as the HTTP binding writes what headers cannot hold; NATS headers follow it. */
export function percentEncoded(value: string): string {
  return value.replace(/[^\x21\x23\x24\x26-\x7e]/gu, (character) => encodeURIComponent(character));
}
