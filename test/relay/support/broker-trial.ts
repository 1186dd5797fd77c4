import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { readMessage } from '../../../runtime/consumer/index.js';
import { seededRandom, writeLate } from '../../../runtime/events/test-support/late-writers.js';
import { until } from '../../../runtime/events/test-support/ledger.js';
import type { ShardDatabase } from '../../../runtime/sharding/shard-database.js';
import { Arrivals } from './arrivals.js';
import type { Broker } from './brokers.js';
import { type Cut, CutNetwork } from './cut-network.js';
import type { FollowedMessage, Follower } from './followers.js';
import { type OwnShard, startOwnShard } from './own-server.js';
import { RelayProcess } from './relay-process.js';

/** Events of the backlog, and as many again during faults. 0: real brokers are not used. */
export const EVENTS: number = Number(process.env['FW_PROOF_BROKERS'] ?? 0);
const AWAY_MS = Number(process.env['FW_PROOF_AWAY_MS'] ?? 20_000);
const ROUNDS = 3;
const CUT_MS = 6_000;
/** Shorter than a cut, so that the relay gives up batches. */
const TIMEOUT_MS = 2_000;
const PORTION = 1_000;
const PORTION_PAUSE_MS = 1_000;
/** A shorter portion is not measured, because other processes of the machine would affect its time too much. */
const LEAST_PORTION_MS = 100;

/** A broker and the connections to it. */
export interface Trial {
  readonly name: string;
  readonly broker: Broker;
  /** The relay's port: `network` is in between. */
  readonly networkPort: number;
  readonly targetPort: number;
  readonly receiver: object;
  readonly follow: (take: (message: FollowedMessage) => void) => Promise<Follower>;
  /** Cleanup functions, called in reverse order. */
  readonly cleanUps: (() => Promise<unknown>)[];
}

interface World {
  readonly name: string;
  readonly broker: Broker;
  readonly shard: OwnShard;
  readonly database: ShardDatabase;
  readonly relay: RelayProcess;
  readonly network: CutNetwork;
  readonly arrivals: Arrivals;
}

/**
 * Sends a backlog, then writes as many events again while relay, broker, network and database fail in turn. The broker
 * is down for `FW_PROOF_AWAY_MS` in between. No event may be missing, and those of each model must arrive in order.
 */
export async function tryBroker(trial: Trial): Promise<void> {
  const world = await prepare(trial);
  await write(world.database, EVENTS);
  await drainBacklog(world, trial);
  const writing = write(world.database, EVENTS);
  await killInTurn(world);
  await cutInTurn(world);
  await writing;
  await leaveAway(world);
  await world.broker.start();
  await world.shard.server.kill();
  await world.shard.server.start();
  await check(world);
}

async function prepare({ name, broker, networkPort, targetPort, receiver, cleanUps }: Trial): Promise<World> {
  cleanUps.push(() => broker.remove());
  await broker.start();
  const network = await CutNetwork.start({ port: networkPort, target: targetPort });
  cleanUps.push(() => network.stop());
  const shard = await startOwnShard();
  cleanUps.push(() => shard.destroy());
  const sink = { name: 'broker', format: 'binary', timeoutMs: TIMEOUT_MS, ...receiver };
  const relay = new RelayProcess(shard.topology, { sinks: [sink] });
  cleanUps.push(() => relay.remove());
  return { name, broker, shard, database: shard.database, relay, network, arrivals: new Arrivals() };
}

async function drainBacklog({ name, relay, arrivals }: World, { follow, cleanUps }: Trial): Promise<void> {
  await relay.start();
  const follower = await follow((message) => {
    const { id, subject = '', modelVersion = 0 } = readMessage(message);
    arrivals.add(id, subject, modelVersion);
  });
  cleanUps.push(() => follower.close());
  await until(() => arrivals.count > 0, 60_000);
  const [before, startedMs] = [arrivals.count, performance.now()];
  await until(() => arrivals.count >= EVENTS, 600_000);
  const perSecond = (EVENTS - before) / ((performance.now() - startedMs) / 1_000);
  console.info(`${name}: a backlog of ${EVENTS} events arrived at ${Math.round(perSecond)}/s`);
}

async function killInTurn({ relay, broker }: World): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    await sleep(1_000);
    await relay.end('SIGKILL');
    await relay.start();
    await sleep(1_000);
    await broker.kill();
    await sleep(500);
    await broker.start();
  }
}

async function cutInTurn({ network, arrivals, database }: World): Promise<void> {
  for (const how of ['reset', 'silent', 'reset', 'silent'] satisfies readonly Cut[]) {
    network.cut(how);
    const { count } = arrivals;
    await write(database, PORTION);
    await sleep(CUT_MS);
    network.heal();
    await until(() => arrivals.count > count, 120_000);
  }
}

/** Takes the broker down while the service keeps writing at its rate. */
async function leaveAway({ name, broker, database }: World): Promise<void> {
  const before = await writePortions(database, 10_000);
  await broker.kill();
  const during = await writePortions(database, AWAY_MS);
  console.info(
    `${name}: ${PORTION} events took ${before} ms to write before, and ${during} ms while the broker was away for ${AWAY_MS / 1_000} s`,
  );
  expect(during).toBeLessThan(Math.max(before, LEAST_PORTION_MS) * 3);
}

/** Median time of a portion, in milliseconds. */
async function writePortions(database: ShardDatabase, forMs: number): Promise<number> {
  const times: number[] = [];
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs) {
    const startedMs = performance.now();
    await write(database, PORTION);
    times.push(performance.now() - startedMs);
    await sleep(PORTION_PAUSE_MS);
  }
  return Math.round(times.sort((one, other) => one - other)[times.length >> 1] ?? 0);
}

function write(database: ShardDatabase, events: number): Promise<unknown> {
  const options = { writers: 8, events, largest: 200, longestPauseMs: 5, random: seededRandom(1) };
  return writeLate(database, options);
}

async function check({ name, database, arrivals }: World): Promise<void> {
  let ids: readonly string[] = [];
  // Connections from before the restart are dead.
  await until(async () => {
    ids = await idsOf(database).catch(() => []);
    return ids.length > 0;
  });
  // Looking for each id takes so long that it would block this process's network.
  await until(() => arrivals.count >= ids.length, 600_000);
  expect(arrivals.missing(ids)).toEqual([]);
  expect(arrivals.outOfOrder).toBe(0);
  console.info(`${name}: ${ids.length} events arrived, ${arrivals.duplicates} repetitions`);
}

async function idsOf(database: ShardDatabase): Promise<readonly string[]> {
  const { rows } = await database.query({ text: 'SELECT id FROM eventlog.events', values: [] });
  return rows.map(([id]) => String(id));
}
