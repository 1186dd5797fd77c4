import { describe, expect, it } from 'vitest';
import { describeOnEachAdapter } from '../../test/databases/vitest.js';
import { PackedArray } from './packed-array.js';
import type { Place, ShardDatabase } from './shard-database.js';
import { failureOf, statement } from './test-support/statements.js';

const ID = '018f0a1b-2c3d-7e4f-8a5b-6c7d8e9f0123';
/** Near both epochs, at both ends of the range, and so far from 2000 that microseconds exceed 53 bits. */
const INSTANTS = [
  ...['1970-01-01T00:00:00.000Z', '1999-12-31T23:59:59.999Z', '2000-01-01T00:00:00.000Z'],
  ...['2000-01-01T01:11:34.967Z', '2000-01-01T01:11:34.968Z', '2026-11-22T05:06:07.089Z'],
  ...['0001-01-01T00:00:00.000Z', '1582-10-15T12:00:00.001Z', '9999-12-31T23:59:59.999Z'],
].map((text) => new Date(text));

describeOnEachAdapter('A shard database', (harness) => {
  async function database(options: Parameters<typeof harness.makeShards>[0] = {}): Promise<ShardDatabase> {
    const registry = await harness.makeShards({ migrated: false, ...options });
    return registry.database(registry.defaultShard);
  }

  describe('values', () => {
    it('are the same JavaScript values on every adapter', async () => {
      const { columns, rows, command, rowCount } = await (await database()).query(
        statement(`select true as yes, 1::int2, 2::int4, 3::oid, 1.5::float4, 'NaN'::float8,
          9007199254740993::int8 as big, 10.2500::numeric, '{"a": [1]}'::jsonb, '"x"'::json,
          '2024-02-03 04:05:06.789123+02'::timestamptz, '018f0000-0000-7000-8000-000000000000'::uuid,
          'Zoë'::text, null::int4, array[1, null, 3], array[true, false], array['a,"b', null],
          array['2024-01-01Z'::timestamptz], '2024-02-03'::date, 'x'::char(3)`),
      );
      expect(rows).toEqual([
        [
          ...[true, 1, 2, 3, 1.5, Number.NaN, '9007199254740993', '10.2500', { a: [1] }, 'x'],
          ...[new Date('2024-02-03T02:05:06.789Z'), '018f0000-0000-7000-8000-000000000000', 'Zoë', null],
          ...[
            [1, null, 3],
            [true, false],
            ['a,"b', null],
            [new Date('2024-01-01T00:00:00Z')],
            '2024-02-03',
            'x  ',
          ],
        ],
      ]);
      expect(columns.slice(0, 2)).toEqual(['yes', 'int2']);
      expect({ command, rowCount }).toEqual({ command: 'SELECT', rowCount: 1 });
    });

    it('are sent as text, numbers, booleans and null', async () => {
      const { rows } = await (await database()).query(
        statement('select $1::text, $2::int4, $3::boolean, $4::text, $5::int8', [
          "'; drop",
          7,
          false,
          null,
          8n,
        ]),
      );
      expect(rows).toEqual([["'; drop", 7, false, null, '8']]);
    });

    it.each([
      ['UUIDs', 'uuid[]', PackedArray.ofUuids([ID, ID.toUpperCase()]), 2],
      ['no UUIDs', 'uuid[]', PackedArray.ofUuids([]), 0],
      ['instants', 'timestamptz[]', PackedArray.ofInstants(INSTANTS), INSTANTS.length],
    ])('go in as packed arrays of %s, which are what their texts are', async (_, type, packed, count) => {
      const { rows } = await (await database()).query(
        statement(`select $1::${type} = $2::${type}, cardinality($1::${type})`, [packed, String(packed)]),
      );
      expect(rows).toEqual([[true, count]]);
    });

    it('of other types are refused before the statement is sent', async () => {
      const db = await database();
      await expect(db.query(statement('select $1', [Symbol('none')]))).rejects.toThrow(TypeError);
      await expect(db.query(statement('select $1', [undefined]))).rejects.toThrow(TypeError);
      expect((await db.query(statement('select 1'))).rows).toEqual([[1]]);
    });

    it('command and row count come from the command tag', async () => {
      const db = await database();
      const done = async (text: string) => {
        const { command, rowCount } = await db.query(statement(text));
        return [command, rowCount];
      };
      expect(await done('create table t (id int4)')).toEqual(['CREATE', 0]);
      expect(await done('insert into t values (1), (2)')).toEqual(['INSERT', 2]);
      expect(await done('update t set id = 3 where id = 9')).toEqual(['UPDATE', 0]);
      expect(await done('with x as (delete from t returning id) select id from x')).toEqual(['SELECT', 2]);
      expect(await done('')).toEqual(['', 0]);
    });
  });

  describe('named statements', () => {
    const byId = { name: 'by_id', text: 'select * from t where id = $1', values: [1] };

    it('are parsed once and return the same columns each time', async () => {
      const db = await database({ dataSource: { maximumPoolSize: 1 } });
      await db.query(statement('create table t (id int4 primary key, v text)'));
      await db.query(statement(`insert into t values (1, 'one')`));
      for (const _ of [1, 2, 3]) {
        expect(await db.query(byId)).toMatchObject({ columns: ['id', 'v'], rows: [[1, 'one']] });
      }
      const prepared = await db.query(
        statement(`select count(*) from pg_prepared_statements where name = 'by_id'`),
      );
      expect(prepared.rows).toEqual([['1']]);
    });

    it('can be sent again after they failed the first time', async () => {
      const db = await database({ dataSource: { maximumPoolSize: 1 } });
      await db.query(statement('create table t (id int4 primary key, v text)'));
      const insert = { name: 'insert', text: 'insert into t (id) values ($1) returning id', values: [1] };
      await db.query(statement('insert into t values (1)'));
      expect((await failureOf(db.query(insert))).sqlState).toBe('23505');
      expect((await db.query({ ...insert, values: [2] })).rows).toEqual([[2]]);
      expect((await db.query({ ...insert, values: [3] })).columns).toEqual(['id']);
    });

    it('survive a change of the table that they read', async () => {
      const db = await database({ dataSource: { maximumPoolSize: 1 } });
      await db.query(statement('create table t (id int4 primary key)'));
      await db.query(statement('insert into t values (1)'));
      await db.query(byId);
      await db.query(statement('alter table t add column v text'));
      expect(await db.query(byId)).toMatchObject({ columns: ['id', 'v'], rows: [[1, null]] });
      expect(await db.query(byId)).toMatchObject({ columns: ['id', 'v'], rows: [[1, null]] });
    });

    it('with one name and two texts are refused', async () => {
      const db = await database({ dataSource: { maximumPoolSize: 1 } });
      await db.query({ name: 'n', text: 'select 1', values: [] });
      await expect(db.query({ name: 'n', text: 'select 2', values: [] })).rejects.toThrow('another text');
    });
  });

  describe('failures', () => {
    it('of the statement are answered, with the server’s message', async () => {
      const db = await database();
      await db.query(statement('create table t (id int4 constraint t_id primary key)'));
      await db.query(statement('insert into t values (1)'));
      const failure = await failureOf(db.query(statement('insert into t values (1)')));
      expect(failure).toMatchObject({ phase: 'answered', sqlState: '23505', table: 't', constraint: 't_id' });
      expect((await db.query(statement('select count(*) from t'))).rows).toEqual([['1']]);
    });

    it('two statements in one call are refused', async () => {
      const db = await database();
      await db.query(statement('create table t (id int4)'));
      const failure = await failureOf(
        db.query(statement('insert into t values (1); insert into t values (2)')),
      );
      expect(failure.sqlState).toBe('42601');
      expect((await db.query(statement('select count(*) from t'))).rows).toEqual([['0']]);
    });

    it('a single BEGIN leaves no open transaction', async () => {
      const db = await database({ dataSource: { maximumPoolSize: 1 } });
      await expect(db.query(statement('begin'))).rejects.toThrow('must not open a transaction');
      await db.query(statement('create table t (id int4)'));
      await expect(db.query(statement('begin'))).rejects.toThrow('must not open a transaction');
      expect((await db.query(statement('select count(*) from t'))).rows).toEqual([['0']]);
    });

    it('COPY from the client is refused and the connection stays usable', async () => {
      const db = await database({ dataSource: { maximumPoolSize: 1 } });
      await db.query(statement('create table t (id int4)'));
      const inScript = async (text: string): Promise<void> => {
        const session = await db.acquire();
        await session.script(text).finally(() => session.release());
      };
      for (const copy of [
        'copy t from stdin',
        '/* all */ COPY t (id)\nFROM STDIN',
        'copy t from stdin csv',
      ]) {
        expect((await failureOf(db.query(statement(copy)))).phase).toBe('answered');
        expect((await failureOf(inScript(`select 1; ${copy}; select 2`))).phase).toBe('answered');
        expect((await db.query(statement('select count(*) from t'))).rows).toEqual([['0']]);
      }
    });
  });

  describe('sessions', () => {
    it('wait their turn, and give up at their deadline', async () => {
      const db = await database({ dataSource: { maximumPoolSize: 1 } });
      const session = await db.acquire();
      expect(db.stats()).toMatchObject({ open: 1, idle: 0, waiting: 0 });
      const late = await failureOf(db.query(statement('select 1'), { timeoutMs: 60 }));
      expect(late).toMatchObject({ phase: 'not-sent', reason: 'pool-exhausted' });
      const waiting = db.query(statement('select 2'));
      expect(db.stats().waiting).toBe(1);
      session.release();
      expect((await waiting).rows).toEqual([[2]]);
      expect(db.stats()).toMatchObject({ open: 1, idle: 1, waiting: 0 });
    });

    it('stop waiting after the caller has left its place, which exists until the statement is sent', async () => {
      const db = await database({ dataSource: { maximumPoolSize: 1 } });
      const place: Place = {};
      const session = await db.acquire();
      const left = failureOf(db.query(statement('select 1'), { place }));
      place.leave?.();
      expect(await left).toMatchObject({ phase: 'not-sent', reason: 'pool-exhausted' });
      expect([db.stats().waiting, place.leave]).toEqual([0, undefined]);
      const sent = db.query(statement('select 2'), { place });
      expect(place.leave).toBeDefined();
      session.release();
      expect(place.leave).toBeUndefined();
      expect((await sent).rows).toEqual([[2]]);
      const atOnce = db.query(statement('select 3'), { place });
      expect(place.leave).toBeUndefined();
      await atOnce;
    });

    it('are served in the order of requests', async () => {
      const db = await database({ dataSource: { maximumPoolSize: 1 } });
      const order: number[] = [];
      const ask = async (n: number) => {
        await db.query(statement('select 1'));
        order.push(n);
      };
      await Promise.all([1, 2, 3, 4, 5].map(ask));
      expect(order).toEqual([1, 2, 3, 4, 5]);
    });

    it('run concurrent calls one after the other', async () => {
      const db = await database();
      const session = await db.acquire();
      const results = await Promise.all(
        [1, 2, 3].map((n) => session.query(statement('select $1::int4', [n]))),
      );
      expect(results.map(({ rows }) => rows[0])).toEqual([[1], [2], [3]]);
      session.release();
      expect(await failureOf(session.query(statement('select 1')))).toMatchObject({
        phase: 'not-sent',
        reason: 'closed',
      });
    });

    it('released with an open transaction do not pass it on', async () => {
      const db = await database({ dataSource: { maximumPoolSize: 1 } });
      await db.query(statement('create table t (id int4)'));
      const session = await db.acquire();
      await session.query(statement('begin'));
      await session.query(statement('insert into t values (1)'));
      session.release();
      expect((await db.query(statement('select count(*) from t'))).rows).toEqual([['0']]);
    });

    it('that are destroyed lose their settings and prepared statements', async () => {
      const db = await database({ dataSource: { maximumPoolSize: 1 } });
      const session = await db.acquire();
      await session.script(`set work_mem = '77MB'; set TimeZone = 'Asia/Tokyo'`);
      await session.query({ name: 'one', text: 'select 1', values: [] });
      session.destroy();
      const settings = `select current_setting('work_mem') <> '77MB', current_setting('TimeZone'),
        (select count(*) from pg_prepared_statements)`;
      expect((await db.query(statement(settings))).rows).toEqual([[true, 'UTC', '0']]);
      expect((await db.query({ name: 'one', text: 'select 1', values: [] })).rows).toEqual([[1]]);
    });

    it('run scripts of several statements, all or nothing', async () => {
      const db = await database();
      const session = await db.acquire();
      await session.script(`create table t (id int4); insert into t values (1); insert into t values (2)`);
      expect((await failureOf(session.script('insert into t values (3); select 1/0'))).sqlState).toBe(
        '22012',
      );
      expect((await session.query(statement('select count(*) from t'))).rows).toEqual([['2']]);
      session.release();
    });
  });
});
