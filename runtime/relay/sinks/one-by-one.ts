import { inParallel } from '../../concurrency/in-parallel.js';
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
  await inParallel([...indexesByKey(messages)], atOnce, async (indexes) => {
    for (const index of indexes) {
      const message = messages[index];
      if (message === undefined) break;
      const outcome = await send(message);
      outcomes[index] = outcome;
      if (outcome.kind !== 'accepted') break;
    }
  });
  return outcomes;
}
