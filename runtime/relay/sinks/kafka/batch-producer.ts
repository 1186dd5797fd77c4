import type { Producer, ProducerOptions } from '@platformatic/kafka';
import { loadKafka } from './load-kafka.js';
import type { KafkaRecord } from './record-writer.js';

type BytesProducer = Producer<Buffer, Buffer, Buffer, Buffer>;
export type Connecting = Omit<ProducerOptions<Buffer, Buffer, Buffer, Buffer>, 'serializers' | 'partitioner'>;

/**
 * One idempotent producer, for one batch at a time. The client numbers the records of a batch when it gets them, and
 * counts on when the broker has answered: a second batch meanwhile would have the same numbers, so that the broker
 * would drop it as a repetition.
 */
export class BatchProducer {
  readonly #connecting: Connecting;
  #producer: Promise<BytesProducer> | undefined;

  constructor(connecting: Connecting) {
    this.#connecting = connecting;
  }

  /** @throws what the client and the brokers say; the next batch then begins a sequence of its own */
  async send(messages: KafkaRecord[]): Promise<void> {
    try {
      this.#producer ??= this.#open();
      const opening = this.#producer;
      const producer = await opening;
      if (this.#producer !== opening) throw new Error('the producer was closed');
      await producer.send({ messages });
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

  async #open(): Promise<BytesProducer> {
    const { Producer, compatibilityPartitioner } = await loadKafka();
    return new Producer({
      ...this.#connecting,
      // That of Java's client, so that Debezium and the relay put a key into the same partition.
      partitioner: compatibilityPartitioner,
      idempotent: true,
      acks: -1,
    });
  }
}
