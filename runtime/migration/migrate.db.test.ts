import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { startPostgres } from '../../test/databases/server.js';
import { serverUrl, testDataSource, topologyOf } from '../../test/databases/topology.js';
import { describeOn, describeOnEachAdapter, testServer } from '../../test/databases/vitest.js';
import { openDatabases } from '../databases.js';
import { uuid7 } from '../domain/id-source.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { MigrationError, ShardIdentityError, UnsafeServerError } from '../errors.js';
import { primaryOf } from '../sharding/test-support/changed-topology.js';
import { migrate } from './migrate.js';
import { systemMigrations } from './system-migrations.js';

const statement = (text: string, values: readonly unknown[] = []) => ({ text, values });
const [global, mexico] = [ShardIdentifier.of(0, 0), ShardIdentifier.of(1, 0)];
const wallets = {
  name: '0001_create_wallets',
  up: 'create table wallets (id uuid primary key check (eventlog.is_own_id(id)));\ncreate index on wallets (id);',
};

describeOnEachAdapter('Migrations', (harness) => {
  it('let the database refuse ids of other shards and of other versions', async () => {
    const shards = [global, mexico, ShardIdentifier.of(255, 63), ShardIdentifier.of(3, 17)];
    const registry = await harness.makeShards({ shards, migrations: [wallets] });
    for (const shard of shards) {
      const database = registry.database(shard);
      const insert = (id: string) => database.query(statement('insert into wallets values ($1)', [id]));
      await insert(uuid7.next(shard.bits));
      for (const other of shards) {
        if (other === shard) continue;
        await expect(insert(uuid7.next(other.bits))).rejects.toMatchObject({
          sqlState: '23514',
          table: 'wallets',
        });
      }
      const own = uuid7.next(shard.bits);
      await expect(insert(`${own.slice(0, 14)}4${own.slice(15)}`)).rejects.toMatchObject({
        sqlState: '23514',
      });
    }
  });

  it('partition events and actions, and accept only actions of their own shard', async () => {
    const registry = await harness.makeShards({ shards: [mexico] });
    const database = registry.database(mexico);
    const event = (id: string) =>
      database.query(
        statement(
          `insert into eventlog.events (id, action_id, namespace, model_id, model_name, event_type, payload,
             created_date, model_version) values ($1, $1, 'n', 'm', 'Wallet', 'E', '{}', now(), 1)
           returning event_version, position, transaction_id::text = pg_current_xact_id()::text, trace_context`,
          [id],
        ),
      );
    expect((await event(uuid7.next(mexico.bits))).rows).toEqual([[1, '1', true, null]]);
    const action = (status: string, name: string | null = 'Test', { bits } = mexico) =>
      database.query(
        statement(
          'insert into eventlog.actions (id, status, namespace, name, principal, started_date, completed_date) ' +
            "values ($1, $2, 'n', $3, 'p', now(), now())",
          [uuid7.next(bits), status, name],
        ),
      );
    await action('void');
    await action('committed');
    await expect(action('committed', null)).rejects.toMatchObject({ sqlState: '23502' });
    await expect(action('other')).rejects.toMatchObject({ sqlState: '22P02' });
    await expect(action('committed', 'Test', global)).rejects.toMatchObject({ sqlState: '23514' });
    const kinds = await database.query(
      statement(
        `select relname, relkind::text from pg_class where relname in ('events', 'actions') order by 1`,
      ),
    );
    expect(kinds.rows).toEqual([
      ['actions', 'p'],
      ['events', 'p'],
    ]);
  });

  it('refuse a migration that was changed after it had been applied', async () => {
    const registry = await harness.makeShards({ migrations: [wallets] });
    const sameText = { name: wallets.name, up: `\r\n${wallets.up.replaceAll('\n', '\r\n')}` };
    expect((await migrate(registry, { migrations: [sameText] })).shards[0]?.applied).toEqual([]);
    const changed = { name: wallets.name, up: `${wallets.up} -- changed` };
    const call = migrate(registry, { migrations: [changed] });
    await expect(call).rejects.toThrow(MigrationError);
    await expect(call).rejects.toThrow('0001_create_wallets was changed');
    const twice = migrate(registry, { migrations: [wallets, wallets] });
    await expect(twice).rejects.toThrow('Two migrations are named 0001_create_wallets');
  });

  it('that end their own transaction are refused', async () => {
    const registry = await harness.makeShards();
    const call = migrate(registry, {
      migrations: [{ name: '0001_x', up: 'create table x (); commit; begin;' }],
    });
    await expect(call).rejects.toThrow('remove COMMIT and ROLLBACK');
  });
});

describeOn('postgresql', 'Migrations on a server', (harness) => {
  it.each(['none', 'pgbouncer'] as const)('may be run by several processes (pooler: %s)', async (pooler) => {
    const shards = [global, mexico];
    const topology = await harness.makeTopology({ shards, migrated: false, dataSource: { pooler } });
    const registries = [1, 2, 3].map(() => harness.open(topology));
    const runs = registries.map((registry) => migrate(registry, { migrations: [wallets] }));
    const reports = await Promise.all(runs);
    const applied = reports.flatMap(({ shards }) => shards.flatMap((shard) => shard.applied));
    expect(applied).toHaveLength(2 * (systemMigrations.length + 1));
  });

  it('refuse swapped URLs and change nothing', async () => {
    const topology = await harness.makeTopology({ shards: [global, mexico] });
    const swapped = harness.open(
      topologyOf([
        [global, primaryOf(topology, mexico)],
        [mexico, primaryOf(topology, global)],
      ]),
    );
    const call = migrate(swapped, { migrations: [wallets] });
    await expect(call).rejects.toThrow(ShardIdentityError);
    await expect(call).rejects.toThrow(
      /is shard \((1|0), 0\), but the configuration says that it is \((0|1), 0\)/,
    );
    const { rows } = await swapped.database(global).query(statement(`select to_regclass('wallets') is null`));
    expect(rows).toEqual([[true]]);
  });

  it('refuse a database that is not in UTF8', async () => {
    const server = testServer();
    const admin = openDatabases(
      topologyOf([[global, testDataSource(serverUrl(server, server.database), server)]]),
    );
    const name = `latin_${randomUUID().replaceAll('-', '')}`;
    const run = (text: string) => admin.database(global).query(statement(text));
    await run(`create database ${name} encoding 'LATIN1' locale 'C' template template0`);
    const latin = openDatabases(topologyOf([[global, testDataSource(serverUrl(server, name), server)]]));
    try {
      const call = migrate(latin, { migrations: [] });
      await expect(call).rejects.toThrow(UnsafeServerError);
      await expect(call).rejects.toThrow('has the encoding LATIN1');
    } finally {
      await latin.close(0);
      await run(`drop database ${name} with (force)`);
      await admin.close(0);
    }
  });

  it('refuse a server that may lose commits, unless the setting is allowed by name', async () => {
    const server = await startPostgres({ fsync: 'off', synchronous_commit: 'off' });
    const registryWith = (allowUnsafe: readonly ('fsync' | 'synchronous_commit')[]) =>
      openDatabases(
        topologyOf([[global, testDataSource(serverUrl(server, server.database), server, { allowUnsafe })]]),
      );
    const strict = registryWith(['fsync']);
    const lenient = registryWith(['fsync', 'synchronous_commit']);
    try {
      const call = migrate(strict, { migrations: [] });
      await expect(call).rejects.toThrow(UnsafeServerError);
      await expect(call).rejects.toThrow('synchronous_commit = off');
      await expect(call).rejects.not.toThrow('fsync = off,');
      await migrate(lenient, { migrations: [] });
    } finally {
      await Promise.all([strict.close(0), lenient.close(0)]);
      await server.destroy();
    }
  });
});
