import { afterEach, expect, test } from 'vitest';
import { EVENTS, tryBroker } from './support/broker-trial.js';
import { kafkaBroker, kafkaJars, NO_JARS } from './support/brokers.js';
import { followKafka } from './support/followers.js';

/** A real broker: `npm run proof:brokers`. */
const jars = EVENTS > 0 ? kafkaJars() : undefined;
const PORT = 19_092;
const PROXIED_PORT = 19_094;
const NETWORK_PORT = 19_095;

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
}, 120_000);

test.skipIf(jars === undefined)(
  'Kafka gets every event, in order per model (kafka_2.13 of Maven)',
  async () => {
    expect.hasAssertions();
    const proxied = { port: PROXIED_PORT, advertised: NETWORK_PORT };
    await tryBroker({
      name: 'Kafka',
      broker: kafkaBroker(jars ?? NO_JARS, PORT, proxied),
      networkPort: NETWORK_PORT,
      targetPort: PROXIED_PORT,
      receiver: { kafka: { brokers: [`127.0.0.1:${NETWORK_PORT}`] } },
      follow: (take) => followKafka(jars ?? NO_JARS, { port: PORT, topic: 'outbox.event.Account' }, take),
      cleanUps,
    });
  },
  3_600_000,
);
