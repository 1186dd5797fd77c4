import { expect, it } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import type { ModelDescriptor } from '../domain/entity.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { accountModel } from '../domain/test-support/account.js';
import { MigrationError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { migrationStatus } from './migration-status.js';
import { type PrepareOptions, prepareShards } from './prepare-shards.js';
import { findDrift } from './shard-drift.js';
import { expectedTable } from './table-drift.js';

const shards = [ShardIdentifier.of(0, 0), ShardIdentifier.of(1, 0), ShardIdentifier.of(1, 1)] as const;
const [global, mexico] = shards;
const model = accountModel as unknown as ModelDescriptor;
const accounts = {
  name: '0001_accounts',
  up: `create table accounts (id uuid primary key check (eventlog.is_own_id(id)), state text not null,
    version int8 not null, balance decimal(19, 4) not null, nickname text, closed_by text,
    created_date timestamptz not null, updated_date timestamptz not null)`,
};

async function change(
  databases: DatabaseRegistry,
  shard: ShardIdentifier,
  ...statements: readonly string[]
): Promise<void> {
  for (const text of statements) await databases.database(shard).query({ text, values: [] });
}

describeOnEachAdapter('Drift', (harness) => {
  const open = () =>
    harness.makeShards({
      shards: harness.adapter === 'pglite' ? shards.slice(0, 2) : shards,
      migrations: [accounts],
    });
  const drift = (databases: DatabaseRegistry) => findDrift(databases, { tables: [expectedTable(model)] });
  const check = async (
    databases: DatabaseRegistry,
    policy?: PrepareOptions['drift'],
  ): Promise<readonly string[]> => {
    const warned: string[] = [];
    const warn = (message: string) => warned.push(message);
    const options = { models: [model], migrations: [accounts], warn };
    await prepareShards(databases, policy === undefined ? options : { ...options, drift: policy });
    return warned;
  };

  it('is not found if all shards have the same migrations and the models match', async () => {
    const databases = await open();
    // A projection that is being rebuilt there.
    await change(
      databases,
      mexico,
      'create schema fw_rebuild_1',
      'create table fw_rebuild_1.totals (n int4)',
    );
    expect(await drift(databases)).toEqual([]);
    expect(await check(databases)).toEqual([]);
  });

  it('of one shard is described: what it lacks and what it has', async () => {
    const databases = await open();
    const byHand = [
      'create index by_hand on accounts (balance)',
      'alter table accounts add column extra int4',
    ];
    await change(databases, mexico, ...byHand);
    const [found] = await drift(databases);
    expect(found?.shard).toBe(mexico);
    // Of two shards, none has the schema of most.
    const comparedWith = databases.shards().length > 2 ? 'most shards' : 'shard (0, 0)';
    expect(found).toMatchObject({ comparedWith, lacks: [] });
    expect(found?.has).toEqual([
      'column public.accounts.extra integer',
      'index CREATE INDEX by_hand ON public.accounts USING btree (balance)',
    ]);
    expect(await check(databases)).toEqual([
      expect.stringContaining(`The schema of shard (1, 0) differs from ${comparedWith}: `),
    ]);
  });

  it.each([
    [
      'of a table of the runtime',
      ['alter table eventlog.idempotency_keys drop constraint idempotency_keys_pkey'],
      'table eventlog.idempotency_keys has no primary key',
    ],
    ['of a table that is missing', ['drop table accounts'], 'Shard (0, 0): table accounts does not exist'],
    [
      'of a table in another schema',
      ['create schema elsewhere', 'alter table accounts set schema elsewhere'],
      "table accounts does not exist here, but in the schema elsewhere: check the user's search_path",
    ],
  ])('%s keeps a shard out of service, and is named', async (_, statements, reason) => {
    const databases = await open();
    await change(databases, global, ...statements);
    await check(databases);
    expect(databases.withheld(global)).toContain(reason);
  });

  it('between tables and models keeps a shard out of service', async () => {
    const databases = await open();
    await change(
      databases,
      global,
      `alter table accounts drop column closed_by, alter column balance type numeric(18,4),
         alter column nickname set not null, alter column state drop not null,
         add column owner uuid not null, add column fine int4 not null default 1`,
    );
    const [found] = await drift(databases);
    expect(found?.tables).toEqual([
      'column accounts.state may be null, but the field is required',
      'column accounts.balance is numeric(18,4); the model requires numeric(19,4)',
      'column accounts.nickname is not null, but the field is optional',
      'column accounts.closed_by does not exist; the model requires text',
      'column accounts.owner is not null, but no field of the model sets it',
    ]);
    const reason =
      'Shard (0, 0): column accounts.state may be null, but the field is required; ' +
      'column accounts.balance is numeric(18,4); the model requires numeric(19,4)';
    expect(await check(databases)).toContainEqual(expect.stringContaining(reason));
    expect(databases.withheld(global)).toContain(reason);
    expect(databases.withheld(mexico)).toBeUndefined();
    await expect(change(databases, global, 'select 1')).rejects.toThrow('out of service');
    await change(databases, mexico, 'select 1');
  });

  it('is not found in a column that the next release has widened', async () => {
    const databases = await open();
    for (const shard of databases.shards())
      await change(databases, shard, 'alter table accounts alter column balance type numeric(30,6)');
    expect(await drift(databases)).toEqual([]);
  });

  it('between tables and models is a warning, if the policy is to warn', async () => {
    const databases = await open();
    await change(databases, global, 'alter table accounts drop column closed_by');
    expect(await check(databases, 'warn')).toContainEqual(
      expect.stringContaining('The tables do not match the models'),
    );
    expect(databases.withheld(global)).toBeUndefined();
  });

  it('on all shards is an error', async () => {
    const databases = await open();
    for (const shard of databases.shards()) await change(databases, shard, 'drop table accounts');
    const refusal = check(databases);
    await expect(refusal).rejects.toThrow(MigrationError);
    await expect(refusal).rejects.toThrow('Shard (0, 0): table accounts does not exist');
  });
});

describeOnEachAdapter('The migration status', (harness) => {
  it('reports a database of another shard', async () => {
    const databases = await harness.makeShards({ shards: [global, mexico], migrations: [accounts] });
    await change(databases, mexico, 'update eventlog.shard set member_number = 9');
    const [, foreign] = await migrationStatus(databases, { migrations: [accounts] });
    expect(foreign?.state).toBe('foreign');
    expect(foreign?.problems[0]).toContain('is shard (1, 9), not (1, 0)');
  });
});
