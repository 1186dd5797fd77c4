import { expect, it } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { ShardIdentifier } from '../domain/shard-identifier.js';
import { MigrationError, MigrationOrderError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { migrate, migrateShard, migrateShards } from './migrate.js';
import type { Migration } from './migration.js';
import { migrationStatus } from './migration-status.js';
import { verifyShard } from './verify-shard.js';

const global = ShardIdentifier.of(0, 0);
const mexico = ShardIdentifier.of(1, 0);

function creating(name: string, table: string, header = `-- fw-gen: tables ${table}\n`): Migration {
  return { name, up: `${header}create table ${table} (id uuid primary key)` };
}

const base = creating('0001_create_notes', 'notes');
const tags = creating('20260301090000_create_tags', 'tags');
const pins = creating('20260301100000_create_pins', 'pins');
const rated = {
  name: '20260301080000_rate',
  up: '-- fw-gen: tables tags, notes\nalter table notes add column rating int4',
};
const colored = {
  name: '20260301110000_color',
  up: '-- fw-gen: tables notes\nalter table notes add column color text',
};

async function tablesOf(registry: DatabaseRegistry): Promise<unknown> {
  const text = "select tablename from pg_tables where schemaname = 'public' order by 1";
  const { rows } = await registry.database(global).query({ text, values: [] });
  return rows.flat();
}

async function applied(registry: DatabaseRegistry, migrations: readonly Migration[]): Promise<unknown> {
  return (await migrate(registry, { migrations })).shards[0]?.applied;
}

describeOnEachAdapter('Migrations of merged branches', (harness) => {
  it('are applied late if they touch other tables than the later ones that a database has run', async () => {
    const merged = [base, tags, pins];
    const ofTags = await harness.makeShards({ shards: [global], migrations: [base, tags] });
    expect(await applied(ofTags, merged)).toEqual([pins.name]);
    const ofPins = await harness.makeShards({ shards: [mexico], migrations: [base, pins] });
    const [late] = await migrationStatus(ofPins, { migrations: merged });
    expect(late).toMatchObject({ state: 'pending', problems: [] });
    expect(await applied(ofPins, merged)).toEqual([tags.name]);
    expect(await applied(ofPins, [...merged, colored])).toEqual([colored.name]);
    const [after] = await migrationStatus(ofPins, { migrations: [...merged, colored] });
    expect(after).toMatchObject({ state: 'current', problems: [] });
  });

  it('are refused on a shard that has run a later one of the same table, and applied on the others', async () => {
    const registry = await harness.makeShards({ shards: [global, mexico], migrations: [base] });
    const member = registry.memberConfig(mexico);
    await migrateShard(registry.database(mexico), member, { migrations: [base, colored] });
    const merged = [base, rated, tags, colored];
    const outcomes = await migrateShards(registry, { migrations: merged });
    expect(outcomes.map(({ ok }) => ok)).toEqual([true, false]);
    const [, refused] = outcomes;
    const error = refused?.ok === false ? refused.error : undefined;
    expect(error).toBeInstanceOf(MigrationOrderError);
    expect(error).toMatchObject({
      code: 'FW_MIGRATION_ORDER',
      shard: '(1, 0)',
      pending: rated.name,
      applied: colored.name,
      tables: ['notes'],
      message: expect.stringMatching(
        /^Shard \(1, 0\) cannot be migrated: migration 20260301110000_color was applied without 20260301080000_rate, .* both touch notes\. .* under a name after 20260301110000_color/,
      ),
    });
    const status = await migrationStatus(registry, { migrations: merged });
    expect(status.map(({ state, pending }) => [state, pending.length])).toEqual([
      ['current', 0],
      ['unordered', 2],
    ]);
    expect(status[1]?.problems).toEqual([expect.stringContaining('was applied without 20260301080000_rate')]);
    await expect(
      verifyShard(registry.database(mexico), member, { migrations: merged, models: [] }),
    ).rejects.toThrow(MigrationOrderError);
  });

  it('are refused if one does not declare its tables, until it does, whether it was applied or not', async () => {
    const plain = creating(tags.name, 'tags', '');
    const registry = await harness.makeShards({ shards: [global], migrations: [base, pins] });
    const refusal = applied(registry, [base, plain, pins]);
    await expect(refusal).rejects.toThrow(MigrationOrderError);
    await expect(refusal).rejects.toThrow('one of them does not declare its tables');
    expect(await tablesOf(registry)).toEqual(['notes', 'pins']);
    expect(await applied(registry, [base, tags, pins])).toEqual([tags.name]);
    // The comment is not part of the checksum.
    expect(await applied(registry, [base, plain, pins])).toEqual([]);
  });

  it('of another release do not stop a process that lacks them, unless its later ones touch their tables', async () => {
    const registry = await harness.makeShards({ shards: [global], migrations: [base, tags, pins] });
    expect(await applied(registry, [base, pins])).toEqual([]);
    const [status] = await migrationStatus(registry, { migrations: [base, pins] });
    expect(status).toMatchObject({ state: 'current', newer: [tags.name] });
    expect(await applied(registry, [base, pins, colored])).toEqual([colored.name]);
    const onTags = {
      name: '20260301120000_tag',
      up: '-- fw-gen: tables tags\nalter table tags add column n int4',
    };
    const refusal = applied(registry, [base, pins, colored, onTags]);
    await expect(refusal).rejects.toThrow(MigrationError);
    await expect(refusal).rejects.toThrow(
      `Shard (0, 0): ${tags.name} was applied, but is missing here: restore it`,
    );
    const undeclared = { name: '20260301120000_index', up: 'create index on notes (color)' };
    await expect(applied(registry, [base, pins, colored, undeclared])).rejects.toThrow(
      'restore it, or name the tables of 20260301120000_index, which is after it, in a comment "-- fw-gen: tables"',
    );
  });
});
