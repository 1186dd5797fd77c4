import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RelaySink } from '../../runtime/relay/relay-sink.js';
import { kafkaSink } from '../../runtime/relay/sinks/kafka/kafka-sink.js';
import { natsSink } from '../../runtime/relay/sinks/nats/nats-sink.js';
import { sinkConformance } from '../../runtime/relay/test-support/sink-conformance.js';
import { sentKey } from '../../runtime/relay/test-support/sink-trial.js';
import type { ReceivedMessage, TestedSink } from '../../runtime/relay/test-support/tested-sink.js';
import { type Broker, kafkaBroker, kafkaJars, NO_JARS, natsBroker, natsServer } from './support/brokers.js';
import { type FollowedMessage, type Follower, followKafka, followNats } from './support/followers.js';

/** Real brokers: `npm run proof:brokers`. */
const nats = natsServer();
const kafka = kafkaJars();
const NATS_PORT = 14_322;
const KAFKA_PORT = 19_192;
/** Above the default limits of both brokers. */
const TOO_LARGE = 'x'.repeat(1_200_000);

/** `max_payload` of a NATS server. */
const MOST_NATS_BYTES = 1_048_576;

/** A sink with a broker that is killed and started again. */
interface BrokerTrial {
  readonly start: () => Broker;
  readonly open: () => RelaySink;
  readonly follow: (take: (message: FollowedMessage) => void) => Promise<Follower>;
  readonly prefix: string;
}

function testSink({ start, open, follow, prefix }: BrokerTrial): void {
  const received: ReceivedMessage[] = [];
  let broker: Broker | undefined;
  let follower: Follower | undefined;
  beforeAll(async () => {
    broker = start();
    await broker.start();
    follower = await follow((message) => received.push(receivedOf(message, prefix)));
  }, 120_000);
  afterAll(async () => {
    await follower?.close();
    await broker?.remove();
  }, 60_000);
  const tested: TestedSink = {
    open,
    received: () => received,
    unacceptable: (message) => ({ ...message, body: TOO_LARGE }),
    outage: { begin: async () => broker?.kill(), end: async () => broker?.start() },
  };
  for (const { name, run } of sinkConformance(tested)) test(name, run, 240_000);
}

function openNats(): RelaySink {
  return natsSink({
    servers: [`127.0.0.1:${NATS_PORT}`],
    subject: 'events.{model}.{event}',
    username: undefined,
    password: undefined,
    token: undefined,
    tls: false,
    timeoutMs: 5_000,
  });
}

function receivedOf({ key, headers, body }: FollowedMessage, prefix: string): ReceivedMessage {
  const own = [...headers].filter(([name]) => name.startsWith(prefix));
  const decode = prefix === 'ce-' ? decodeURIComponent : (value: string): string => value;
  const attributes = Object.fromEntries(
    own.map(([name, value]) => [name.slice(prefix.length), decode(value)]),
  );
  return { id: attributes['id'] ?? '', key, attributes, body };
}

describe.skipIf(nats === undefined)('NATS JetStream (Debian package nats-server)', () => {
  testSink({
    start: () => natsBroker(nats ?? '', NATS_PORT),
    open: openNats,
    follow: (take) => followNats(NATS_PORT, 'events.>', take),
    prefix: 'ce-',
  });

  test('rejects a message that exceeds the server’s limit only with its headers', async () => {
    const sink = openNats();
    const body = 'x'.repeat(MOST_NATS_BYTES - 20);
    const messages = sentKey(1).messages.map((message) => ({ ...message, body }));
    const outcomes = await sink.publish(messages, new AbortController().signal);
    expect(outcomes).toMatchObject([{ kind: 'rejected', reason: expect.stringContaining('max_payload') }]);
    await sink.close();
  });
});

describe.skipIf(kafka === undefined)('Kafka (kafka_2.13 of Maven)', () => {
  testSink({
    start: () => kafkaBroker(kafka ?? NO_JARS, KAFKA_PORT),
    open: () =>
      kafkaSink({
        brokers: [`127.0.0.1:${KAFKA_PORT}`],
        topic: 'outbox.event.{model}',
        clientId: 'conformance',
        mechanism: 'scram-sha-512',
        username: undefined,
        password: undefined,
        tls: false,
        timeoutMs: 5_000,
      }),
    follow: (take) =>
      followKafka(kafka ?? NO_JARS, { port: KAFKA_PORT, topic: 'outbox.event.Conformance' }, take),
    prefix: 'ce_',
  });
});
