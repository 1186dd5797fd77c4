import { inParallel } from '../../concurrency/in-parallel.js';
import type { PublishOutcome, RelayMessage } from '../relay-sink.js';

/** The outcome of a message that was not sent because an earlier one of its key was not accepted. */
export const BEHIND: PublishOutcome = Object.freeze({
  kind: 'deferred',
  reason: 'an earlier message of its model was not accepted',
});

/** The outcome of a message that was not sent because the relay no longer waits for it. */
export const ABORTED: PublishOutcome = Object.freeze({ kind: 'deferred', reason: 'delivery is stopping' });

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
  const byKey = new Map<string, (readonly [number, RelayMessage])[]>();
  for (const entry of messages.entries()) {
    const own = byKey.get(entry[1].key);
    if (own === undefined) byKey.set(entry[1].key, [entry]);
    else own.push(entry);
  }
  const outcomes = messages.map(() => BEHIND);
  await inParallel([...byKey.values()], atOnce, async (entries) => {
    for (const [index, message] of entries) {
      const outcome = await send(message);
      outcomes[index] = outcome;
      if (outcome.kind !== 'accepted') break;
    }
  });
  return outcomes;
}
