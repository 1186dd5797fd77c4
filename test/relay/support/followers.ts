import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import { Consumer, stringDeserializers } from '@platformatic/kafka';

/** A message as a broker hands it over. */
export interface FollowedMessage {
  readonly key: string | undefined;
  /** Undefined but in Kafka. */
  readonly partition?: number | undefined;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

export interface Follower {
  close(): Promise<void>;
}

/** Reads a stream of JetStream from its beginning on, also after the server was away. */
export async function followNats(
  port: number,
  subjects: string,
  take: (message: FollowedMessage) => void,
): Promise<Follower> {
  const connection = await connectNats({ servers: [`127.0.0.1:${port}`], maxReconnectAttempts: -1 });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: 'EVENTS', subjects: [subjects] });
  await manager.consumers.add('EVENTS', { durable_name: 'check', ack_policy: 'explicit' });
  const consumer = await jetstream(connection).consumers.get('EVENTS', 'check');
  const messages = await consumer.consume({ max_messages: 1_000 });
  void (async () => {
    for await (const message of messages) {
      const names = message.headers?.keys() ?? [];
      const headers = new Map(names.map((name) => [name, message.headers?.get(name) ?? '']));
      take({ key: undefined, headers, body: message.string() });
      message.ack();
    }
  })().catch(() => {});
  return { close: () => connection.close() };
}

/** Reads topics of Kafka from their beginning on, each message once, also after the broker was away. */
export async function followKafka(
  port: number,
  topics: readonly string[],
  take: (message: FollowedMessage) => void,
): Promise<Follower> {
  /** By topic and partition. */
  const read = new Map<string, bigint>();
  let closed = false;
  let consumer = await open();

  async function open(): Promise<Consumer<string, string, string, string>> {
    const opened = new Consumer({
      groupId: `check-${randomUUID()}`,
      clientId: 'check',
      bootstrapBrokers: [`127.0.0.1:${port}`],
      deserializers: stringDeserializers,
      retries: true,
      retryDelay: 200,
      autocreateTopics: true,
    });
    const stream = await opened.consume({ topics: [...topics], mode: 'earliest', autocommit: false });
    // A stream ends at the first error, such as the new epoch of a leader that was started again.
    stream.once('error', (error) => {
      console.warn(String(error));
      void reopen(opened);
    });
    stream.on('data', ({ topic, key, partition, offset, headers, value }) => {
      const address = `${topic}:${partition}`;
      if (offset <= (read.get(address) ?? -1n)) return;
      read.set(address, offset);
      take({ key, partition, headers, body: value });
    });
    return opened;
  }

  async function reopen(broken: Consumer<string, string, string, string>): Promise<void> {
    void Promise.resolve(broken.close(true)).catch(() => {});
    while (!closed) {
      await sleep(500);
      const opened = await open().catch(() => undefined);
      if (opened === undefined) continue;
      consumer = opened;
      return;
    }
  }

  return {
    close: async () => {
      closed = true;
      await consumer.close(true);
    },
  };
}
