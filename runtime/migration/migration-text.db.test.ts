import { expect, it } from 'vitest';
import { describeOn, describeOnEachAdapter } from '../../test/databases/vitest.js';
import { MigrationError, ValidationError } from '../errors.js';
import type { DatabaseRegistry } from '../sharding/database-registry.js';
import { migrate, migrateShard } from './migrate.js';
import { runsInTransaction } from './migration.js';
import { migrationStatus } from './migration-status.js';

const things = { name: '0001_things', up: 'create table things (id int4, note text)' };
const rowsOf = async (registry: DatabaseRegistry, text: string) =>
  (await registry.database(registry.defaultShard).query({ text, values: [] })).rows;

describeOnEachAdapter('A migration’s text', (harness) => {
  it('may contain several statements, with semicolons inside of quotes and bodies', async () => {
    const registry = await harness.makeShards();
    const text = `
      -- one; two
      create table notes (text text default ';');
      create function shout(text text) returns text language plpgsql as $$
      begin
        return text || '!;';
      end $$;
      insert into notes values (shout('a;b'));`;
    await migrate(registry, { migrations: [{ name: '0001_notes', up: text }] });
    expect(await rowsOf(registry, 'select text from notes')).toEqual([['a;b!;']]);
  });

  it('is reported with file and line of the refused statement or word', async () => {
    const registry = await harness.makeShards();
    const file = 'migrations/0001_x.sql';
    const failing = (text: string) => migrate(registry, { migrations: [{ name: '0001_x', up: text, file }] });
    const divided = failing('create table x (id int4);\n\ninsert into x\n  values (1 / 0);');
    await expect(divided).rejects.toThrow(MigrationError);
    await expect(divided).rejects.toThrow(
      '0001_x failed on shard (0, 0): division by zero (migrations/0001_x.sql:3)',
    );
    await expect(
      failing("select 'é', '😀';\ncreate table x (\n  id int4,\n  wrong wrong\n);"),
    ).rejects.toThrow(/type "wrong" does not exist \(migrations\/0001_x\.sql:4\)/);
    await expect(failing("select 1;\nselect 'never closed")).rejects.toThrow('(migrations/0001_x.sql:2)');
    const unplaced = migrate(registry, { migrations: [{ name: '0001_x', up: 'select 1;\nselekt 2' }] });
    await expect(unplaced).rejects.toThrow('(line 2 of its text)');
  });

  it('restarts with its first statement after a failure outside of a transaction', async () => {
    const registry = await harness.makeShards();
    const filled = {
      name: '0002_filled',
      up: '-- fw-gen: no transaction\ninsert into things (id) values (1);\nselect 1 / (select count(*) - 1 from things);',
    };
    await expect(migrate(registry, { migrations: [things, filled] })).rejects.toThrow('(line 3 of its text)');
    const [status] = await migrationStatus(registry, { migrations: [things, filled] });
    expect(status?.pending.map(({ name }) => name)).toEqual(['0002_filled']);
    await migrate(registry, { migrations: [things, filled] });
    expect(await rowsOf(registry, 'select count(*)::int4 from things')).toEqual([[2]]);
  });

  it('must not leave a transaction open, and its settings do not affect later migrations', async () => {
    const registry = await harness.makeShards();
    const open = { name: '0001_open', up: '-- fw-gen: no transaction\nbegin; create table x (id int4)' };
    await expect(migrate(registry, { migrations: [open] })).rejects.toThrow('leaves a transaction open');
    const setting = { name: '0001_set', up: "-- fw-gen: no transaction\nset lock_timeout = '9s'" };
    const next = {
      name: '0002_next',
      up: "create table seen as select current_setting('lock_timeout') as timeout",
    };
    await migrate(registry, { migrations: [setting, next] });
    expect(await rowsOf(registry, 'select * from seen')).toEqual([['30s']]);
  });

  it.each(['-- fw-gen: no transaction\n', ''])(
    'sets the search path, as a dump does, for itself only (%j)',
    async (header) => {
      const registry = await harness.makeShards();
      const dump = `${header}create schema extra; set search_path = extra; create table things (id int4)`;
      const migrations = [
        { name: '0001_dump', up: dump },
        { name: '0002_next', up: 'create table notes (id int4)' },
      ];
      await migrate(registry, { migrations });
      const tables = "select to_regclass('extra.things')::text, to_regclass('public.notes')::text";
      expect(await rowsOf(registry, tables)).toEqual([['extra.things', 'notes']]);
    },
  );
});

describeOn('pglite', 'The directive of a migration', (harness) => {
  it('counts only above the first statement, and an unknown one is refused', () => {
    const runs = (text: string) => runsInTransaction({ name: '0001_x', up: text });
    expect(runs('select 1')).toBe(true);
    expect(runs('\r\n-- Why\r\n\r\n  --fw-gen:no transaction  \r\nselect 1')).toBe(false);
    expect(runs('select 1;\n-- fw-gen: no transaction\nselect 2')).toBe(true);
    expect(() => runs('-- fw-gen: no-transaction\nselect 1')).toThrow(ValidationError);
    expect(() => runs('-- fw-gen: no-transaction\nselect 1')).toThrow(
      'has the unknown directive "fw-gen: no-transaction"',
    );
  });

  it('needs a session, which a pooler in transaction mode does not have', async () => {
    const registry = await harness.makeShards();
    const shard = registry.defaultShard;
    const direct = registry.database(shard);
    const pooled = new Proxy(direct, {
      get: (target, name) => {
        if (name === 'sessionState') return false;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const alone = { name: '0001_alone', up: '-- fw-gen: no transaction\nselect 1' };
    await expect(migrateShard(pooled, registry.memberConfig(shard), { migrations: [alone] })).rejects.toThrow(
      '0001_alone failed on shard (0, 0): it runs outside of a transaction, which needs a direct',
    );
  });
});
