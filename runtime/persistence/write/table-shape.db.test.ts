import { expect, test } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../../test/databases/vitest.js';
import type { ModelDescriptor } from '../../domain/entity.js';
import { ShardIdentifier } from '../../domain/shard-identifier.js';
import { accountModel } from '../../domain/test-support/account.js';
import { accountMigrations } from '../../execution/test-support/accounts.js';
import type { ShardDatabase } from '../../sharding/shard-database.js';
import { FoldingRules } from './folding-rules.js';

const HERE = ShardIdentifier.of(0, 0);
const accounts: ModelDescriptor = { ...(accountModel as unknown as ModelDescriptor), checks: [] };

/** Changes of a table, in this order, and whether a state that was fine before them may be refused after them. */
const CHANGES: readonly (readonly [sql: string, mayRefuse: boolean])[] = [
  ['alter table accounts add column colour text', false],
  ["alter table accounts alter column colour set default 'red'", false],
  ['alter table accounts alter column colour drop default', false],
  ['alter table accounts alter column colour set not null', true],
  ['alter table accounts alter column colour drop not null', false],
  ['alter table accounts alter column nickname type varchar(9)', true],
  ['alter table accounts alter column nickname set statistics 50', false],
  ['alter table accounts rename column colour to color', false],
  ['alter table accounts add constraint c check (balance <> 7) not valid', true],
  ['alter table accounts validate constraint c', false],
  ['alter table accounts rename constraint c to d', false],
  ['alter table accounts drop constraint d, add constraint d check (balance <> 8)', true],
  [
    `create function f() returns trigger language plpgsql as 'begin return new; end';
     create trigger g before update on accounts for each row execute function f()`,
    true,
  ],
  ['alter table accounts disable trigger g', false],
  ['alter table accounts enable trigger g', true],
  ['create or replace trigger g before insert or update on accounts for each row execute function f()', true],
  ['alter trigger g on accounts rename to h', false],
  ['drop trigger h on accounts', false],
  ['create index i on accounts (nickname)', false],
  ['alter table accounts cluster on i', false],
  ['alter table accounts set without cluster', false],
  ['create unique index u on accounts (closed_by)', true],
  ['alter index u rename to v', false],
  ['drop index v', false],
  ['create index p on accounts (state) where balance > 1 / version', true],
  ['create rule r as on delete to accounts do instead nothing', true],
  ['drop rule r on accounts', false],
  // The server does not take back that the table has rules.
  ['create rule r as on delete to accounts do instead nothing', true],
  ['alter table accounts enable row level security', true],
  ['create policy q on accounts using (true) with check (balance <> 9)', false],
  ['alter table accounts disable row level security', false],
  ['create table notes (account uuid references accounts)', true],
  ['create table heirs () inherits (accounts)', true],
  ['alter table accounts set (fillfactor = 70)', false],
  ['grant select on accounts to public', false],
  ['alter table accounts rename to wallets; alter table wallets rename to accounts', false],
  ['analyze accounts', false],
  ['alter table accounts add unique (nickname) deferrable', true],
  ['alter table accounts add exclude using btree (state with =) where (false)', true],
];

const STATEMENT = {
  name: 'shape',
  text: `WITH u AS (UPDATE accounts SET version = $1::bigint WHERE false)
    SELECT eventlog.table_shape('accounts'::regclass)::text`,
  values: ['1'],
};

async function read(database: ShardDatabase): Promise<unknown> {
  const text = "SELECT eventlog.read_table_shape('accounts'::regclass)::text";
  return (await database.query({ text, values: [] })).rows[0]?.[0];
}

async function planned(database: ShardDatabase): Promise<unknown> {
  return (await database.query(STATEMENT)).rows[0]?.[0];
}

async function run(database: ShardDatabase, sql: string): Promise<void> {
  const session = await database.acquire();
  await session.script(sql);
  session.release();
}

/** Of what the first look at the catalog finds. */
async function isFoldable(database: ShardDatabase): Promise<boolean> {
  let answered = 0;
  const counting = new Proxy(database, {
    get: (target, key) => {
      if (key !== 'query') return Reflect.get(target, key) as unknown;
      return async (...call: Parameters<ShardDatabase['query']>) => {
        const rows = await target.query(...call);
        answered += 1;
        return rows;
      };
    },
  });
  const rules = new FoldingRules(counting);
  expect(rules.isFoldable(accounts)).toBe(false);
  await expect.poll(() => answered, { timeout: 30_000 }).toBe(2);
  return rules.isFoldable(accounts);
}

describeOnEachAdapter('The shape of a table', (harness) => {
  test('is another one after each change that may refuse rows, and is never an old one in a prepared plan', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: accountMigrations });
    const database = databases.database(HERE);
    // The sixth execution of a prepared statement may take a plan without parameters, and so may all that follow.
    for (let execution = 0; execution < 7; execution += 1) await planned(database);
    let before = await read(database);
    expect(before).toMatch(/^-?\d+$/);
    for (const [sql, mayRefuse] of CHANGES) {
      await run(database, sql);
      const after = await read(database);
      if (mayRefuse) expect([sql, after]).not.toEqual([sql, before]);
      expect([sql, await planned(database)]).toEqual([sql, after]);
      before = after;
    }
  });

  test('of a partition is not one to fold', async () => {
    const columns = `id uuid primary key, state text not null, version bigint not null, balance numeric(19,4) not null,
      nickname text, closed_by text, created_date timestamptz not null, updated_date timestamptz not null`;
    const databases = await harness.makeShards({ shards: [HERE], migrations: [] });
    const database = databases.database(HERE);
    await run(database, `create table accounts (${columns})`);
    expect(await isFoldable(database)).toBe(true);
    const before = await read(database);
    await run(
      database,
      `create table everything (${columns.replace(' primary key', '')}) partition by range (balance);
       alter table everything attach partition accounts for values from (0) to (7)`,
    );
    expect(await read(database)).not.toBe(before);
    expect(await isFoldable(database)).toBe(false);
  });
});

describeOn('postgresql', 'The shape of a table', (harness) => {
  test('is none where statements see the catalog as it was before they had their locks', async () => {
    const databases = await harness.makeShards({ shards: [HERE], migrations: accountMigrations });
    const database = databases.database(HERE);
    const session = await database.acquire();
    await session.script('begin isolation level repeatable read');
    const text = "SELECT eventlog.read_table_shape('accounts'::regclass)";
    const { rows } = await session.query({ text, values: [] });
    await session.script('rollback');
    session.release();
    expect(rows).toEqual([[null]]);
  });
});
