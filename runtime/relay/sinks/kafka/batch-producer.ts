import type { Producer, ProducerOptions } from '@platformatic/kafka';
import { loadKafka } from './load-kafka.js';

/** What a batch is made of. */
export interface KafkaRecord {
  readonly topic: string;
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
}

type TextProducer = Producer<string, string, string, string>;
export type Connecting = Omit<ProducerOptions<string, string, string, string>, 'serializers' | 'partitioner'>;

/**
 * One idempotent producer, for one batch at a time. The client numbers the records of a batch when it gets them, and
 * counts on when the broker has answered: a second batch meanwhile would have the same numbers, so that the broker would
 * drop it as a repetition.
 */
export class BatchProducer {
  readonly #connecting: Connecting;
  #producer: Promise<TextProducer> | undefined;

  constructor(connecting: Connecting) {
    this.#connecting = connecting;
  }

  /** @throws what the client and the brokers say; the next batch then begins a sequence of its own */
  async send(records: readonly KafkaRecord[]): Promise<void> {
    try {
      this.#producer ??= this.#open();
      const opening = this.#producer;
      const producer = await opening;
      if (this.#producer !== opening) throw new Error('the producer was closed');
      await producer.send({ messages: records.map((record) => ({ ...record })) });
    } catch (error) {
      // What was not acknowledged is in doubt.
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    const producer = this.#producer;
    this.#producer = undefined;
    await producer?.then((open) => open.close()).catch(() => {});
  }

  async #open(): Promise<TextProducer> {
    const { Producer, compatibilityPartitioner, stringSerializers } = await loadKafka();
    return new Producer({
      ...this.#connecting,
      serializers: stringSerializers,
      // That of Java's client, so that Debezium and the relay put a key into the same partition.
      partitioner: compatibilityPartitioner,
      idempotent: true,
      acks: -1,
    });
  }
}
