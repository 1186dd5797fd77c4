import type { Broker, ClusterMetadata, ProducerInfo, Writer } from '@platformatic/kafka';
import type { KafkaModule } from './load-kafka.js';
import { murmur2 } from './murmur2.js';
import type { KafkaRecord, RecordBatch } from './record-batch.js';

/** A record and where it goes. */
export interface AddressedRecord extends KafkaRecord {
  readonly topic: string;
}

/** What one partition gets of a batch. */
export interface Share {
  readonly topic: string;
  readonly partition: number;
  readonly records: RecordBatch;
}

export interface ProduceOptions {
  readonly kafka: KafkaModule;
  readonly identity: ProducerInfo;
  /** Of the first record that a partition gets. */
  readonly sequenceOf: (share: Share) => number;
  readonly timestampMs: number;
  readonly timeoutMs: number;
}

const ALL_REPLICAS = -1;

/**
 * The records of each partition. A key is in the partition where Java's client puts it, as Debezium does.
 *
 * @param emptyBatch gives one that is not in use
 * @throws Error if a topic has no partitions
 */
export function sharesOf(
  records: readonly AddressedRecord[],
  { topics }: ClusterMetadata,
  emptyBatch: () => RecordBatch,
): readonly Share[] {
  const shares = new Map<string, Share>();
  for (const record of records) {
    const { topic } = record;
    const count = topics.get(topic)?.partitionsCount ?? 0;
    if (count === 0) throw new Error(`topic ${topic} has no partitions`);
    const partition = murmur2(Buffer.from(record.key)) % count;
    const address = `${topic}:${partition}`;
    let share = shares.get(address);
    if (share === undefined) {
      share = { topic, partition, records: emptyBatch() };
      shares.set(address, share);
    }
    share.records.add(record);
  }
  return [...shares.values()];
}

/** @throws Error if a partition has no leader */
export function byLeader(
  shares: readonly Share[],
  { topics, brokers }: ClusterMetadata,
): ReadonlyMap<Broker, readonly Share[]> {
  const grouped = new Map<Broker, Share[]>();
  for (const share of shares) {
    const { topic, partition } = share;
    const broker = brokers.get(topics.get(topic)?.partitions[partition]?.leader ?? -1);
    if (broker === undefined) throw new Error(`no broker leads partition ${partition} of topic ${topic}`);
    const led = grouped.get(broker);
    if (led === undefined) grouped.set(broker, [share]);
    else led.push(share);
  }
  return grouped;
}

/** The body of a request of version 7, which every broker from Kafka 2.1 on takes. */
export function produceRequest(
  shares: readonly Share[],
  { kafka, identity, sequenceOf, timestampMs, timeoutMs }: ProduceOptions,
): Writer {
  const { producerId, producerEpoch } = identity;
  const topics = [...new Set(shares.map(({ topic }) => topic))];
  const partitionsOf = (name: string): readonly Share[] => shares.filter(({ topic }) => topic === name);
  return kafka.Writer.create()
    .appendString(undefined, false)
    .appendInt16(ALL_REPLICAS)
    .appendInt32(timeoutMs)
    .appendArray(
      topics,
      (ofTopic, topic) => {
        ofTopic.appendString(topic, false).appendArray(
          [...partitionsOf(topic)],
          (ofPartition, share) => {
            const origin = { producerId, producerEpoch, sequence: sequenceOf(share), timestampMs };
            const batch = share.records.finish(origin, kafka.crc32c);
            ofPartition.appendInt32(share.partition).appendBytes(batch, false);
          },
          false,
          false,
        );
      },
      false,
      false,
    );
}
