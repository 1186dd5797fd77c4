import type { PublishOutcome, RelayMessage } from '../relay-sink.js';
import { BEHIND } from './deferred-outcomes.js';
import { indexesByKey } from './indexes-by-key.js';

/**
 * Sends messages one by one, those of one key in order and at most one at a time: nothing overtakes a message that was
 * not taken.
 *
 * @param send never rejects
 * @param atOnce most messages under way. Default: one for each key
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
