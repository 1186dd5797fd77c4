import { type Kysely, sql } from 'kysely';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { StallingProxy } from '../../../test/databases/proxy.js';
import { serverUrl, testDataSource, topologyOf } from '../../../test/databases/topology.js';
import { describeOn, describeOnEachAdapter, testServer } from '../../../test/databases/vitest.js';
import { openDatabases } from '../../databases.js';
import {
  DatabaseError,
  DeadlineExceededError,
  ShardUnavailableError,
  WriteInPerformError,
} from '../../errors.js';
import { forwarding } from '../../sharding/forwarding.js';
import { ReplicaReads, readSource } from '../../sharding/replica-reads.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { readOnlyKysely } from './kysely-dialect.js';

interface Tables {
  t: { id: number; v: string | null };
}

describeOnEachAdapter('A read-only Kysely', (harness) => {
  let database: ShardDatabase;
  let db: Kysely<Tables>;
  let sent: string[];

  beforeEach(async () => {
    const registry = await harness.makeShards({ migrated: false, dataSource: { maximumPoolSize: 1 } });
    database = registry.database(registry.defaultShard);
    const session = await database.acquire();
    await session.script(`
      create table t (id int4 primary key, v text);
      insert into t values (1, 'one'), (2, null);
      create sequence s;
      create function sneaky() returns int4 language sql as 'insert into t values (99, null) returning id';
      create view sneaky_view as select sneaky() as n;
      create procedure intruder() language plpgsql as 'begin commit; insert into t values (98, null); commit; end';
    `);
    session.release();
    sent = [];
    db = readOnlyKysely<Tables>(readSource(recording(database, sent)));
  });

  const contents = async () =>
    (await database.query({ text: 'select id, v from t order by id', values: [] })).rows;

  it('returns rows by column name', async () => {
    const rows = await db
      .selectFrom('t')
      .select(({ fn }) => ['id', 'v', fn.countAll().over().as('n')])
      .where('id', 'in', [1, 2, 3])
      .orderBy('id', 'desc')
      .limit(5)
      .execute();
    expect(sent).toEqual(['BEGIN']);
    expect(rows).toEqual([
      { id: 2, v: null, n: '2' },
      { id: 1, v: 'one', n: '2' },
    ]);
  });

  it('sends arrays, instants and objects as parameters', async () => {
    const at = new Date('2024-01-02T03:04:05.678Z');
    const { rows } =
      await sql`select ${['a"b', null]}::text[] as list, ${at}::timestamptz as at, ${{ a: [1] }}::jsonb as o`.execute(
        db,
      );
    expect(rows).toEqual([{ list: ['a"b', null], at, o: { a: [1] } }]);
  });

  it('reads with common tables, unions and subqueries', async () => {
    const query = db
      .with('ones', (q) => q.selectFrom('t').selectAll().where('id', '=', 1))
      .selectFrom('ones')
      .select('id')
      .unionAll(
        db
          .selectFrom('t')
          .select('id')
          .where('id', '=', (e) => e.selectFrom('t').select((f) => f.fn.max('id').as('m'))),
      );
    expect(await query.execute()).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it('applies one time limit to all statements of a query', async () => {
    const limits: (number | undefined)[] = [];
    const limited = readOnlyKysely<Tables>(readSource(noting(database, limits)), 60_000);
    await limited.selectFrom('t').select('id').execute();
    const [acquired = 0, begun = 0, sent = 0] = limits;
    expect(acquired).toBe(60_000);
    expect(begun).toBeLessThan(acquired);
    expect(sent).toBeLessThan(begun);
    expect(sent).toBeGreaterThan(0);
  });

  describe('refuses, before it is sent,', () => {
    it.each<[string, (db: Kysely<Tables>) => Promise<unknown>]>([
      ['an insert', (k) => k.insertInto('t').values({ id: 3, v: null }).execute()],
      ['an update', (k) => k.updateTable('t').set({ v: 'x' }).execute()],
      ['a delete', (k) => k.deleteFrom('t').execute()],
      [
        'a merge',
        (k) => k.mergeInto('t').using('t as u', 'u.id', 't.id').whenMatched().thenDelete().execute(),
      ],
      ['a new table', (k) => k.schema.createTable('u').addColumn('id', 'integer').execute()],
      ['a dropped table', (k) => k.schema.dropTable('t').execute()],
      ['a transaction', (k) => k.transaction().execute(async () => {})],
      ['a controlled transaction', (k) => k.startTransaction().execute()],
    ])('%s', async (_, write) => {
      await expect(write(db)).rejects.toThrow(WriteInPerformError);
      expect(sent).toEqual([]);
    });
  });

  const deleting = (k: Kysely<Tables>) => k.with('x', (q) => q.deleteFrom('t').returning('id'));

  it.each<[string, (db: Kysely<Tables>) => Promise<unknown>]>([
    ['a write in a common table', (k) => deleting(k).selectFrom('x').selectAll().execute()],
    ['a row lock', (k) => k.selectFrom('t').selectAll().forUpdate().execute()],
    ['a shared row lock', (k) => k.selectFrom('t').selectAll().forShare().execute()],
  ])('names what to do instead of %s', async (_, write) => {
    await expect(write(db)).rejects.toThrow(WriteInPerformError);
    await expect(write(db)).rejects.toThrow(/plan\(\)\.expect/);
  });

  it.each([
    ['a raw insert', 'insert into t values (3, null)'],
    ['a raw write in a common table', 'with x as (delete from t returning id) select * from x'],
    ['a raw fragment that locks', 'select * from t for update'],
    ['a raw drop', 'drop table t'],
    ['a function that writes', 'select sneaky()'],
    ['a view whose function writes', 'select * from sneaky_view'],
    ['a sequence', `select nextval('s')`],
    [
      'a block that asks for writing first',
      'do $$ begin set transaction read write; insert into t values (97, null); end $$',
    ],
    [
      'a select that asks for writing first',
      `with a as (select set_config('transaction_read_only', 'off', false)) select sneaky() from a`,
    ],
    ['a procedure that commits first', 'call intruder()'],
    ['two statements in one', 'commit; insert into t values (96, null)'],
  ])('lets the database refuse other writes: %s', async (_, text) => {
    const before = await contents();
    await expect(sql.raw(text).execute(db)).rejects.toThrow();
    expect(await contents()).toEqual(before);
  });

  it('lets no raw statement affect later statements', async () => {
    await sql`commit`.execute(db);
    await sql`set transaction read write`.execute(db);
    await sql`set session characteristics as transaction read write`.execute(db);
    await sql`set work_mem = '77MB'`.execute(db);
    await expect(sql`insert into t values (3, null)`.execute(db)).rejects.toThrow(WriteInPerformError);
    const { rows } = await sql<{ m: string }>`select current_setting('work_mem') as m`.execute(db);
    expect(rows).not.toEqual([{ m: '77MB' }]);
    expect(await contents()).toHaveLength(2);
  });
});

describeOn('postgresql', 'A read-only Kysely and the other ways to read', (harness) => {
  it('throws public errors: for an unreachable database, a lost connection, a late answer, a refused statement', async () => {
    const { defaultShard } = await harness.makeTopology({ migrated: false });
    const server = testServer();
    const proxy = await StallingProxy.start(server);
    const source = testDataSource(serverUrl({ ...server, port: proxy.port }, server.database), server);
    const databases = openDatabases(topologyOf([[defaultShard, source]]));
    const db = readOnlyKysely<Tables>(readSource(databases.database(defaultShard)));
    const asked = (text: string): Promise<unknown> => sql.raw(text).execute(db);
    const position = (): Promise<unknown> => new ReplicaReads(databases).position(defaultShard);
    onTestFinished(async () => {
      await databases.close(0);
      await proxy.stop().catch(() => {});
    });
    await position();
    await expect(asked('select no_such_column')).rejects.toThrow(DatabaseError);
    await expect(db.selectFrom('t').selectAll().execute()).rejects.toMatchObject({ sqlState: '42P01' });
    const limited = readOnlyKysely<Tables>(readSource(databases.database(defaultShard)), 200);
    await expect(sql`select pg_sleep(5)`.execute(limited)).rejects.toThrow(DeadlineExceededError);
    const lost = expect(asked('select pg_sleep(5)')).rejects.toThrow(ShardUnavailableError);
    await expect
      .poll(() => databases.database(defaultShard).stats(), { timeout: 20_000 })
      .toMatchObject({ idle: 0, open: 1 });
    proxy.cut();
    await lost;
    await proxy.stop();
    await expect(asked('select 1')).rejects.toThrow(ShardUnavailableError);
    await expect(db.selectFrom('t').selectAll().execute()).rejects.toThrow(ShardUnavailableError);
    await expect(position()).rejects.toThrow(ShardUnavailableError);
  });
});

/** The same database, recording the statements that are sent. */
function recording(database: ShardDatabase, sent: string[]): ShardDatabase {
  return forwarding(database, {
    query: (statement, options) => {
      sent.push(statement.text);
      return database.query(statement, options);
    },
    acquire: (options) => {
      sent.push('BEGIN');
      return database.acquire(options);
    },
  });
}

/** The same database, recording the time limit of each call in milliseconds, up to the rollback. */
function noting(database: ShardDatabase, limits: (number | undefined)[]): ShardDatabase {
  return forwarding(database, {
    query: (statement, options) => {
      limits.push(options?.timeoutMs);
      return database.query(statement, options);
    },
    acquire: async (options) => {
      limits.push(options?.timeoutMs);
      const session = await database.acquire(options);
      return {
        query: (statement, within) => {
          if (statement.text !== 'ROLLBACK') limits.push(within?.timeoutMs);
          return session.query(statement, within);
        },
        script: (text, within) => session.script(text, within),
        release: () => session.release(),
        destroy: () => session.destroy(),
      };
    },
  });
}
