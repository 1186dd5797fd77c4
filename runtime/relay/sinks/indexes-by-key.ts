import type { RelayMessage } from '../relay-sink.js';

/** The indexes of each key's messages, in order. */
export function indexesByKey(messages: readonly RelayMessage[]): readonly (readonly number[])[] {
  const byKey = new Map<string, number[]>();
  for (const [index, { key }] of messages.entries()) {
    const indexes = byKey.get(key);
    if (indexes === undefined) byKey.set(key, [index]);
    else indexes.push(index);
  }
  return [...byKey.values()];
}
