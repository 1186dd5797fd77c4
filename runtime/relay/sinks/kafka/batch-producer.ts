import type { Broker, ClusterMetadata, Producer, ProducerInfo, ProducerOptions } from '@platformatic/kafka';
import { sleep, time } from '../../../concurrency/time.js';
import { type KafkaModule, loadKafka } from './load-kafka.js';
import { nested } from './nested-errors.js';
import { type AddressedRecord, byLeader, produceRequest, type Share, sharesOf } from './produce-request.js';
import { RecordBatch } from './record-batch.js';

type BytesProducer = Producer<Buffer, Buffer, Buffer, Buffer>;
export type Connecting = Omit<ProducerOptions<Buffer, Buffer, Buffer, Buffer>, 'serializers' | 'partitioner'>;

const PRODUCE = { key: 0, version: 7 } as const;
/** Behind the greatest int32, sequences start again at 0. */
const SEQUENCES = 2 ** 31;
/** Brokers that are asked one after the other while the leader of a partition changes, or a topic is new. */
const MOST_LEADERS = 5;
const ELECTION_PAUSE_MS = 100;

interface Client {
  readonly kafka: KafkaModule;
  readonly producer: BytesProducer;
}

interface Opened extends Client {
  readonly identity: ProducerInfo;
  /** The sequence of the next record, by topic and partition. */
  readonly sequences: Map<string, number>;
}

/**
 * One idempotent producer, for one batch at a time. Connections, metadata and the producer's id come from the client;
 * the records are encoded here.
 */
export class BatchProducer {
  readonly #connecting: Connecting;
  readonly #timeoutMs: number;
  /** One for each partition of the largest batch so far. */
  readonly #spare: RecordBatch[] = [];
  #client: Promise<Client> | undefined;
  #opened: Promise<Opened> | undefined;

  /** @param timeoutMs most time that brokers take to replicate a batch */
  constructor(connecting: Connecting, timeoutMs: number) {
    this.#connecting = connecting;
    this.#timeoutMs = timeoutMs;
  }

  /** @throws what the client and the brokers say; the next batch then begins a sequence of its own */
  async send(records: readonly AddressedRecord[]): Promise<void> {
    try {
      this.#opened ??= this.#open();
      const opening = this.#opened;
      const opened = await opening;
      if (this.#opened !== opening) throw new Error('the producer was closed');
      await this.#produce(opened, records);
    } catch (error) {
      // What was not acknowledged is in doubt.
      this.close();
      throw error;
    }
  }

  /** Cuts the connections: an orderly end waits for a network that may swallow everything. */
  close(): void {
    const client = this.#client;
    this.#client = undefined;
    this.#opened = undefined;
    void client
      ?.then(({ producer }) => {
        for (const [, { socket }] of producer.connections) socket.destroy();
        return producer.close();
      })
      .catch(() => {});
  }

  async #open(): Promise<Opened> {
    this.#client = this.#connect();
    const client = await this.#client;
    const identity = await client.producer.initIdempotentProducer({});
    return { ...client, identity, sequences: new Map() };
  }

  async #connect(): Promise<Client> {
    const kafka = await loadKafka();
    return { kafka, producer: new kafka.Producer({ ...this.#connecting, idempotent: true }) };
  }

  async #produce(opened: Opened, records: readonly AddressedRecord[]): Promise<void> {
    const emptyBatch = (): RecordBatch => this.#spare.pop() ?? new RecordBatch();
    const shares = sharesOf(records, await metadataOf(opened, records), emptyBatch);
    await this.#deliver(opened, shares, MOST_LEADERS);
    for (const share of shares) {
      const next = (sequenceIn(opened, share) + share.records.count) % SEQUENCES;
      opened.sequences.set(addressOf(share), next);
      share.records.clear();
      this.#spare.push(share.records);
    }
  }

  /**
   * Looks for the leader again if it has changed. A partition that has its share already recognises it by its sequence.
   */
  async #deliver(opened: Opened, shares: readonly Share[], leaders: number): Promise<void> {
    const metadata = await metadataOf(opened, shares);
    const requests = [...byLeader(shares, metadata)].map(async ([broker, led]) => {
      try {
        await this.#request(opened, broker, led);
      } catch (error) {
        if (leaders === 1 || !nested(error).some(isOfFormerLeader)) throw error;
        opened.producer.clearMetadata();
        await sleep(ELECTION_PAUSE_MS);
        await this.#deliver(opened, led, leaders - 1);
      }
    });
    await Promise.all(requests);
  }

  async #request(opened: Opened, broker: Broker, shares: readonly Share[]): Promise<void> {
    const { kafka, producer, identity } = opened;
    const connection = await producer.connections.get(broker);
    const options = {
      kafka,
      identity,
      sequenceOf: (share: Share) => sequenceIn(opened, share),
      timestampMs: time.dateMs(),
      timeoutMs: this.#timeoutMs,
    };
    await new Promise<void>((resolve, reject) => {
      connection.send(
        PRODUCE.key,
        PRODUCE.version,
        () => produceRequest(shares, options),
        kafka.produceV7.parseResponse,
        false,
        false,
        (error) => (error === null ? resolve() : reject(error)),
      );
    });
  }
}

function metadataOf(
  { producer }: Opened,
  on: readonly { readonly topic: string }[],
): Promise<ClusterMetadata> {
  const topics = [...new Set(on.map(({ topic }) => topic))];
  return producer.metadata({ topics, autocreateTopics: true });
}

function addressOf({ topic, partition }: Share): string {
  return `${topic}:${partition}`;
}

function sequenceIn({ sequences }: Opened, share: Share): number {
  return sequences.get(addressOf(share)) ?? 0;
}

function isOfFormerLeader(error: Error): boolean {
  return 'hasStaleMetadata' in error && error.hasStaleMetadata === true;
}
