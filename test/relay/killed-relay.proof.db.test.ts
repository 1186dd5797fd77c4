import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { seededRandom, writeLate } from '../../runtime/events/test-support/late-writers.js';
import { ledgerMigrations, until } from '../../runtime/events/test-support/ledger.js';
import { HERE } from '../../runtime/execution/test-support/accounts.js';
import { HttpReceiver } from '../../runtime/relay/test-support/http-receiver.js';
import { describeOn } from '../databases/vitest.js';
import { Arrivals } from './support/arrivals.js';
import { RelayProcess } from './support/relay-process.js';

/** `npm run proof:brokers` sets more. */
const EVENTS = Number(process.env['FW_PROOF_RELAY_EVENTS'] ?? 2_000);
const ROUNDS = Number(process.env['FW_PROOF_RELAY_ROUNDS'] ?? 2);
const SEED = Number(process.env['FW_SEED'] ?? 1);
const SECRET = Buffer.alloc(32, 1).toString('base64');

const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A receiver that occasionally refuses, cuts the connection, or cuts it after it has accepted the message. */
function luckyReceiver(random: () => number) {
  const arrivals = new Arrivals();
  const receiver = new HttpReceiver((request, body, response) => {
    const luck = random();
    if (luck < 0.002) return void request.socket.destroy();
    if (luck < 0.004) return void response.writeHead(503).end();
    const { id, subject, sequence } = JSON.parse(body) as Readonly<Record<string, string>>;
    arrivals.add(id ?? '', subject ?? '', Number(sequence));
    if (luck < 0.006) return void request.socket.destroy();
    response.writeHead(204).end();
  });
  return { receiver, arrivals };
}

describeOn('postgresql', 'A relay that is killed, with its receiver and its connections', (harness) => {
  test(`misses nothing and keeps the order of each model (seed ${SEED})`, async () => {
    const topology = await harness.makeTopology({ shards: [HERE], migrations: ledgerMigrations });
    const database = harness.open(topology).database(HERE);
    const random = seededRandom(SEED);
    const { receiver, arrivals } = luckyReceiver(random);
    await receiver.open();
    cleanUps.push(receiver.close);
    const webhook = { url: receiver.url, secret: SECRET };
    const relay = new RelayProcess(topology, { sinks: [{ name: 'hooks', webhook }] });
    cleanUps.push(() => relay.remove());
    await relay.start();

    const writers = { writers: 4, events: EVENTS, largest: 20, longestPauseMs: 20, random };
    const writing = writeLate(database, writers);
    for (let round = 0; round < ROUNDS; round += 1) {
      await sleep(300 + random() * 700);
      await relay.end('SIGKILL');
      await relay.start();
      await sleep(random() * 500);
      await receiver.close();
      await sleep(random() * 300);
      await receiver.open();
      await database.query({ text: CUT, values: [] });
    }
    await writing;

    const { rows } = await database.query({ text: 'SELECT id FROM eventlog.events', values: [] });
    const ids = rows.map(([id]) => String(id));
    expect(ids).toHaveLength(EVENTS);
    await until(() => arrivals.missing(ids).length === 0, 90_000);
    expect(arrivals.outOfOrder).toBe(0);
    expect(arrivals.count).toBe(EVENTS);
    console.info(`relay killed ${ROUNDS} times: ${EVENTS} events, ${arrivals.duplicates} duplicates`);
    // Only messages in flight during a failure may have been sent again.
    expect(arrivals.duplicates).toBeLessThan(EVENTS / 2);
  });
});

/** Only the relay's connections; the test's writers would have to start again. */
const CUT = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%eventlog.consumers%'`;
