import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, describe, expect, test } from 'vitest';
import { topologyYaml } from '../../cli/test-support/topology-yaml.js';
import { ROOT } from '../../docs/pages.js';
import { readMessage } from '../../runtime/consumer/index.js';
import { uuid7 } from '../../runtime/domain/id-source.js';
import { seededRandom, writeLate } from '../../runtime/events/test-support/late-writers.js';
import { until } from '../../runtime/events/test-support/ledger.js';
import { kafkaSink } from '../../runtime/relay/sinks/kafka/kafka-sink.js';
import { sentKey } from '../../runtime/relay/test-support/sink-trial.js';
import { makePartitions } from '../../runtime/retention/make-partitions.js';
import type { ShardDatabase } from '../../runtime/sharding/shard-database.js';
import { Arrivals } from './support/arrivals.js';
import { type KafkaJars, kafkaBroker, kafkaJars, NO_JARS } from './support/brokers.js';
import { ConnectWorker } from './support/connect-worker.js';
import { type FollowedMessage, followKafka } from './support/followers.js';
import { type OwnShard, startOwnShard } from './support/own-server.js';

/** The real Debezium: `npm run proof:brokers`. */
const EVENTS = Number(process.env['FW_PROOF_BROKERS'] ?? 0);
const jars = EVENTS > 0 ? kafkaJars() : undefined;
const KAFKA_PORT = 19_292;
const CONNECT_PORT = 18_083;
const PASSWORD = 'debezium';
const CONNECTOR = 'test.0-0-outbox';
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const WEEK_MS = 7 * 24 * 60 * 60 * 1_000;

const run = promisify(execFile);
const cleanUps: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
}, 120_000);

/** The files of `fw-gen connectors` for a shard, as users create them. */
async function connectorFiles({ topology }: OwnShard): Promise<(name: string) => string> {
  const folder = mkdtempSync(join(tmpdir(), 'fw-connectors-'));
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }));
  const config = join(folder, 'fw.config.yaml');
  writeFileSync(config, topologyYaml(topology));
  const args = [join(ROOT, 'bin', 'fw-gen.js'), 'connectors', '--config', config, '--output', folder];
  await run(process.execPath, args);
  return (name) => readFileSync(join(folder, name), 'utf8');
}

/** Runs the generated SQL in several transactions, as psql would, and sets the password of the role. */
async function runSql({ server }: OwnShard, sql: string): Promise<void> {
  const { host, port, user, password, database } = server;
  const client = new pg.Client({ host, port, user, password, database });
  await client.connect();
  try {
    for (const part of sql.split('\n\n')) await client.query(part);
    await client.query(`alter role fw_debezium password '${PASSWORD}'`);
  } finally {
    await client.end();
  }
}

function write(database: ShardDatabase, events: number, seed: number): Promise<unknown> {
  const options = { writers: 4, events, largest: 50, longestPauseMs: 5, random: seededRandom(seed) };
  return writeLate(database, options);
}

async function idsOf(database: ShardDatabase): Promise<readonly string[]> {
  const { rows } = await database.query({ text: 'SELECT id FROM eventlog.events', values: [] });
  return rows.map(([id]) => String(id));
}

async function cell(database: ShardDatabase, text: string): Promise<string> {
  const { rows } = await database.query({ text, values: [] });
  return String(rows[0]?.[0]);
}

/** The partitions to which a sink of the relay sends these keys. */
async function partitionsByRelay(
  found: KafkaJars,
  keys: readonly string[],
): Promise<ReadonlyMap<string, number | undefined>> {
  const partitions = new Map<string, number | undefined>();
  const place = { port: KAFKA_PORT, topic: 'relay.Conformance' };
  const follower = await followKafka(found, place, ({ key = '', partition }) => {
    partitions.set(key, partition);
  });
  const sink = kafkaSink({
    brokers: [`127.0.0.1:${KAFKA_PORT}`],
    topic: 'relay.{model}',
    clientId: 'relay',
    mechanism: 'plain',
    username: undefined,
    password: undefined,
    tls: false,
    timeoutMs: 10_000,
  });
  cleanUps.push(
    () => sink.close(),
    () => follower.close(),
  );
  const messages = keys.flatMap((key) => sentKey(1).messages.map((message) => ({ ...message, key })));
  await sink.publish(messages, new AbortController().signal);
  await until(() => partitions.size === keys.length);
  return partitions;
}

describe.skipIf(jars === undefined)('Debezium with the files of fw-gen connectors', () => {
  test('set up according to the guide sends every event, through restarts, new partitions and an idle shard', async () => {
    const found = jars ?? NO_JARS;
    const shard = await startOwnShard();
    cleanUps.push(() => shard.destroy());
    const { database } = shard;
    const broker = kafkaBroker(found, KAFKA_PORT);
    cleanUps.push(() => broker.remove());
    await broker.start();
    const connect = new ConnectWorker(found, {
      kafkaPort: KAFKA_PORT,
      port: CONNECT_PORT,
      password: PASSWORD,
    });
    cleanUps.push(() => connect.remove());
    const file = await connectorFiles(shard);
    await runSql(shard, file('0-0.sql'));
    // Events that are written before the connector exists are not lost: the slot keeps them.
    await write(database, 200, 1);
    await connect.start();
    await connect.create(file('0-0.json'));
    await connect.runs(CONNECTOR);

    const arrivals = new Arrivals();
    const messages = new Map<string, FollowedMessage>();
    const outbox = { port: KAFKA_PORT, topic: 'outbox.event.Account' };
    const follower = await followKafka(found, outbox, (message) => {
      const { id, modelVersion = 0 } = readMessage(message);
      arrivals.add(id, message.key ?? '', modelVersion);
      messages.set(id, message);
    });
    cleanUps.push(() => follower.close());
    const allArrive = async (): Promise<void> => {
      const ids = await idsOf(database);
      await until(() => arrivals.missing(ids).length === 0, 240_000);
      expect(arrivals.outOfOrder).toBe(0);
    };
    await allArrive();

    await database.query({
      text: `INSERT INTO eventlog.events (id, action_id, namespace, model_id, model_name, event_type, event_version,
            payload, created_date, model_version, trace_context)
          SELECT $1, $1, 'test', 'key-1', 'Account', 'AccountCredited', 3, '{"amount":"1.50","nested":{"list":[1]}}', now(), 7, $2`,
      values: [uuid7.next(database.shard.bits), TRACE],
    });
    await allArrive();
    const sent = [...messages.values()].find(({ key }) => key === 'key-1');
    expect(sent?.body).toBe('{"amount":"1.50","nested":{"list":[1]}}');
    expect(sent && readMessage(sent)).toMatchObject({
      eventType: 'AccountCredited',
      eventVersion: 3,
      modelVersion: 7,
      traceContext: TRACE,
      data: { amount: '1.50', nested: { list: [1] } },
    });

    // A partition that is created after the start is published under its table.
    const later = Date.now() + 12 * WEEK_MS;
    const { created: made } = await makePartitions(database, { now: new Date(), ahead: 20 });
    expect(made.length).toBeGreaterThan(0);
    uuid7.reset({ nowMs: () => later, fillRandom: (bytes) => void crypto.getRandomValues(bytes) });
    try {
      await write(database, 100, 2);
    } finally {
      uuid7.reset();
    }
    const used = await cell(database, 'SELECT count(DISTINCT tableoid) FROM eventlog.events');
    expect(Number(used)).toBeGreaterThan(1);
    await allArrive();

    // Kafka Connect is killed twice while events are written.
    const before = arrivals.duplicates;
    const writing = write(database, EVENTS, 3);
    for (let round = 0; round < 2; round += 1) {
      await sleep(3_000);
      await connect.kill();
      await connect.start();
      await connect.runs(CONNECTOR);
    }
    await writing;
    await allArrive();
    console.info(
      `Kafka Connect killed twice: ${arrivals.count} events, ${arrivals.duplicates - before} duplicates`,
    );

    // Other databases of the server write, this shard does not: the heartbeat advances the slot.
    await database.query({ text: 'CREATE TABLE other AS SELECT generate_series(1, 50000) AS n', values: [] });
    const position = await cell(database, 'SELECT pg_current_wal_lsn()');
    const passed = `SELECT confirmed_flush_lsn >= '${position}'::pg_lsn FROM pg_replication_slots
        WHERE slot_name = 'fw_outbox_0_0'`;
    await until(async () => (await cell(database, passed)) === 'true', 120_000);

    // The relay uses the same partition for a key as Debezium.
    const partitions = new Map([...messages.values()].map(({ key = '', partition }) => [key, partition]));
    expect(await partitionsByRelay(found, [...partitions.keys()])).toEqual(partitions);
  }, 1_200_000);
});
