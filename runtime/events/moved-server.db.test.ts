import { afterEach, expect, test } from 'vitest';
import { postgresAdapter } from '../databases.js';
import { HERE } from '../execution/test-support/accounts.js';
import { migrate } from '../migration/migrate.js';
import { DatabaseRegistry } from '../sharding/database-registry.js';
import { type PostgresServer, startPostgres } from '../testing/databases-server.js';
import { serverUrl, testDataSource, topologyOf } from '../testing/databases-topology.js';
import { describeOn } from '../testing/databases-vitest.js';
import { handlerOf, type Ledger, ledgerMigrations, openLedger, until } from './test-support/ledger.js';

/** What a dump of the shard holds, each table behind those that it refers to. */
const TABLES = [
  'public.accounts',
  'eventlog.actions',
  'eventlog.events',
  'eventlog.idempotency_keys',
  'eventlog.delivery_epochs',
  'eventlog.consumers',
];

let server: PostgresServer | undefined;

afterEach(async () => {
  await server?.destroy();
  server = undefined;
});

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

describeOn('postgresql', 'A shard that was dumped and restored on another server', (harness) => {
  test('delivers nothing until it is rebased, and then everything once, in order', async () => {
    const versions: number[] = [];
    const handlers = [handlerOf('Moved', ({ modelVersion }) => void versions.push(modelVersion))];
    const before = await harness.makeShards({ shards: [HERE], migrations: ledgerMigrations });
    const old = openLedger(before, { handlers });
    const account = await old.open();
    await old.credit(account);
    await old.credit(account);
    old.events.start();
    await until(() => versions.length === 2);
    await old.events.stop();
    await old.credit(account);

    server = await startPostgres();
    const source = testDataSource(serverUrl(server, server.database), server);
    const after = new DatabaseRegistry(topologyOf([[HERE, source]]), {
      adapters: [postgresAdapter],
      warn: () => {},
    });
    let fresh: Ledger | undefined;
    try {
      await migrate(after, { migrations: ledgerMigrations });
      await copyAll(before, after);
      const writer = openLedger(after, { handlers });
      fresh = writer;
      await writer.credit(account);
      writer.events.start();
      await until(() => writer.warnings.some((warning) => warning.includes('rebase')));
      expect(versions).toEqual([2, 3]);
      expect(await writer.events.rebase()).toMatchObject([{ outcome: 'opened', epoch: 2 }]);
      await until(() => versions.length >= 4);
      await writer.credit(account);
      await until(() => versions.length >= 5);
      expect(versions).toEqual([2, 3, 4, 5, 6]);
      // What came from the other server does not count as left over, whatever its transaction ids look like.
      await until(async () => (await writer.events.lag())[0]?.consumers[0]?.behind === 0);
    } finally {
      await fresh?.events.stop();
      await after.close(0);
    }
  }, 180_000);
});
