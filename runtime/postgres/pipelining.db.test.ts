import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { describeOn } from '../../test/databases/vitest.js';
import type { CallOptions, Rows, ShardDatabase, Statement } from '../sharding/shard-database.js';
import { failureOf, statement } from '../sharding/test-support/statements.js';
import { TestDatabases } from './test-support/test-databases.js';

/** Returns the backend's pid after `seconds`. */
const sleep = (seconds: number): Statement => ({
  name: 'sleep',
  text: 'select pg_backend_pid(), $1::float8 from pg_sleep($1)',
  values: [seconds],
});
const divide = (by: number): Statement => ({ name: 'divide', text: 'select 6 / $1::int4', values: [by] });

/** Only some statements are timed, and a pause of a busy machine makes a timing useless. */
const UNTIL_TIMED = { timeout: 25_000, interval: 0 };

/** Calls with the same pipeline. */
class Pipeline {
  readonly #database: ShardDatabase;

  constructor(database: ShardDatabase) {
    this.#database = database;
  }

  send(statement: Statement, options: CallOptions = {}): Promise<Rows> {
    return this.#database.query(statement, { ...options, pipeline: this });
  }

  /** Prepares statements on one connection. */
  async prepare(...statements: readonly Statement[]): Promise<void> {
    for (const prepared of statements) await this.send(prepared);
  }
}

describeOn('postgresql', 'A pipeline', (harness) => {
  const databases = new TestDatabases(harness);
  afterEach(() => databases.end());

  /** A pipeline on which `sleep` is prepared. */
  async function pipelineOf(database: ShardDatabase) {
    const pipeline = new Pipeline(database);
    await pipeline.prepare(sleep(0));
    return { database, pipeline };
  }
  const opened = async (limits: Parameters<typeof databases.source>[0] = {}) =>
    pipelineOf(databases.open(await databases.source(limits)));
  const proxied = async () => {
    const [database, proxy] = await databases.proxied();
    return { ...(await pipelineOf(database)), proxy };
  };
  const firstCell = ({ rows }: Rows): unknown => rows[0]?.[0];

  it('sends statements behind the current one, on its connection, and answers each', async () => {
    const { database, pipeline } = await opened();
    const ended: number[] = [];
    const calls = [0.1, 0.01].map(async (seconds) => {
      const rows = await pipeline.send(sleep(seconds));
      ended.push(seconds);
      return rows;
    });
    expect(database.stats()).toMatchObject({ open: 1, idle: 0, waiting: 0 });
    const [first, second] = await Promise.all(calls);
    expect(ended).toEqual([0.1, 0.01]);
    expect([first?.rows[0]?.[1], second?.rows[0]?.[1]]).toEqual([0.1, 0.01]);
    expect(first && firstCell(first)).toBe(second && firstCell(second));
    expect(database.stats()).toMatchObject({ open: 1, idle: 1 });
  });

  it('has sent the second one before the first one is answered', async () => {
    const { proxy, pipeline } = await proxied();
    await pipeline.prepare(statement('create table done (id int4)'));
    const insert = { name: 'insert', text: 'insert into done values ($1)', values: [1] };
    await pipeline.prepare(insert);
    const lost = [sleep(1), insert].map((each) => failureOf(pipeline.send(each)));
    await delay(50);
    // From here on, no byte reaches the server.
    proxy.stall();
    const direct = databases.open(databases.lastSource);
    const count = statement('select count(*) from done');
    await expect.poll(async () => firstCell(await direct.query(count)), { timeout: 10_000 }).toBe('2');
    proxy.cut();
    expect(await Promise.all(lost)).toMatchObject([{ phase: 'in-flight' }, { phase: 'in-flight' }]);
  });

  it('continues while there are more statements, and releases the connection after the last one', async () => {
    const { database, pipeline } = await opened({ maximumPoolSize: 1 });
    let left = 100;
    const loop = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        await pipeline.send(sleep(0));
      }
    };
    await Promise.all([loop(), loop()]);
    const both = [pipeline.send(sleep(0.05)), pipeline.send(sleep(0.05))];
    const other = database.query(statement('select 1'));
    expect(database.stats()).toMatchObject({ open: 1, idle: 0, waiting: 1 });
    await Promise.all(both);
    expect((await other).rows).toEqual([[1]]);
    expect(database.stats()).toMatchObject({ open: 1, idle: 1, waiting: 0 });
  });

  it.each([
    ['first', [0, 2]],
    ['second', [2, 0]],
    ['other, and so on', [0, 0]],
  ])('answers the %s with an error, and is not disturbed by it', async (_, divisors) => {
    const database = databases.open(await databases.source({ maximumPoolSize: 1 }));
    const pipeline = new Pipeline(database);
    await pipeline.prepare(divide(1));
    const calls = divisors.map((by) => {
      const call = pipeline.send(divide(by));
      return by === 0 ? failureOf(call) : call;
    });
    for (const [index, by] of divisors.entries()) {
      const expected = by === 0 ? { phase: 'answered', sqlState: '22012' } : { rows: [[3]] };
      expect(await calls[index]).toMatchObject(expected);
    }
    expect((await pipeline.send(divide(3))).rows).toEqual([[2]]);
    expect(database.stats()).toMatchObject({ open: 1, idle: 1 });
  });

  it('leaves both in doubt if the connection is lost, or the session is ended', async () => {
    const { database, proxy, pipeline } = await proxied();
    const cut = [5, 0].map((seconds) => failureOf(pipeline.send(sleep(seconds))));
    setTimeout(() => proxy.cut(), 50);
    for (const failure of await Promise.all(cut)) expect(failure).toMatchObject({ phase: 'in-flight' });
    expect(database.stats()).toMatchObject({ open: 0, waiting: 0 });

    const terminate = {
      name: 'terminate',
      text: 'select pg_terminate_backend(pg_backend_pid()) where $1',
      values: [false],
    };
    await pipeline.prepare(terminate, sleep(0));
    const ended = [{ ...terminate, values: [true] }, sleep(0)];
    const failures = await Promise.all(ended.map((each) => failureOf(pipeline.send(each))));
    expect(failures).toMatchObject([{ phase: 'in-flight', sqlState: '57P01' }, { phase: 'in-flight' }]);
    expect((await database.query(statement('select 1'))).rows).toEqual([[1]]);
  });

  it('is given up at the earlier of two deadlines', async () => {
    const { proxy, pipeline } = await proxied();
    proxy.stall();
    const startedAt = performance.now();
    const calls = [20_000, 100].map((timeoutMs) => failureOf(pipeline.send(sleep(0), { timeoutMs })));
    const failures = await Promise.all(calls);
    for (const failure of failures) expect(failure).toMatchObject({ phase: 'in-flight', reason: 'deadline' });
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('sends nothing behind a slow statement, one with a follower, or one of another caller', async () => {
    const { database, pipeline } = await opened();
    const long = pipeline.send(sleep(2));
    await delay(100);
    const others = [pipeline.send(sleep(1)), database.query(sleep(1))];
    const pids = [long, ...others].map(async (call) => firstCell(await call));
    expect(new Set(await Promise.all(pids)).size).toBe(3);

    await pipeline.prepare(sleep(0));
    const three = [0.5, 0.5, 0].map(async (seconds) => firstCell(await pipeline.send(sleep(seconds))));
    const [first, second, third] = await Promise.all(three);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  it('sends nothing on another caller’s connection, and leaves it to waiting callers', async () => {
    const { database, pipeline } = await opened({ maximumPoolSize: 2 });
    const read = database.query(sleep(1));
    const write = pipeline.send(sleep(1));
    expect(firstCell(await write)).not.toBe(firstCell(await read));

    const session = await database.acquire();
    let ended = 0;
    const loop = async (): Promise<void> => {
      for (;;) {
        await pipeline.send(sleep(0.02));
        ended += 1;
      }
    };
    const loops = [loop(), loop()];
    await delay(50);
    for (let count = 0; count < 5; count += 1) {
      const endedBefore = ended;
      await database.query(sleep(0));
      expect(ended - endedBefore).toBeLessThanOrEqual(2);
    }
    const closing = database.close(5_000);
    const refused = loops.map((each) => failureOf(each));
    session.release();
    for (const failure of await Promise.all(refused))
      expect(failure).toMatchObject({ phase: 'not-sent', reason: 'closed' });
    await closing;
    expect(database.stats().open).toBe(0);
  });

  it('discards the connection if it is lost after a read-only server has refused the first one', async () => {
    const [database, proxy] = await databases.proxied({ maximumPoolSize: 1 });
    const pipeline = new Pipeline(database);
    await database.query(statement('create table written (id int4)'));
    const write = {
      name: 'write',
      text: `with ro as materialized (select set_config('transaction_read_only', $1, true)) select * from ro, nextval('counter')`,
      values: ['off'],
    };
    await database.query(statement('create sequence counter'));
    await pipeline.prepare(write, sleep(0));
    const refused = failureOf(pipeline.send({ ...write, values: ['on'] }));
    const behind = failureOf(pipeline.send(sleep(5)));
    expect(await refused).toMatchObject({ phase: 'answered', sqlState: '25006' });
    proxy.cut();
    expect(await behind).toMatchObject({ phase: 'in-flight', sqlState: undefined });
    expect(database.stats()).toMatchObject({ open: 0, waiting: 0 });
  });

  it('sends only prepared statements behind another one', async () => {
    const { pipeline } = await opened();
    const text = 'select pg_backend_pid()';
    for (const unprepared of [statement(text), { name: 'pid', text, values: [] }]) {
      const [first, second] = await Promise.all([pipeline.send(sleep(1)), pipeline.send(unprepared)]);
      expect(firstCell(second)).not.toBe(firstCell(first));
      await pipeline.prepare(sleep(0));
    }
  });

  it('refuses an invalid value, and a second text for one name, without affecting others', async () => {
    const { database, pipeline } = await opened();
    const wrong = [
      { ...sleep(0), values: [Symbol('none')] },
      { ...sleep(0), text: 'select 1' },
    ];
    const first = pipeline.send(sleep(0.05));
    for (const each of wrong) await expect(pipeline.send(each)).rejects.toThrow();
    expect((await first).rows).toHaveLength(1);
    await expect.poll(() => database.stats()).toMatchObject({ waiting: 0 });
    expect((await pipeline.send(sleep(0))).rows).toHaveLength(1);
  });

  it('uses more than one connection while commits take most of the time', async () => {
    const database = databases.open(await databases.source());
    const pipeline = new Pipeline(database);
    await database.query(statement('create table rows_that_commit_slowly (id int4)'));
    for (const text of [
      `create function dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(0.02); return null; end'`,
      'create constraint trigger t after insert on rows_that_commit_slowly deferrable initially deferred for each row execute function dawdle()',
    ])
      await database.query(statement(text));
    const insert = {
      name: 'insert',
      text: 'insert into rows_that_commit_slowly values (1) returning pg_backend_pid()',
      values: [],
    };
    const pidsOfTwo = async (each: Statement): Promise<number> => {
      const both = await Promise.all([pipeline.send(each), pipeline.send(each)]);
      return new Set(both.map(firstCell)).size;
    };
    const quick = sleep(0.005);
    await pipeline.prepare(quick);
    expect(await pidsOfTwo(quick)).toBe(1);
    const afterMany = (each: Statement) => async (): Promise<number> => {
      for (let count = 0; count < 20; count += 1) await pipeline.send(each);
      return pidsOfTwo(each);
    };
    await expect.poll(afterMany(insert), UNTIL_TIMED).toBe(2);
    await expect.poll(afterMany(quick), UNTIL_TIMED).toBe(1);
  });

  it('survives a change of the table, and does not use the connection again', async () => {
    const database = databases.open(await databases.source({ maximumPoolSize: 1 }));
    const pipeline = new Pipeline(database);
    const all = { name: 'all', text: 'select *, pg_backend_pid() as pid from shapes', values: [] };
    await database.query(statement('create table shapes as select 1 as a'));
    await pipeline.prepare(all);
    const before = firstCell(await pipeline.send(sleep(0)));
    await database.query(statement('alter table shapes add b int4'));
    const [first, second] = await Promise.all([pipeline.send(all), pipeline.send(all)]);
    expect(first.rows).toEqual([[1, null, before]]);
    expect(second.rows).toEqual([[1, null, before]]);
    expect(firstCell(await pipeline.send(sleep(0)))).not.toBe(before);
  });

  it('refuses a single statement that opens a transaction, and its follower is in doubt', async () => {
    const { database, pipeline } = await opened();
    const begin = pipeline.send(statement('begin'));
    const behind = failureOf(pipeline.send(sleep(0)));
    await expect(begin).rejects.toThrow(TypeError);
    expect(await behind).toMatchObject({ phase: 'in-flight' });
    expect((await pipeline.send(sleep(0))).rows).toHaveLength(1);
    expect(database.stats()).toMatchObject({ open: 1, idle: 1 });
  });

  it('is not used for a call that was cancelled before it was sent', async () => {
    const { pipeline } = await opened();
    const first = pipeline.send(sleep(0.05));
    const aborted = failureOf(pipeline.send(sleep(0), { signal: AbortSignal.abort() }));
    expect(await aborted).toMatchObject({ phase: 'not-sent', reason: 'aborted' });
    expect((await first).rows).toHaveLength(1);
  });
});
