import pg from 'pg';
import { afterEach, expect, it } from 'vitest';
import { describeThroughPgbouncer } from '../../test/databases/pgbouncer-vitest.js';
import { testDataSource } from '../../test/databases/topology.js';
import { describeOn, testServer } from '../../test/databases/vitest.js';
import type { DataSourceConfig, PostgresUrl } from '../config/types.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { migrate } from '../migration/migrate.js';
import { migrationStatus } from '../migration/migration-status.js';
import type { ShardDatabase } from '../sharding/shard-database.js';
import { failureOf, statement } from '../sharding/test-support/statements.js';
import { TransactionManager } from '../sharding/transaction-manager.js';
import { PostgresDatabase } from './postgres-database.js';
import { TestDatabases } from './test-support/test-databases.js';

const SETTINGS = ['TimeZone', 'DateStyle', 'lock_timeout', 'statement_timeout'];
const SHOW = statement(`select ${SETTINGS.map((name) => `current_setting('${name}')`).join(', ')}`);
const LIMITS = { lockTimeoutMs: 123, statementTimeoutMs: 4_567 };

async function onlyRow(run: Promise<{ readonly rows: readonly (readonly unknown[])[] }>): Promise<unknown> {
  return (await run).rows[0];
}

/** Tests that hold with and without a pooler: the behaviour of a database without session state. */
function declareCommon(open: (overrides?: Partial<DataSourceConfig>) => Promise<ShardDatabase>): void {
  it('has the limits of its configuration in every statement and in every transaction', async () => {
    const database = await open(LIMITS);
    const wanted = ['UTC', 'ISO, MDY', '123ms', '4567ms'];
    expect(await onlyRow(database.query(SHOW))).toEqual(wanted);
    expect(await onlyRow(database.query({ ...SHOW, name: 'show' }))).toEqual(wanted);
    expect(await onlyRow(database.query({ ...SHOW, name: 'show' }))).toEqual(wanted);
    const manager = new TransactionManager(database);
    const idle = await manager.transaction(
      async (transaction) => {
        expect(await onlyRow(transaction.query(SHOW))).toEqual(wanted);
        const text = `select current_setting('idle_in_transaction_session_timeout'), current_setting('transaction_isolation')`;
        return onlyRow(transaction.query(statement(text)));
      },
      { isolationLevel: 'serializable' },
    );
    expect(idle).toEqual(['10s', 'serializable']);
  });

  it('lets the server end a wait for a lock and a slow statement', async () => {
    const database = await open({ lockTimeoutMs: 100, statementTimeoutMs: 300 });
    const patient = { timeoutMs: 5_000 };
    await database.query(statement('create table t (id int4 primary key)'), patient);
    await database.query(statement('insert into t values (1)'));
    const holder = await database.acquire(patient);
    await holder.query(statement('begin'));
    await holder.query(statement('select from t for update'));
    const locked = await failureOf(database.query(statement('update t set id = 1'), patient));
    expect([locked.phase, locked.sqlState]).toEqual(['answered', '55P03']);
    await holder.query(statement('rollback'));
    holder.release();
    const slow = await failureOf(database.query(statement('select pg_sleep(3)'), patient));
    expect([slow.phase, slow.sqlState]).toEqual(['answered', '57014']);
  });

  it('runs a statement as one transaction with its limits, and returns its result', async () => {
    const database = await open();
    await database.query(statement('create table t (id int4 primary key)'));
    const insert = {
      text: 'insert into t values ($1), ($1 + 1) returning id, id::text as words',
      name: 'insert',
    };
    const made = await database.query({ ...insert, values: [1] });
    expect(made).toEqual({
      columns: ['id', 'words'],
      rows: [
        [1, '1'],
        [2, '2'],
      ],
      command: 'INSERT',
      rowCount: 2,
    });
    const refused = await failureOf(database.query({ ...insert, values: [0] }));
    expect(refused.sqlState).toBe('23505');
    expect(await onlyRow(database.query(statement('select count(*)::int4 from t')))).toEqual([2]);
    const again = await database.query({ ...insert, values: [5] });
    expect([again.columns, again.rows]).toEqual([
      ['id', 'words'],
      [
        [5, '5'],
        [6, '6'],
      ],
    ]);
  });

  it('does not pipeline statements', async () => {
    const database = await open();
    const sleep = { name: 'sleep', text: 'select from pg_sleep(0.1)', values: [] };
    const pipeline = {};
    await database.query(sleep, { pipeline });
    const both = [database.query(sleep, { pipeline }), database.query(sleep, { pipeline })];
    expect((await Promise.all(both)).map(({ rowCount }) => rowCount)).toEqual([1, 1]);
    expect(database.stats().open).toBe(2);
  });

  it('reports that it has no session state, and does not listen', async () => {
    const database = await open();
    expect([database.sessionState, database.listen]).toEqual([false, undefined]);
  });
}

describeOn('postgresql', 'A database in pooler mode, at the server itself', (harness) => {
  const databases = new TestDatabases(harness);
  afterEach(() => databases.end());

  const open = async (
    pooler: DataSourceConfig['pooler'],
    overrides: Partial<DataSourceConfig> = {},
  ): Promise<ShardDatabase> => databases.open(await databases.source({ ...overrides, pooler }));

  declareCommon((overrides) => open('pgbouncer-1.21', overrides));

  it.each([
    ['pgbouncer', []],
    ['pgbouncer-1.21', ['mine']],
  ] as const)('%s leaves these named statements in a session: %j', async (pooler, names) => {
    const database = await open(pooler, { maximumPoolSize: 1 });
    for (const text of ['select 1', 'select 1']) await database.query({ text, values: [], name: 'mine' });
    const text = 'select coalesce(array_agg(name), array[]::text[]) from pg_prepared_statements';
    expect(await onlyRow(database.query(statement(text)))).toEqual([names]);
  });

  it('sends a statement with a stale plan again', async () => {
    const database = await open('pgbouncer-1.21', { maximumPoolSize: 1 });
    const all = { text: 'select * from t', values: [], name: 'all' };
    await database.query(statement('create table t (a int4)'));
    await database.query(statement('insert into t values (1)'));
    expect((await database.query(all)).rows).toEqual([[1]]);
    await database.query(statement('alter table t add b int4 default 2'));
    expect((await database.query(all)).rows).toEqual([[1, 2]]);
  });
});

describeThroughPgbouncer('A database through PgBouncer', (harness) => {
  const open = async (dataSource: Partial<DataSourceConfig> = {}): Promise<ShardDatabase> => {
    const registry = await harness.makeShards({ migrated: false, dataSource });
    return registry.database(registry.defaultShard);
  };

  declareCommon(open);

  it('leaves no session state behind', async () => {
    const registry = await harness.makeShards({ migrated: false, dataSource: LIMITS });
    const database = registry.database(registry.defaultShard);
    await Promise.all(Array.from({ length: 20 }, () => database.query({ ...SHOW, name: 'show' })));
    await migrate(registry, { migrations: [] });
    const { url } = registry.memberConfig(registry.defaultShard).primary;
    if (url.kind !== 'postgresql') throw new Error('Not on a server');
    const other = new pg.Client({ ...harness.address(), database: url.database });
    await other.connect();
    try {
      for (let look = 0; look < 10; look += 1) {
        const { rows } = await other.query(
          `select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
             (select count(*)::int4 from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks`,
        );
        expect(rows).toEqual([{ lock: '0', statement: '0', locks: 0 }]);
      }
    } finally {
      await other.end();
    }
  });

  it('keeps the statements of many callers apart', async () => {
    const database = await open();
    const numbers = Array.from({ length: 200 }, (_, index) => index);
    const answers = await Promise.all(
      numbers.map(async (number) => {
        // Names that every session has prepared, and names that only some sessions have.
        const name = `sum_${number % 7}`;
        const text = `select $1::int4 + ${number % 7}`;
        return (await database.query({ text, values: [number], name })).rows[0]?.[0];
      }),
    );
    expect(answers).toEqual(numbers.map((number) => number + (number % 7)));
  });

  it('that is not configured reports the key to set', async () => {
    const { host, port, database } = harness.address();
    const url: PostgresUrl = {
      kind: 'postgresql',
      host,
      port,
      database,
      sslMode: 'disable',
      sslRootCert: undefined,
    };
    const failing = new PostgresDatabase(ShardIdentifier.of(0, 0), url, testDataSource(url, testServer()));
    const failure = await failureOf(failing.query(SHOW));
    await failing.close(0);
    expect(failure.message).toMatch(/unsupported startup parameter.*set the key pooler/);
  });

  it('names the line of a migration that fails', async () => {
    const registry = await harness.makeShards();
    const broken = { name: '0001_broken', up: 'select 1;\nselect 1 +\n wrong' };
    await expect(migrate(registry, { migrations: [broken] })).rejects.toThrow(
      /"wrong" does not exist \(line 3 of/,
    );
  });

  it("waits for another process's migrations no longer than the configured time", async () => {
    const registry = await harness.makeShards({ migrated: false });
    const slow = { name: '0001_slow', up: 'select pg_sleep(1.5)' };
    const first = migrate(registry, { migrations: [slow] });
    await expect
      .poll(() => running(registry.database(registry.defaultShard)), { timeout: 20_000 })
      .toBe(true);
    await expect(migrate(registry, { migrations: [slow], timeoutMs: 200 })).rejects.toMatchObject({
      code: 'FW_MIGRATION',
    });
    await first;
    const [status] = await migrationStatus(registry, { migrations: [slow] });
    expect(status?.state).toBe('current');
  });
});

async function running(database: ShardDatabase): Promise<boolean> {
  const text = `select from pg_stat_activity where query like '%pg_sleep(1.5)%' and pid <> pg_backend_pid()`;
  return (await database.query(statement(text))).rowCount > 0;
}
