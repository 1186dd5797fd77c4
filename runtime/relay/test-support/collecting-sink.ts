import { ACCEPTED, type PublishOutcome, type RelayMessage } from '../relay-sink.js';
import type { SinkDefinition } from '../sink-definition.js';

/** A receiver in this process. */
export interface CollectingSink {
  readonly definition: SinkDefinition;
  /** Everything that was accepted, in order of arrival, repetitions included. */
  readonly received: RelayMessage[];
  /** Sizes of batches. */
  readonly batches: number[];
  /** What it says of a message. Default: accepted. May throw, as a receiver that is out of reach does. */
  judge: (message: RelayMessage) => PublishOutcome;
  /** Calls under way at most. */
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

/** Nothing of a key is taken behind what was not. */
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
