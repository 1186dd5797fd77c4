import { expect, test } from 'vitest';
import { describeOn } from '../../../test/databases/vitest.js';
import type { ShardingTopology } from '../../config/types.js';
import { HERE, THERE } from '../../execution/test-support/accounts.js';
import { sinkConsumers } from '../../relay/sink-consumer.js';
import { collectingSink } from '../../relay/test-support/collecting-sink.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { handlerOf, type Ledger, ledgerMigrations, until } from '../test-support/ledger.js';
import { testLedger } from '../test-support/test-ledger.js';

/** A process that delivers. Without notifications it would find no event for a minute. */
function processOn(
  databases: DatabaseRegistry,
  seen: string[],
): { ledger: Ledger; databases: DatabaseRegistry } {
  const handlers = [handlerOf('Seen', ({ modelId }) => void seen.push(modelId))];
  const ledger = testLedger(databases, { handlers, limits: { slowPollMs: 60_000, fastPollMs: 60_000 } });
  return { ledger, databases };
}

/** Switches to another topology, as an application does. */
async function reload(
  { ledger, databases }: ReturnType<typeof processOn>,
  topology: ShardingTopology,
): Promise<void> {
  await ledger.events.process.topologyChanged(await databases.reload(topology));
}

const LISTENERS =
  "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%' AND pid <> pg_backend_pid()";

describeOn('postgresql', 'Delivery under a live reload', (harness) => {
  test('starts on an added shard and stops on a removed one', async () => {
    const both = await harness.makeTopology({ shards: [HERE, THERE], migrations: ledgerMigrations });
    const one = { ...both, groups: both.groups.slice(0, 1) };
    const seen: string[] = [];
    const process = processOn(harness.open(one), seen);
    const { ledger } = process;
    ledger.events.start();
    await reload(process, both);
    const account = await ledger.open(THERE);
    await ledger.credit(account);
    await until(() => seen.includes(account));
    expect((await ledger.events.lag()).map(({ shard }) => shard)).toEqual([HERE, THERE]);
    // A shard must be empty to be removed.
    for (const table of ['eventlog.events', 'eventlog.actions', 'accounts'])
      await ledger.rows(`DELETE FROM ${table}`, THERE);
    await reload(process, one);
    expect((await ledger.events.lag()).map(({ shard }) => shard)).toEqual([HERE]);
    const other = await ledger.open(HERE);
    await ledger.credit(other);
    await until(() => seen.includes(other));
    expect(ledger.warnings).toEqual([]);
  });

  test('closes the sinks of a removed shard', async () => {
    const both = await harness.makeTopology({ shards: [HERE, THERE], migrations: ledgerMigrations });
    const databases = harness.open(both);
    const sink = collectingSink();
    const { consumers, statistics } = sinkConsumers([sink.definition], { warn: () => {} });
    const ledger = testLedger(databases, { sinks: consumers });
    ledger.events.start();
    await until(async () =>
      (await ledger.events.lag()).every(({ consumers: [first] }) => first?.holder !== undefined),
    );
    expect(statistics().map(({ shard }) => shard)).toEqual([HERE, THERE]);
    await reload({ ledger, databases }, { ...both, groups: both.groups.slice(0, 1) });
    expect(statistics().map(({ shard }) => shard)).toEqual([HERE]);
    expect(sink.closed).toBe(1);
    await ledger.events.stop();
    expect(sink.closed).toBe(2);
  });

  test('listens again where connections were replaced, and receives later notifications', async () => {
    const topology = await harness.makeTopology({ shards: [HERE], migrations: ledgerMigrations });
    const seen: string[] = [];
    const process = processOn(harness.open(topology), seen);
    process.ledger.events.start();
    const writer = processOn(harness.open(topology), []);
    const pids = async (): Promise<readonly unknown[]> => (await writer.ledger.rows(LISTENERS)).flat();
    await until(async () => (await pids()).length === 1);
    const before = await pids();
    const [group] = topology.groups;
    const [member] = group?.members ?? [];
    if (group === undefined || member === undefined) throw new Error('No member');
    const primary = { ...member.primary, maximumPoolSize: member.primary.maximumPoolSize + 1 };
    await reload(process, { ...topology, groups: [{ ...group, members: [{ ...member, primary }] }] });
    await until(async () => {
      const now = await pids();
      return now.length === 1 && now[0] !== before[0];
    });
    const account = await writer.ledger.open();
    await writer.ledger.credit(account);
    await until(() => seen.includes(account), 30_000);
    await process.ledger.events.stop();
    expect(process.databases.database(HERE).stats().listening).toBe(0);
  });
});
