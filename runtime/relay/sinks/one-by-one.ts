import type { PublishOutcome, RelayMessage } from '../relay-sink.js';
import { BEHIND } from './deferred-outcomes.js';
import { indexesByKey } from './indexes-by-key.js';

/**
 * Sends messages one by one, those of one key in order and one at a time: no message is sent after one of its key that
 * was not accepted.
 *
 * @param send never rejects
 * @param atOnce maximum messages in flight. Default: one per key
 */
export async function oneByOne(
  messages: readonly RelayMessage[],
  send: (message: RelayMessage) => Promise<PublishOutcome>,
  atOnce: number = messages.length,
): Promise<readonly PublishOutcome[]> {
  const outcomes = messages.map(() => BEHIND);
  const keys = [...indexesByKey(messages)].reverse();
  const work = async (): Promise<void> => {
    for (let indexes = keys.pop(); indexes !== undefined; indexes = keys.pop()) {
      for (const index of indexes) {
        const message = messages[index];
        if (message === undefined) break;
        const outcome = await send(message);
        outcomes[index] = outcome;
        if (outcome.kind !== 'accepted') break;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, keys.length) }, work));
  return outcomes;
}
