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

/** Reads topics of Kafka from their beginning on, also after the broker was away. */
export async function followKafka(
  port: number,
  topics: readonly string[],
  take: (message: FollowedMessage) => void,
): Promise<Follower> {
  const consumer = new Consumer({
    groupId: `check-${Date.now()}`,
    clientId: 'check',
    bootstrapBrokers: [`127.0.0.1:${port}`],
    deserializers: stringDeserializers,
    retries: true,
    retryDelay: 200,
    autocreateTopics: true,
  });
  const stream = await consumer.consume({ topics: [...topics], mode: 'earliest', autocommit: false });
  stream.on('error', (error) => console.warn(String(error)));
  stream.on('data', ({ key, partition, headers, value }) => take({ key, partition, headers, body: value }));
  return { close: async () => consumer.close(true) };
}
