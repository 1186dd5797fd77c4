import type { Producer, SASLOptions } from '@platformatic/kafka';
import type { KafkaReceiver } from '../../../config/types.js';
import { messageOf } from '../../../errors.js';
import { ACCEPTED, type PublishOutcome, type RelayMessage, type RelaySink } from '../../relay-sink.js';
import { addressOf } from '../address-template.js';
import { loadKafka } from './load-kafka.js';

/** How a sink reaches its brokers. */
export interface KafkaOptions extends Omit<KafkaReceiver, 'kind'> {
  /** Most time for an answer, in milliseconds. */
  readonly timeoutMs: number;
}

/** They say that one message of the batch is at fault. */
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

type TextProducer = Producer<string, string, string, string>;

class KafkaSink implements RelaySink {
  readonly #options: KafkaOptions;
  #producer: Promise<TextProducer> | undefined;

  constructor(options: KafkaOptions) {
    this.#options = options;
  }

  async publish(messages: readonly RelayMessage[], signal: AbortSignal): Promise<readonly PublishOutcome[]> {
    const leave = (): void => void this.close();
    signal.addEventListener('abort', leave, { once: true });
    try {
      return await this.#send(messages);
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  async close(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    await producer?.then((open) => open.close()).catch(() => {});
  }

  /** A batch that the brokers refuse because of one message is sent in halves, in order, until that one is alone. */
  async #send(messages: readonly RelayMessage[]): Promise<readonly PublishOutcome[]> {
    try {
      const producer = await this.#opened();
      await producer.send({ messages: messages.map((message) => this.#record(message)) });
      return messages.map(() => ACCEPTED);
    } catch (error) {
      // A sequence that was not acknowledged is in doubt: the next batch begins one of its own.
      await this.close();
      const reason = reasonsOf(error);
      if (!isAtFault(error)) return messages.map(() => ({ kind: 'deferred', reason }));
      if (messages.length === 1) return [{ kind: 'rejected', reason }];
      const half = Math.ceil(messages.length / 2);
      const first = await this.#send(messages.slice(0, half));
      const stopped = first.some(({ kind }) => kind !== 'accepted');
      const rest = messages.slice(half);
      return [...first, ...(stopped ? rest.map(() => BEHIND) : await this.#send(rest))];
    }
  }

  #record(message: RelayMessage): {
    topic: string;
    key: string;
    value: string;
    headers: Record<string, string>;
  } {
    const attributes = Object.entries(message.attributes).map(([name, value]) => [`ce_${name}`, value]);
    return {
      topic: addressOf(this.#options.topic, message),
      key: message.key,
      value: message.body,
      headers: {
        ...message.headers,
        ...Object.fromEntries(attributes),
        'content-type': message.contentType,
      },
    };
  }

  #opened(): Promise<TextProducer> {
    this.#producer ??= this.#open().catch((error: unknown) => {
      this.#producer = undefined;
      throw error;
    });
    return this.#producer;
  }

  async #open(): Promise<TextProducer> {
    const { brokers, clientId, timeoutMs, tls } = this.#options;
    const { Producer, stringSerializers } = await loadKafka();
    const sasl = saslOf(this.#options);
    return new Producer({
      clientId,
      bootstrapBrokers: [...brokers],
      serializers: stringSerializers,
      idempotent: true,
      acks: -1,
      autocreateTopics: true,
      connectTimeout: timeoutMs,
      timeout: timeoutMs,
      retries: 2,
      retryDelay: 200,
      ...(tls ? { tls: {} } : {}),
      ...(sasl === undefined ? {} : { sasl }),
    });
  }
}

const BEHIND: PublishOutcome = Object.freeze({
  kind: 'deferred',
  reason: 'an earlier message was not taken',
});

const MECHANISMS = {
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM-SHA-256',
  'scram-sha-512': 'SCRAM-SHA-512',
} as const;

function saslOf({ username, password, mechanism }: KafkaOptions): SASLOptions | undefined {
  if (username === undefined) return undefined;
  return { mechanism: MECHANISMS[mechanism], username, password: password?.reveal() ?? '' };
}

/** The client nests what brokers say in `errors` and `cause`. */
function* nested(error: unknown, depth = 0): Generator<Error> {
  if (!(error instanceof Error) || depth > 8) return;
  yield error;
  const inner = 'errors' in error && Array.isArray(error.errors) ? error.errors : [];
  for (const each of [...inner, error.cause]) yield* nested(each, depth + 1);
}

function isAtFault(error: unknown): boolean {
  return [...nested(error)].some((each) => 'apiId' in each && AT_FAULT.has(each.apiId));
}

/** The innermost message says what is wrong. */
function reasonsOf(error: unknown): string {
  return [...new Set([...nested(error)].map(messageOf))].slice(-2).join(': ');
}
