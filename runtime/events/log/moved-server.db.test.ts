import { expect, onTestFinished, test } from 'vitest';
import type { DatabaseHarness } from '../../../test/databases/databases.js';
import { type ServerAddress, startPostgres } from '../../../test/databases/server.js';
import { serverUrl, testDataSource, topologyOf } from '../../../test/databases/topology.js';
import { describeOn, testServer } from '../../../test/databases/vitest.js';
import { HERE } from '../../execution/test-support/accounts.js';
import { migrate } from '../../migration/migrate.js';
import type { DatabaseRegistry } from '../../sharding/database-registry.js';
import { handlerOf, type Ledger, ledgerMigrations, until } from '../test-support/ledger.js';
import { testLedger } from '../test-support/test-ledger.js';

/** The tables of a dump of the shard, each after those that it references. */
const TABLES = [
  'public.accounts',
  'eventlog.actions',
  'eventlog.events',
  'eventlog.idempotency_keys',
  'eventlog.delivery_epochs',
  'eventlog.consumers',
];

/** Moving starts a second server, and a slot waits for every transaction of the first one. */
const PATIENCE = { timeoutMs: 120_000 };

/** Copies all rows and the sequence of positions, as a dump and its restore do. */
async function copyAll(from: DatabaseRegistry, to: DatabaseRegistry): Promise<void> {
  const [source, target] = [from.database(HERE), to.database(HERE)];
  for (const table of TABLES) {
    const { rows } = await source.query({
      text: `SELECT coalesce(json_agg(t), '[]')::text FROM ${table} AS t`,
      values: [],
    });
    await target.query({
      text: `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_recordset(NULL::${table}, $1)`,
      values: [rows[0]?.[0]],
    });
  }
  const sequence = "pg_get_serial_sequence('eventlog.events', 'position')";
  await target.query({
    text: `SELECT setval(${sequence}, (SELECT max(position) FROM eventlog.events))`,
    values: [],
  });
}

/** Runs statements one by one, outside of a transaction. */
async function run(databases: DatabaseRegistry, ...statements: readonly string[]): Promise<void> {
  const session = await databases.database(HERE).acquire();
  try {
    for (const text of statements) await session.query({ text, values: [] }, PATIENCE);
    session.release();
  } catch (error) {
    session.destroy();
    throw error;
  }
}

/** Replicates the source with a subscription until `caughtUp`, then drops the subscription. */
async function replicate(
  from: { readonly databases: DatabaseRegistry; readonly server: ServerAddress },
  to: Ledger,
  caughtUp: () => Promise<boolean>,
): Promise<void> {
  const { url } = from.databases.memberConfig(HERE).primary;
  if (url.kind !== 'postgresql') throw new Error('Logical replication needs a server');
  const { user, password } = from.server;
  const connection = `host=${url.host} port=${url.port} dbname=${url.database} user=${user} password=${password}`;
  const slot = `fw_move_${process.pid}`;
  await run(
    from.databases,
    `CREATE PUBLICATION fw_move FOR TABLE ${TABLES.join(', ')} WITH (publish_via_partition_root = true)`,
  );
  await run(
    to.databases,
    `CREATE SUBSCRIPTION fw_move CONNECTION '${connection}' PUBLICATION fw_move WITH (slot_name = ${slot})`,
  );
  try {
    await until(async () => {
      const rows = await to.rows("SELECT FROM pg_subscription_rel WHERE srsubstate <> 'r'");
      return rows.length === 0 && (await caughtUp());
    });
  } finally {
    await run(to.databases, 'DROP SUBSCRIPTION fw_move');
  }
}

/** A shard of which a handler has not received the last event, and an empty one on another server. */
async function twoServers(harness: DatabaseHarness, received: number) {
  const versions: number[] = [];
  const handlers = [handlerOf('Moved', ({ modelVersion }) => void versions.push(modelVersion))];
  const before = await harness.makeShards({
    shards: [HERE],
    migrations: ledgerMigrations,
    owner: 'replication',
  });
  const old = testLedger(before, { handlers });
  const account = await old.open();
  for (let count = 0; count < received; count += 1) await old.credit(account);
  old.events.start();
  await until(() => versions.length === received);
  await old.events.stop();
  await old.credit(account);
  const server = await startPostgres();
  onTestFinished(() => server.destroy());
  const source = testDataSource(serverUrl(server, server.database), server);
  const after = harness.open(topologyOf([[HERE, source]]));
  await migrate(after, { migrations: ledgerMigrations });
  return { before, after, writer: testLedger(after, { handlers }), account, versions };
}

describeOn('postgresql', 'A shard that was moved by logical replication', (harness) => {
  test('delivers what was written before and after its rebase, although positions have restarted', async () => {
    const { before, writer, account, versions } = await twoServers(harness, 4);
    await replicate({ databases: before, server: testServer() }, writer, async () => {
      const rows = await writer.rows('SELECT FROM eventlog.events');
      return rows.length === 5;
    });
    await writer.credit(account);
    await writer.credit(account);
    expect(await writer.rows('SELECT position FROM eventlog.events WHERE model_version > 6')).toEqual([
      ['1'],
      ['2'],
    ]);
    expect(await writer.events.rebase()).toMatchObject([
      { outcome: 'opened', epoch: 2, afterPosition: 5, renumbered: 2 },
    ]);
    await writer.credit(account);
    writer.events.start();
    await until(() => versions.length >= 8);
    await until(async () => (await writer.events.lag())[0]?.consumers[0]?.behind === 0);
    expect(versions).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await writer.events.rebase()).toMatchObject([{ outcome: 'unchanged', renumbered: 0 }]);
  }, 180_000);
});

describeOn('postgresql', 'A shard that was dumped and restored on another server', (harness) => {
  test('delivers no event until it is rebased, and then every event once, in order', async () => {
    const { before, after, writer, account, versions } = await twoServers(harness, 2);
    await copyAll(before, after);
    await writer.credit(account);
    writer.events.start();
    await until(() => writer.warnings.some((warning) => warning.includes('rebase')));
    expect(versions).toEqual([2, 3]);
    expect(await writer.events.rebase()).toMatchObject([{ outcome: 'opened', epoch: 2 }]);
    await until(() => versions.length >= 4);
    await writer.credit(account);
    await until(() => versions.length >= 5);
    expect(versions).toEqual([2, 3, 4, 5, 6]);
    // Events of the other server do not count as pending, whatever their transaction ids.
    await until(async () => (await writer.events.lag())[0]?.consumers[0]?.behind === 0);
  }, 180_000);
});
