import { expect, test } from 'vitest';
import type { ModelDescriptor } from '../domain/descriptor.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { defineMigration } from '../migration/migration.js';
import { describeOnEachAdapter } from '../testing/databases-vitest.js';
import { FoldingRules } from './folding-rules.js';

const COLUMNS =
  'id uuid primary key check (eventlog.is_own_id(id)), version bigint not null, state text not null, ' +
  "amount numeric(19,4) not null check (amount not in ('NaN', 'Infinity', '-Infinity'))";

describeOnEachAdapter('which tables may be folded', (harness) => {
  const foldable = async (sql: string, folding?: boolean): Promise<boolean> => {
    const databases = await harness.makeShards({
      shards: [ShardIdentifier.of(0, 0)],
      migrations: [defineMigration('0001_things', sql)],
    });
    const rules = new FoldingRules(databases.database(ShardIdentifier.of(0, 0)));
    const model = { table: 'things', ...(folding === undefined ? {} : { folding }) } as ModelDescriptor;
    rules.isFoldable(model);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return rules.isFoldable(model);
  };

  test('a table as the generator makes it is', async () => {
    expect(await foldable(`create table things (${COLUMNS})`)).toBe(true);
  });

  test.each([
    ['a check of its own', `create table things (${COLUMNS}, check (amount >= 0))`],
    ['a unique constraint', `create table things (${COLUMNS}, email text unique)`],
    ['a unique index', `create table things (${COLUMNS}, email text); create unique index on things (email)`],
    [
      'a trigger',
      `create table things (${COLUMNS}); create function note() returns trigger language plpgsql as 'begin return new; end';
       create trigger note before update on things for each row execute function note()`,
    ],
  ])('a table with %s is not', async (_, sql) => {
    expect(await foldable(sql)).toBe(false);
  });

  test('the model decides where it says so', async () => {
    expect(await foldable(`create table things (${COLUMNS}, check (amount >= 0))`, true)).toBe(true);
    await harness.cleanUp();
    expect(await foldable(`create table things (${COLUMNS})`, false)).toBe(false);
  });
});
