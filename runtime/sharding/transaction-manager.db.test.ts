import { CompiledQuery } from 'kysely';
import { expect, it } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../test/databases/vitest.js';
import { Decimal } from '../domain/decimal.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { ClosedError, DatabaseError, UnknownShardError, WriteInPerformError } from '../errors.js';
import { DriverFailure } from './driver-failure.js';
import type { ShardDatabase } from './shard-database.js';
import { statement } from './test-support/statements.js';
import type { TransactionManager } from './transaction-manager.js';

interface Tables {
  t: { id: number };
}

describeOnEachAdapter('A transaction', (harness) => {
  async function prepared(): Promise<{ database: ShardDatabase; manager: TransactionManager }> {
    const registry = await harness.makeShards({ migrated: false, dataSource: { maximumPoolSize: 1 } });
    const database = registry.database(registry.defaultShard);
    await database.query(statement('create table t (id int4 primary key)'));
    return { database, manager: registry.transactionManager(registry.defaultShard) };
  }

  const idsOf = async (database: ShardDatabase) =>
    (await database.query(statement('select id from t order by id'))).rows.map(([id]) => id);

  it('commits its statements, and returns the result', async () => {
    const { database, manager } = await prepared();
    const result = await manager.transaction(async (transaction) => {
      await transaction.query(statement('insert into t values (1)'));
      await transaction.kysely<Tables>().insertInto('t').values({ id: 2 }).execute();
      return transaction.kysely<Tables>().selectFrom('t').selectAll().orderBy('id').execute();
    });
    expect(result).toEqual([{ id: 1 }, { id: 2 }]);
    expect(await idsOf(database)).toEqual([1, 2]);
  });

  it('takes the same values in its SQL as in its Kysely', async () => {
    const { manager } = await prepared();
    const date = new Date('2026-01-02T03:04:05.678Z');
    const values = [date, new Decimal('1.5'), { a: [date] }, ['a', 'b"'], null, Uint8Array.of(255)];
    const [asSql, asKysely] = await manager.transaction(async (transaction) => {
      const types = ['timestamptz', 'numeric', 'jsonb', 'text[]', 'text', 'bytea'];
      const text = `select ${types.map((type, index) => `$${index + 1}::${type} as c${index}`).join()}`;
      const { rows } = await transaction.query({ text, values });
      const query = CompiledQuery.raw(text, values);
      return [rows[0], Object.values((await transaction.kysely().executeQuery(query)).rows[0] ?? {})];
    });
    expect(asSql).toEqual([date, '1.5', { a: [date.toISOString()] }, ['a', 'b"'], null, '\\xff']);
    expect(asKysely).toEqual(asSql);
    const refused = manager.transaction((transaction) =>
      transaction.query({ text: 'select $1', values: [undefined] }),
    );
    await expect(refused).rejects.toThrow('The value of $1 must not be undefined. For NULL, pass null.');
  });

  it('rolls back when its work throws, and throws that error', async () => {
    const { database, manager } = await prepared();
    const failure = new Error('no');
    const call = manager.transaction(async (transaction) => {
      await transaction.query(statement('insert into t values (1)'));
      throw failure;
    });
    await expect(call).rejects.toBe(failure);
    expect(await idsOf(database)).toEqual([]);
    expect(database.stats()).toMatchObject({ open: 1, idle: 1 });
  });

  it('does not report success when an error was swallowed inside', async () => {
    const { database, manager } = await prepared();
    const call = manager.transaction(async (transaction) => {
      await transaction.query(statement('insert into t values (1)'));
      await transaction.query(statement('select 1/0')).catch(() => {});
      return 'done';
    });
    await expect(call).rejects.toThrow(DatabaseError);
    await expect(call).rejects.toThrow('swallowed');
    expect(await idsOf(database)).toEqual([]);
  });

  it('fails as a whole when a deferred constraint refuses its commit', async () => {
    const { database, manager } = await prepared();
    await database.query(statement('create table u (id int4 references t deferrable initially deferred)'));
    const call = manager.transaction((transaction) =>
      transaction.query(statement('insert into u values (9)')),
    );
    await expect(call).rejects.toMatchObject({ phase: 'answered', sqlState: '23503' });
    expect((await database.query(statement('select count(*) from u'))).rows).toEqual([['0']]);
  });

  it('can be read-only, at another isolation level', async () => {
    const { manager } = await prepared();
    const options = { readOnly: true, isolationLevel: 'serializable' } as const;
    const level = await manager.transaction(
      (transaction) => transaction.query(statement(`select current_setting('transaction_isolation')`)),
      options,
    );
    expect(level.rows).toEqual([['serializable']]);
    const write = manager.transaction(
      (transaction) => transaction.query(statement('delete from t')),
      options,
    );
    await expect(write).rejects.toMatchObject({ sqlState: '25006' });
  });

  it('refuses statements after its end', async () => {
    const { manager } = await prepared();
    const late = await manager.transaction((transaction) => Promise.resolve(transaction));
    await expect(late.query(statement('delete from t'))).rejects.toThrow('has ended');
  });

  it('refuses to be nested by Kysely', async () => {
    const { manager } = await prepared();
    const call = manager.transaction((transaction) =>
      transaction
        .kysely<Tables>()
        .transaction()
        .execute(async () => {}),
    );
    await expect(call).rejects.toThrow('A transaction is open already');
  });
});

describeOn('postgresql', 'A transaction on a server', (harness) => {
  it('keeps the first error when the connection is lost too', async () => {
    const registry = await harness.makeShards({ migrated: false });
    const failure = new Error('the first');
    const call = registry.transactionManager(registry.defaultShard).transaction(async (transaction) => {
      await transaction.query(statement('select pg_terminate_backend(pg_backend_pid())')).catch(() => {});
      throw failure;
    });
    await expect(call).rejects.toBe(failure);
    expect(registry.database(registry.defaultShard).stats().open).toBe(0);
  });

  it('reports an unknown outcome if the connection is lost during the commit', async () => {
    const registry = await harness.makeShards({ migrated: false });
    const database = registry.database(registry.defaultShard);
    await database.query(statement('create table t (id int4)'));
    // The deferred trigger runs during COMMIT.
    await database.query(
      statement(`create function die() returns trigger language plpgsql as
        'begin perform pg_terminate_backend(pg_backend_pid()); perform pg_sleep(1); return null; end'`),
    );
    await database.query(
      statement(
        'create constraint trigger d after insert on t deferrable initially deferred for each row execute function die()',
      ),
    );
    const call = registry
      .transactionManager(registry.defaultShard)
      .transaction((transaction) => transaction.query(statement('insert into t values (1)')));
    await expect(call).rejects.toBeInstanceOf(DriverFailure);
    await expect(call).rejects.toMatchObject({ phase: 'in-flight', sqlState: '57P01' });
  });
});

describeOnEachAdapter('A database registry', (harness) => {
  const [global, mexico, absent] = [
    ShardIdentifier.of(0, 0),
    ShardIdentifier.of(1, 0),
    ShardIdentifier.of(2, 0),
  ];

  it('knows its shards and never falls back to another one', async () => {
    const registry = await harness.makeShards({ shards: [global, mexico], migrated: false });
    expect(registry.shards()).toEqual([global, mexico]);
    expect(registry.defaultShard).toBe(global);
    expect(registry.database(mexico).shard).toBe(mexico);
    expect(registry.database(mexico)).toBe(registry.database(mexico));
    expect(registry.memberConfig(mexico).name).toBe('shard-1-0');
    expect(registry.has(absent)).toBe(false);
    expect(() => registry.database(absent)).toThrow(UnknownShardError);
    expect(() => registry.memberConfig(absent)).toThrow(UnknownShardError);
    expect(() => registry.transactionManager(absent)).toThrow('Shard (2, 0) is not configured');
  });

  it('calls its guard before it returns a transaction manager', async () => {
    const registry = await harness.makeShards({ migrated: false });
    registry.guardWith(() => {
      throw new WriteInPerformError('not here');
    });
    expect(() => registry.transactionManager(global)).toThrow(WriteInPerformError);
    expect(registry.database(global).shard).toBe(global);
  });

  it('opens no database after it was closed', async () => {
    const registry = await harness.makeShards({ migrated: false });
    await registry.close();
    expect(() => registry.database(global)).toThrow(ClosedError);
  });
});
