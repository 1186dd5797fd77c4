import type { Producer, ProducerOptions } from '@platformatic/kafka';
import { loadKafka } from './load-kafka.js';
import type { KafkaRecord } from './record-of.js';

type BytesProducer = Producer<Buffer, Buffer, Buffer, Buffer>;
export type Connecting = Omit<ProducerOptions<Buffer, Buffer, Buffer, Buffer>, 'serializers' | 'partitioner'>;

/**
 * One idempotent producer, for one batch at a time. The client numbers the records of a batch when it receives them,
 * and advances the sequence when the broker has answered. A second concurrent batch would have the same numbers, and
 * the broker would drop it as a repetition.
 */
export class BatchProducer {
  readonly #connecting: Connecting;
  #producer: Promise<BytesProducer> | undefined;

  constructor(connecting: Connecting) {
    this.#connecting = connecting;
  }

  /** @throws errors of the client and the brokers; the next batch then starts a new sequence */
  async send(messages: KafkaRecord[]): Promise<void> {
    try {
      this.#producer ??= this.#open();
      const opening = this.#producer;
      const producer = await opening;
      if (this.#producer !== opening) throw new Error('the producer was closed');
      await producer.send({ messages });
    } catch (error) {
      // Records without an acknowledgement are in doubt.
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
      // The partitioner of the Java client, so that Debezium and the relay use the same partition for a key.
      partitioner: compatibilityPartitioner,
      idempotent: true,
      acks: -1,
    });
  }
}
