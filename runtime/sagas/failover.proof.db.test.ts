import { afterEach, expect, test } from 'vitest';
import { GLOBAL_SHARD, MEXICO_SHARD } from '../../examples/wallet/shards.js';
import type { DatabaseHarness } from '../../test/databases/databases.js';
import { StallingProxy } from '../../test/databases/proxy.js';
import {
  type ReplicatedServers,
  type ReplicationMode,
  startReplicated,
} from '../../test/databases/standby.js';
import { prepareServer } from '../../test/databases/template.js';
import { serverUrl, testDataSource, topologyOf } from '../../test/databases/topology.js';
import { describeOn } from '../../test/databases/vitest.js';
import { postgresAdapter } from '../databases.js';
import { shardOfUuid } from '../domain/id.js';
import { uuidTimeMs } from '../domain/uuid.js';
import { until } from '../events/test-support/ledger.js';
import { DatabaseRegistry } from '../sharding/database-registry.js';
import { loadMigrations, SHARDS, TransferLoad } from './test-support/transfer-load.js';
import { readEndings } from './test-support/transfers.js';

/** Duration of the load before and after a failover, and without the standby, in milliseconds. */
const LOAD_MS = Number(process.env['FW_PROOF_FAILOVER_MS'] ?? 500);
const SOURCES_PER_SHARD = 3;
const TRANSFERS = 10;
const DEADLINE_MS = 300_000 + 6 * LOAD_MS;

let servers: ReplicatedServers | undefined;
let clients: StallingProxy | undefined;
let databases: DatabaseRegistry | undefined;
let load: TransferLoad | undefined;

afterEach(async () => {
  await load?.stop();
  await databases?.close(0);
  await clients?.stop();
  await servers?.destroy();
  [clients, servers, databases, load] = [undefined, undefined, undefined, undefined];
});

interface Running {
  readonly replicated: ReplicatedServers;
  readonly registry: DatabaseRegistry;
  readonly transfers: TransferLoad;
  /** Kills the primary of one shard, and redirects clients to its standby. */
  failOver(): Promise<void>;
}

/** One shard with a standby, one without, and load on both. */
async function run(harness: DatabaseHarness, mode: ReplicationMode): Promise<Running> {
  const replicated = await startReplicated(mode);
  servers = replicated;
  const { primary, standby } = replicated;
  const proxy = await StallingProxy.start(primary);
  clients = proxy;
  const mexico = (await harness.makeTopology({ shards: [MEXICO_SHARD], migrations: loadMigrations }))
    .groups[0]?.members[0];
  if (mexico === undefined) throw new Error('There is one');
  const url = serverUrl({ ...primary, port: proxy.port }, primary.database);
  const topology = topologyOf([
    [GLOBAL_SHARD, testDataSource(url, await prepareServer(primary, GLOBAL_SHARD, loadMigrations))],
    [MEXICO_SHARD, mexico.primary],
  ]);
  const registry = new DatabaseRegistry(topology, { adapters: [postgresAdapter], warn: () => {} });
  databases = registry;
  const transfers = new TransferLoad(registry);
  load = transfers;
  await transfers.open(SOURCES_PER_SHARD);
  transfers.startWriting();
  await transfers.grow(LOAD_MS, TRANSFERS);
  const failOver = async (): Promise<void> => {
    await replicated.failOver();
    proxy.lead(standby);
    proxy.cut();
    await transfers.grow(LOAD_MS, TRANSFERS);
    await transfers.stopWriting();
    await transfers.settle();
  };
  return { replicated, registry, transfers, failOver };
}

/** Invariants of every server, even after lost transactions. */
async function expectConsistent({ registry, transfers }: Running): Promise<void> {
  for (const shard of SHARDS) {
    expect(await transfers.drift(shard)).toBe(0);
    const { log, seen } = await transfers.copied(shard);
    expect(seen).toEqual(log);
    for (const id of await transfers.initiated(shard)) expect(transfers.receipts).toContain(id);
    const credited = await transfers.credited(shard);
    expect(new Set(credited).size).toBe(credited.length);
  }
  for (const { state, credits, refunds } of (await readEndings(registry)).values()) {
    expect(refunds).toBe(state === 'REFUNDED' ? 1 : 0);
    expect(credits).toBeLessThanOrEqual(state === 'COMPLETED' ? 1 : 0);
  }
  const { events, sagas } = transfers.application;
  expect(await events.deadLetters.list()).toEqual([]);
  expect((await sagas.list({ stuck: true })).items).toEqual([]);
}

/** Prints measurements in the long form of this test. */
function report(numbers: Readonly<Record<string, number>>): void {
  if (process.env['FW_PROOF_FAILOVER_MS'] !== undefined) console.info(JSON.stringify(numbers));
}

describeOn('postgresql', 'A failover to a synchronous standby under transfers', (harness) => {
  test(
    'loses no transfer that was acknowledged, no money, and no effect of a handler',
    async () => {
      const running = await run(harness, 'synchronous');
      const { registry, transfers } = running;
      const before = transfers.acknowledged.size;
      await running.failOver();
      await expectConsistent(running);
      const endings = await readEndings(registry);
      for (const id of transfers.acknowledged) expect(endings.has(id)).toBe(true);
      for (const { credits, refunds } of endings.values()) expect(credits + refunds).toBe(1);
      expect(await transfers.inFlight()).toBe(0);
      expect(await transfers.receiptsCounted()).toBe(endings.size);
      const failovers = await transfers.application.events.failovers(GLOBAL_SHARD);
      expect(failovers).toMatchObject([{ previous: '00000001', ahead: [], lostCauses: [] }]);
      report({ before, acknowledged: transfers.acknowledged.size, stored: endings.size });
    },
    DEADLINE_MS,
  );
});

describeOn('postgresql', 'A failover to an asynchronous standby under transfers', (harness) => {
  test(
    'leaves a consistent state, and reports what was lost',
    async () => {
      const running = await run(harness, 'asynchronous');
      const { replicated, registry, transfers } = running;
      const kept = [...transfers.acknowledged];
      await replicated.untilReplicated();
      await replicated.detach();
      const detachedMs = Date.now();
      await transfers.grow(LOAD_MS, TRANSFERS);
      // Some of the transactions that will be lost have had effects on the other shard.
      const lostSoFar = [...transfers.acknowledged].filter((id) => uuidTimeMs(id) > detachedMs);
      await until(async () => {
        const credited = new Set(await transfers.credited(MEXICO_SHARD));
        return lostSoFar.some((id) => shardOfUuid(id) === GLOBAL_SHARD && credited.has(id));
      });
      await running.failOver();

      await expectConsistent(running);
      const stored = await transfers.transfers(GLOBAL_SHARD);
      for (const id of kept) expect(shardOfUuid(id) === MEXICO_SHARD || stored.has(id)).toBe(true);
      const logged = new Set((await Promise.all(SHARDS.map((shard) => transfers.initiated(shard)))).flat());
      const goneEvents = [...transfers.receipts].filter((id) => !logged.has(id));
      // An effect on the other shard may have lost its answer, and its event.
      const goneAttempts = [...transfers.begun].filter((id) => !logged.has(id));
      const counted = await transfers.receiptsCounted();
      expect(counted).toBeGreaterThanOrEqual(logged.size + goneEvents.length);
      expect(counted).toBeLessThanOrEqual(logged.size + goneAttempts.length);
      const goneTransfers = (await transfers.credited(MEXICO_SHARD)).filter(
        (id) => shardOfUuid(id) === GLOBAL_SHARD && !stored.has(id),
      );
      expect(goneTransfers.length).toBeGreaterThan(0);

      const [failover, ...more] = await transfers.application.events.failovers(GLOBAL_SHARD);
      expect([more, failover?.previous]).toEqual([[], '00000001']);
      const causes = (kind: string) =>
        failover?.lostCauses.filter((each) => each.kind === kind).map(({ cause }) => cause) ?? [];
      expect(causes('step').sort()).toEqual([...goneTransfers].sort());
      expect(causes('key').sort()).toEqual([...goneEvents].sort());
      const ahead = failover?.ahead.find(({ handler }) => handler === 'Receipts');
      expect(ahead?.events).toBeGreaterThan(0);
      for (const id of ahead?.eventIds ?? []) expect(goneEvents).toContain(id);
      expect(failover?.ahead.map(({ handler }) => handler)).not.toContain('Copy');

      // Money from the other shard that had arrived on the lost server.
      const endings = [...(await readEndings(registry))];
      const vanished = endings.filter(([, { credits, refunds }]) => credits + refunds === 0);
      for (const [id, { state }] of vanished)
        expect([shardOfUuid(id), state]).toEqual([MEXICO_SHARD, 'COMPLETED']);
      expect(await transfers.inFlight()).toBe(vanished.length - goneTransfers.length);
      report({
        acknowledged: transfers.acknowledged.size,
        stored: endings.length,
        goneEvents: goneEvents.length,
        goneTransfers: goneTransfers.length,
        vanished: vanished.length,
        ahead: ahead?.events ?? 0,
      });
    },
    DEADLINE_MS,
  );
});
