import { ACCEPTED, type PublishOutcome, type RelayMessage } from '../relay-sink.js';
import type { SinkDefinition } from '../sink-definition.js';

/** A receiver in this process. */
export interface CollectingSink {
  readonly definition: SinkDefinition;
  /** All accepted messages, in order of arrival, including repetitions. */
  readonly received: RelayMessage[];
  /** Sizes of batches. */
  readonly batches: number[];
  /** Returns the outcome of a message. Default: accepted. May throw like an unreachable receiver. */
  judge: (message: RelayMessage) => PublishOutcome;
  /** Maximum concurrent calls so far. */
  mostAtOnce: number;
  closed: number;
}

export function collectingSink(settings: Partial<SinkDefinition> = {}): CollectingSink {
  let underWay = 0;
  const sink: CollectingSink = {
    received: [],
    batches: [],
    judge: () => ACCEPTED,
    mostAtOnce: 0,
    closed: 0,
    definition: {
      name: 'collect',
      retryDelayMs: 1,
      open: () => ({
        publish: async (messages) => {
          underWay += 1;
          sink.mostAtOnce = Math.max(sink.mostAtOnce, underWay);
          await new Promise((resolve) => setImmediate(resolve));
          try {
            sink.batches.push(messages.length);
            return judged(sink, messages);
          } finally {
            underWay -= 1;
          }
        },
        close: async () => {
          sink.closed += 1;
        },
      }),
      ...settings,
    },
  };
  return sink;
}

/** Accepts no message of a key after one that was not accepted. */
function judged(sink: CollectingSink, messages: readonly RelayMessage[]): readonly PublishOutcome[] {
  const stopped = new Set<string>();
  return messages.map((message): PublishOutcome => {
    if (stopped.has(message.key)) return { kind: 'deferred', reason: 'behind another' };
    const outcome = sink.judge(message);
    if (outcome.kind === 'accepted') sink.received.push(message);
    else stopped.add(message.key);
    return outcome;
  });
}
