import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { readMessage } from '../../runtime/consumer/index.js';
import { seededRandom, writeLate } from '../../runtime/events/test-support/late-writers.js';
import { until } from '../../runtime/events/test-support/ledger.js';
import type { ShardDatabase } from '../../runtime/sharding/shard-database.js';
import { Arrivals } from './support/arrivals.js';
import { type Broker, kafkaBroker, kafkaJars, NO_JARS, natsBroker, natsServer } from './support/brokers.js';
import { type FollowedMessage, type Follower, followKafka, followNats } from './support/followers.js';
import { type OwnShard, startOwnShard } from './support/own-server.js';
import { RelayProcess } from './support/relay-process.js';

/** Real brokers: `npm run proof:brokers`. */
const EVENTS = Number(process.env['FW_PROOF_BROKERS'] ?? 0);
const AWAY_MS = Number(process.env['FW_PROOF_AWAY_MS'] ?? 20_000);
const nats = EVENTS > 0 ? natsServer() : undefined;
const kafka = EVENTS > 0 ? kafkaJars() : undefined;
const NATS_PORT = 14_222;
const KAFKA_PORT = 19_092;

const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

interface World {
  readonly shard: OwnShard;
  readonly database: ShardDatabase;
  readonly relay: RelayProcess;
}

async function world(receiver: object): Promise<World> {
  const shard = await startOwnShard();
  cleanUps.push(() => shard.destroy());
  const relay = new RelayProcess(shard.topology, {
    sinks: [{ name: 'broker', format: 'binary', ...receiver }],
  });
  cleanUps.push(() => relay.remove());
  return { shard, database: shard.database, relay };
}

function fill(database: ShardDatabase, events: number): Promise<unknown> {
  const options = { writers: 8, events, largest: 200, longestPauseMs: 5, random: seededRandom(1) };
  return writeLate(database, options);
}

async function idsOf(database: ShardDatabase): Promise<readonly string[]> {
  const { rows } = await database.query({ text: 'SELECT id FROM eventlog.events', values: [] });
  return rows.map(([id]) => String(id));
}

/**
 * Kills relay and broker in turn while events are written, then leaves the broker away for longer, and restarts the
 * database while the backlog drains.
 */
async function disturb({ shard, database, relay }: World, broker: Broker): Promise<void> {
  const writing = fill(database, EVENTS);
  for (let round = 0; round < 3; round += 1) {
    await sleep(1_000);
    await relay.end('SIGKILL');
    await relay.start();
    await sleep(1_000);
    await broker.kill();
    await sleep(500);
    await broker.start();
  }
  await broker.kill();
  const startedMs = performance.now();
  await fill(database, 2_000);
  const writingMs = performance.now() - startedMs;
  await sleep(AWAY_MS);
  await writing;
  await broker.start();
  await shard.server.kill();
  await shard.server.start();
  console.info(`2,000 events were written in ${Math.round(writingMs)} ms while the broker was away`);
}

/** Events per second of a backlog. */
async function rateOf(relay: RelayProcess, arrivals: Arrivals, events: number): Promise<number> {
  await relay.start();
  await until(() => arrivals.count > 0, 60_000);
  const [before, startedMs] = [arrivals.count, performance.now()];
  await until(() => arrivals.count >= events, 600_000);
  return Math.round((events - before) / ((performance.now() - startedMs) / 1_000));
}

async function check(database: ShardDatabase, arrivals: Arrivals): Promise<void> {
  let ids: readonly string[] = [];
  // Connections from before the restart are dead.
  await until(async () => {
    ids = await idsOf(database).catch(() => []);
    return ids.length > 0;
  });
  await until(() => arrivals.missing(ids).length === 0, 600_000);
  expect(arrivals.outOfOrder).toBe(0);
  console.info(`${ids.length} events arrived, ${arrivals.duplicates} of them more than once`);
}

/** Notes each message of a follower, which ends with the test. */
async function note(
  arrivals: Arrivals,
  follow: (take: (message: FollowedMessage) => void) => Promise<Follower>,
): Promise<void> {
  const follower = await follow((message) => {
    const { id, subject = '', modelVersion = 0 } = readMessage(message);
    arrivals.add(id, subject, modelVersion);
  });
  cleanUps.push(() => follower.close());
}

describe('A relay to real brokers', () => {
  test.skipIf(nats === undefined)(
    'NATS JetStream gets every event, in order per model (Debian package nats-server)',
    async () => {
      const broker = natsBroker(nats ?? '', NATS_PORT);
      cleanUps.push(() => broker.remove());
      await broker.start();
      const arrivals = new Arrivals();
      await note(arrivals, (take) => followNats(NATS_PORT, 'events.>', take));
      const made = await world({ nats: { servers: [`127.0.0.1:${NATS_PORT}`] } });
      await fill(made.database, EVENTS);
      console.info(`NATS: ${await rateOf(made.relay, arrivals, EVENTS)} events/s`);
      await disturb(made, broker);
      await check(made.database, arrivals);
    },
    1_800_000,
  );

  test.skipIf(kafka === undefined)(
    'Kafka gets every event, in order per model (kafka_2.13 of Maven)',
    async () => {
      const broker = kafkaBroker(kafka ?? NO_JARS, KAFKA_PORT);
      cleanUps.push(() => broker.remove());
      await broker.start();
      const made = await world({ kafka: { brokers: [`127.0.0.1:${KAFKA_PORT}`] } });
      await fill(made.database, EVENTS);
      const arrivals = new Arrivals();
      const followed = note(arrivals, (take) => followKafka(KAFKA_PORT, ['outbox.event.Account'], take));
      console.info(`Kafka: ${await rateOf(made.relay, arrivals, EVENTS)} events/s`);
      await followed;
      await disturb(made, broker);
      await check(made.database, arrivals);
    },
    1_800_000,
  );
});
