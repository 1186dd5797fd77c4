import { afterEach, expect, test } from 'vitest';
import { EVENTS, tryBroker } from './support/broker-trial.js';
import { natsBroker, natsServer } from './support/brokers.js';
import { followNats } from './support/followers.js';

/** A real broker: `npm run proof:brokers`. */
const program = EVENTS > 0 ? natsServer() : undefined;
const PORT = 14_222;
const NETWORK_PORT = 14_223;

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
}, 120_000);

test.skipIf(program === undefined)(
  'NATS JetStream gets every event, in order per model (Debian package nats-server)',
  async () => {
    expect.hasAssertions();
    await tryBroker({
      name: 'NATS',
      broker: natsBroker(program ?? '', PORT),
      networkPort: NETWORK_PORT,
      targetPort: PORT,
      receiver: { nats: { servers: [`127.0.0.1:${NETWORK_PORT}`] } },
      follow: (take) => followNats(PORT, 'events.>', take),
      cleanUps,
    });
  },
  3_600_000,
);
