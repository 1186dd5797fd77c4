import { atMost } from '../../../concurrency/at-most.js';
import type { SinkConfig } from '../../../config/types.js';
import { messageOf } from '../../../errors.js';
import { ACCEPTED, type PublishOutcome, type RelayMessage, type RelaySink } from '../../relay-sink.js';
import { ABORTED, BEHIND } from '../one-by-one.js';
import { BatchProducer, type Connecting } from './batch-producer.js';
import { recordOf } from './record-of.js';

/** Connection options of a Kafka sink. */
export interface KafkaOptions extends NonNullable<SinkConfig['kafka']> {
  /** Time limit of a response, in milliseconds. */
  readonly timeoutMs: number;
  /** Kafka's `client.id`. Default `fw-actions`. */
  readonly clientId?: string;
}

const CLOSE_MS = 2_000;

/** Error codes that concern one message of the batch. */
const AT_FAULT: ReadonlySet<unknown> = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'CORRUPT_MESSAGE',
]);

/** Produces to Kafka: idempotent, `acks=all`, the id of the model as key. */
export function kafkaSink(options: KafkaOptions): RelaySink {
  return new KafkaSink(options);
}

class KafkaSink implements RelaySink {
  readonly #options: KafkaOptions;
  readonly #producers = new Set<BatchProducer>();
  readonly #idle: BatchProducer[] = [];

  constructor(options: KafkaOptions) {
    this.#options = options;
  }

  /** Each batch in flight has its own producer. */
  async publish(messages: readonly RelayMessage[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    // Its event is over, so nothing would close the producer.
    if (signal.aborted) return messages.map(() => ABORTED);
    const producer = this.#idle.pop() ?? new BatchProducer(connectingOf(this.#options));
    this.#producers.add(producer);
    // A call that was given up may end late or never, so its producer serves no other call.
    const leave = (): void => {
      void producer.close();
      this.#producers.delete(producer);
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await this.#send(producer, messages, signal);
    } finally {
      signal.removeEventListener('abort', leave);
      if (!signal.aborted) this.#idle.push(producer);
    }
  }

  async close(): Promise<void> {
    // A graceful close waits for the network, which may never answer.
    await atMost(Promise.all([...this.#producers].map((producer) => producer.close())), CLOSE_MS);
  }

  /**
   * Sends a batch. If the brokers refuse it because of one message, sends its halves in order, until the message is
   * alone.
   */
  async #send(
    producer: BatchProducer,
    messages: readonly RelayMessage[],
    signal: AbortSignal,
  ): Promise<readonly PublishOutcome[]> {
    if (signal.aborted) return messages.map(() => ABORTED);
    try {
      await producer.send(messages.map((message) => recordOf(this.#options.topic, message)));
      return messages.map(() => ACCEPTED);
    } catch (error) {
      const causes = [...nested(error)];
      // The innermost message states the reason.
      const reason = [...new Set(causes.map(messageOf))].slice(-2).join(': ');
      const isAtFault = causes.some((each) => 'apiId' in each && AT_FAULT.has(each.apiId));
      if (!isAtFault) return messages.map(() => ({ kind: 'deferred', reason }));
      if (messages.length === 1) return [{ kind: 'rejected', reason }];
      const half = Math.ceil(messages.length / 2);
      const first = await this.#send(producer, messages.slice(0, half), signal);
      const stopped = first.some(({ kind }) => kind !== 'accepted');
      const rest = messages.slice(half);
      return [...first, ...(stopped ? rest.map(() => BEHIND) : await this.#send(producer, rest, signal))];
    }
  }
}

function connectingOf(options: KafkaOptions): Connecting {
  const { brokers, clientId = 'fw-actions', timeoutMs, tls, username, password } = options;
  const mechanism = MECHANISMS[options.mechanism];
  return {
    clientId,
    bootstrapBrokers: [...brokers],
    autocreateTopics: true,
    connectTimeout: timeoutMs,
    timeout: timeoutMs,
    requestTimeout: timeoutMs,
    retries: 2,
    retryDelay: 200,
    ...(tls ? { tls: {} } : {}),
    ...(username === undefined ? {} : { sasl: { mechanism, username, password: password?.reveal() ?? '' } }),
  };
}

const MECHANISMS = {
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM-SHA-256',
  'scram-sha-512': 'SCRAM-SHA-512',
} as const;

/** The client nests the brokers' errors in `errors` and `cause`. */
function* nested(error: unknown, depth = 0): Generator<Error> {
  if (!(error instanceof Error) || depth > 8) return;
  yield error;
  const inner = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  for (const each of [...inner, error.cause]) yield* nested(each, depth + 1);
}
